// What a hash chooses by the bits of one number, and what two of three have, is one lop3.
// run: compile --gpu-name sm_80
// show: lop3 | xor.b | and.b | not.b | or.b
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>, %z: tile<i32>) {
  %ones = constant <i32: -1> : tile<i32>
  %not = xori %x, %ones : tile<i32>
  %a = andi %x, %y : tile<i32>
  %b = andi %not, %z : tile<i32>
  %choice = xori %a, %b : tile<i32>
  %c = andi %x, %z : tile<i32>
  %d = andi %y, %z : tile<i32>
  %e = xori %a, %c : tile<i32>
  %majority = xori %e, %d : tile<i32>
  %r = addi %choice, %majority : tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
