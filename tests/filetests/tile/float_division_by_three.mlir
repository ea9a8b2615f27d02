// Division by 3.0 stays: its reciprocal is not exact.
// run: compile --emit nv_tileaa
entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %y: tile<f32>) {
  %q = constant <f32: 3.0> : tile<f32>
  %r = divf %x, %q rounding<nearest_even> : tile<f32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<f32>>, tile<f32> -> token
  return
}
