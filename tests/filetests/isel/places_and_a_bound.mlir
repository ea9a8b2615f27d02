// Places beside a bound: a number for each place, and one register that says how far the first is from the bound.
// run: compile --gpu-name sm_80
// show: ld.global | setp | sub.s32 | min | max | add.s32
entry @k(%a: tile<ptr<bf16>>, %n: tile<i32>) {
  %num = iota : tile<1024xi32>
  %wide = exti %num signed : tile<1024xi32> -> tile<1024xi64>
  %q = reshape %a : tile<ptr<bf16>> -> tile<1xptr<bf16>>
  %b = broadcast %q : tile<1xptr<bf16>> -> tile<1024xptr<bf16>>
  %at = offset %b, %wide : tile<1024xptr<bf16>>, tile<1024xi64> -> tile<1024xptr<bf16>>
  %n0 = assume bounded<0, ?>, %n : tile<i32>
  %n64 = exti %n0 signed : tile<i32> -> tile<i64>
  %n1 = reshape %n64 : tile<i64> -> tile<1xi64>
  %nb = broadcast %n1 : tile<1xi64> -> tile<1024xi64>
  %m = cmpi less_than %wide, %nb, unsigned : tile<1024xi64> -> tile<1024xi1>
  %zero = constant <bf16: 0.0> : tile<1024xbf16>
  %x, %l = load_ptr_tko weak %at, %m, %zero : tile<1024xptr<bf16>>, tile<1024xi1>, tile<1024xbf16> -> tile<1024xbf16>, token
  %s = store_ptr_tko weak %at, %x token=%l : tile<1024xptr<bf16>>, tile<1024xbf16> -> token
  return
}
