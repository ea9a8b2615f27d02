// A power of an integer, such as the corrections of an optimiser's moments, is computed in f32: in f64 it would take longer
// than the rest of such a kernel where an f64 instruction takes 32 or 64 times an f32 one's time.
// run: compile --gpu-name sm_89
// show: f64 | lg2 | ex2 | rcp | cvt.rni | cvt.rn
entry @k(%p: tile<ptr<f32>>, %x: tile<f32>, %n: tile<i32>) {
  %r = fpowi %x, %n : tile<f32>, tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<f32>>, tile<f32> -> token
  return
}
