// A product and a sum of floats stay two roundings.
// run: compile --gpu-name sm_80
// show: mul. | add. | fma
entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %y: tile<f32>, %z: tile<f32>) {
  %m = mulf %x, %y rounding<nearest_even> : tile<f32>
  %r = addf %m, %z rounding<nearest_even> : tile<f32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<f32>>, tile<f32> -> token
  return
}
