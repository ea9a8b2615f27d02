// The elements of a vector are all there or none is, for their number is a multiple of eight: one comparison of a place,
// not the form that suits eight.
// run: compile --gpu-name sm_80
// show: setp | sub.s32 | max | ld.global | st.global
entry @k(%a: tile<ptr<f16>>, %n: tile<i32>) {
  %q0 = assume div_by<16>, %a : tile<ptr<f16>>
  %num = iota : tile<1024xi32>
  %wide = exti %num signed : tile<1024xi32> -> tile<1024xi64>
  %q = reshape %q0 : tile<ptr<f16>> -> tile<1xptr<f16>>
  %b = broadcast %q : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %at = offset %b, %wide : tile<1024xptr<f16>>, tile<1024xi64> -> tile<1024xptr<f16>>
  %n0 = assume bounded<0, ?>, %n : tile<i32>
  %n8 = assume div_by<8>, %n0 : tile<i32>
  %n64 = exti %n8 signed : tile<i32> -> tile<i64>
  %n1 = reshape %n64 : tile<i64> -> tile<1xi64>
  %nb = broadcast %n1 : tile<1xi64> -> tile<1024xi64>
  %m = cmpi less_than %wide, %nb, unsigned : tile<1024xi64> -> tile<1024xi1>
  %zero = constant <f16: 0.0> : tile<1024xf16>
  %x, %l = load_ptr_tko weak %at, %m, %zero : tile<1024xptr<f16>>, tile<1024xi1>, tile<1024xf16> -> tile<1024xf16>, token
  %s = store_ptr_tko weak %at, %x, %m token=%l : tile<1024xptr<f16>>, tile<1024xf16>, tile<1024xi1> -> token
  return
}
