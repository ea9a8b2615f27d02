// A mask is a predicate of the access.
// run: compile --gpu-name sm_80
// show: ld.global | st.global | setp.lt
entry @k(%a: tile<ptr<f32>>, %n: tile<i32>) {
  %q0 = assume div_by<16>, %a : tile<ptr<f32>>
  %num = iota : tile<128xi32>
  %q = reshape %q0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %b = broadcast %q : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %at = offset %b, %num : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %nb = broadcast %n1 : tile<1xi32> -> tile<128xi32>
  %m = cmpi less_than %num, %nb, signed : tile<128xi32> -> tile<128xi1>
  %zero = constant <f32: 0.0> : tile<128xf32>
  %x, %l = load_ptr_tko weak %at, %m, %zero : tile<128xptr<f32>>, tile<128xi1>, tile<128xf32> -> tile<128xf32>, token
  %s = store_ptr_tko weak %at, %x, %m token=%l : tile<128xptr<f32>>, tile<128xf32>, tile<128xi1> -> token
  return
}
