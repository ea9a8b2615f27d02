// Accesses through pointers stay gathers and scatters.
// run: compile --emit nv_tileaa
// show: load | store
entry @k(%a: tile<ptr<f32>>) {
  %n = iota : tile<128xi32>
  %q = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
  %b = broadcast %q : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %at = offset %b, %n : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %x, %l = load_ptr_tko weak %at : tile<128xptr<f32>> -> tile<128xf32>, token
  %s = store_ptr_tko weak %at, %x token=%l : tile<128xptr<f32>>, tile<128xf32> -> token
  return
}
