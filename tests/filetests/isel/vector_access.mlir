// 512 f32 in 128 threads, aligned: one access of four elements.
// run: compile --gpu-name sm_80
// show: ld.global | st.global
entry @k(%a: tile<ptr<f32>>, %n: tile<i32>) {
  %q0 = assume div_by<16>, %a : tile<ptr<f32>>
  %num = iota : tile<512xi32>
  %q = reshape %q0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %b = broadcast %q : tile<1xptr<f32>> -> tile<512xptr<f32>>
  %at = offset %b, %num : tile<512xptr<f32>>, tile<512xi32> -> tile<512xptr<f32>>
  %x, %l = load_ptr_tko weak %at : tile<512xptr<f32>> -> tile<512xf32>, token
  %s = store_ptr_tko weak %at, %x token=%l : tile<512xptr<f32>>, tile<512xf32> -> token
  return
}
