// Square root in double precision.
// run: compile --gpu-name sm_80
// show: sqrt
entry @k(%p: tile<ptr<f64>>, %x: tile<f64>, %y: tile<f64>, %z: tile<f64>) {
  %r = sqrt %x rounding<nearest_even> : tile<f64>
  %t = store_ptr_tko weak %p, %r : tile<ptr<f64>>, tile<f64> -> token
  return
}
