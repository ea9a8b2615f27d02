// Two bitwise operations are one lop3.
// run: compile --gpu-name sm_80
// show: lop3 | xor.b
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>, %z: tile<i32>) {
  %m = andi %x, %y : tile<i32>
  %r = xori %m, %z : tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
