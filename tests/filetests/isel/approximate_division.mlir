// Division with approx is one instruction; with full it is div.full; with nearest_even IEEE division.
// run: compile --gpu-name sm_80
// show: div
entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %y: tile<f32>, %z: tile<f32>) {
  %a = divf %x, %y rounding<approx> : tile<f32>
  %b = divf %a, %z rounding<full> : tile<f32>
  %r = divf %b, %y rounding<nearest_even> : tile<f32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<f32>>, tile<f32> -> token
  return
}
