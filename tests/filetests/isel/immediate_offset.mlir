// Elements 4096 on: the constant goes into the address of the access.
// run: compile --gpu-name sm_80
// show: ld.global | st.global
entry @k(%a: tile<ptr<f32>>, %n: tile<i32>) {
  %q0 = assume div_by<16>, %a : tile<ptr<f32>>
  %num = iota : tile<128xi32>
  %q = reshape %q0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %b = broadcast %q : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %at = offset %b, %num : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %far = constant <i32: 4096> : tile<128xi32>
  %there = offset %at, %far : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %x, %l = load_ptr_tko weak %at : tile<128xptr<f32>> -> tile<128xf32>, token
  %s = store_ptr_tko weak %there, %x token=%l : tile<128xptr<f32>>, tile<128xf32> -> token
  return
}
