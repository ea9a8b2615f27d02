// x + 0.0 is not x: -0.0 + 0.0 = 0.0.
// run: compile --emit nv_tileaa
entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %y: tile<f32>) {
  %z = constant <f32: 0.0> : tile<f32>
  %r = addf %x, %z rounding<nearest_even> : tile<f32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<f32>>, tile<f32> -> token
  return
}
