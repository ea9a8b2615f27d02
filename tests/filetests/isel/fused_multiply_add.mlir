// fma is fma.
// run: compile --gpu-name sm_80
// show: fma
entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %y: tile<f32>, %z: tile<f32>) {
  %r = fma %x, %y, %z rounding<nearest_even> : tile<f32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<f32>>, tile<f32> -> token
  return
}
