// Unsigned division by 10 stays a div, which ptxas replaces by a multiplication.
// run: compile --gpu-name sm_80
// show: div | mul | shr
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>, %z: tile<i32>) {
  %c10 = constant <i32: 10> : tile<i32>
  %r = divi %x, %c10 unsigned : tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
