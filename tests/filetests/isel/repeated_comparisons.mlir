// Places of two rows and eight columns beside their bounds: two and eight comparisons of 32 bits, not sixteen of 64.
// run: compile --gpu-name sm_80
// show: setp | ld.global.v4 | ld.global.b16
entry @k(%a: tile<ptr<f16>>, %rows: tile<i32>, %columns: tile<i32>) {
  %q0 = assume div_by<16>, %a : tile<ptr<f16>>
  %r = iota : tile<8xi32>
  %r1 = reshape %r : tile<8xi32> -> tile<8x1xi32>
  %r64 = exti %r1 signed : tile<8x1xi32> -> tile<8x1xi64>
  %rb = broadcast %r64 : tile<8x1xi64> -> tile<8x256xi64>
  %c = iota : tile<256xi32>
  %c1 = reshape %c : tile<256xi32> -> tile<1x256xi32>
  %c64 = exti %c1 signed : tile<1x256xi32> -> tile<1x256xi64>
  %cb = broadcast %c64 : tile<1x256xi64> -> tile<8x256xi64>
  %n0 = assume bounded<0, ?>, %rows : tile<i32>
  %n64 = exti %n0 signed : tile<i32> -> tile<i64>
  %n1 = reshape %n64 : tile<i64> -> tile<1x1xi64>
  %nb = broadcast %n1 : tile<1x1xi64> -> tile<8x256xi64>
  %m0 = assume bounded<0, ?>, %columns : tile<i32>
  %m64 = exti %m0 signed : tile<i32> -> tile<i64>
  %m1 = reshape %m64 : tile<i64> -> tile<1x1xi64>
  %mb = broadcast %m1 : tile<1x1xi64> -> tile<8x256xi64>
  %there = cmpi less_than %rb, %nb, unsigned : tile<8x256xi64> -> tile<8x256xi1>
  %here = cmpi less_than %cb, %mb, unsigned : tile<8x256xi64> -> tile<8x256xi1>
  %mask = andi %there, %here : tile<8x256xi1>
  %width = constant <i64: 256> : tile<8x256xi64>
  %row = muli %rb, %width : tile<8x256xi64>
  %place = addi %row, %cb : tile<8x256xi64>
  %q = reshape %q0 : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %b = broadcast %q : tile<1x1xptr<f16>> -> tile<8x256xptr<f16>>
  %at = offset %b, %place : tile<8x256xptr<f16>>, tile<8x256xi64> -> tile<8x256xptr<f16>>
  %zero = constant <f16: 0.0> : tile<8x256xf16>
  %x, %l = load_ptr_tko weak %at, %mask, %zero : tile<8x256xptr<f16>>, tile<8x256xi1>, tile<8x256xf16> -> tile<8x256xf16>, token
  %s = store_ptr_tko weak %at, %x token=%l : tile<8x256xptr<f16>>, tile<8x256xf16> -> token
  return
}
