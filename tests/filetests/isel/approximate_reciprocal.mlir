// 1 / x, approximate and flushed to zero, is a reciprocal, and no product with 1.
// run: compile --gpu-name sm_80
// show: div | rcp | mul
entry @k(%p: tile<ptr<f32>>, %x: tile<f32>) {
  %one = constant <f32: 1.0> : tile<f32>
  %r = divf %one, %x rounding<approx> flush_to_zero : tile<f32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<f32>>, tile<f32> -> token
  return
}
