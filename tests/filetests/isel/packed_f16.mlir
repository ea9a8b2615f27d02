// f16 sums work on two elements at a time.
// run: compile --gpu-name sm_80
// show: ld.global | st.global | add.
entry @k(%a: tile<ptr<f16>>, %n: tile<i32>) {
  %q0 = assume div_by<16>, %a : tile<ptr<f16>>
  %num = iota : tile<1024xi32>
  %q = reshape %q0 : tile<ptr<f16>> -> tile<1xptr<f16>>
  %b = broadcast %q : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %at = offset %b, %num : tile<1024xptr<f16>>, tile<1024xi32> -> tile<1024xptr<f16>>
  %x, %l = load_ptr_tko weak %at : tile<1024xptr<f16>> -> tile<1024xf16>, token
  %y = addf %x, %x rounding<nearest_even> : tile<1024xf16>
  %s = store_ptr_tko weak %at, %y token=%l : tile<1024xptr<f16>>, tile<1024xf16> -> token
  return
}
