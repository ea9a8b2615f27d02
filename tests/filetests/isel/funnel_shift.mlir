// A rotation is one funnel shift.
// run: compile --gpu-name sm_80
// show: shf | shl | shr | or.b | lop3
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>, %z: tile<i32>) {
  %c8 = constant <i32: 8> : tile<i32>
  %c24 = constant <i32: 24> : tile<i32>
  %a = shli %x, %c8 : tile<i32>
  %b = shri %x, %c24 unsigned : tile<i32>
  %r = ori %a, %b : tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
