// A loop that every way through leaves runs once: what it needs is computed in it, not in front of it.
// run: compile --emit nvvm --gpu-name sm_80
// show: nvvm.loop | nvvm.mul" | nvvm.break | nvvm.st"
entry @k(%p: tile<ptr<i32>>, %n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  loop {
    %none = cmpi equal %n, %zero, signed : tile<i32> -> tile<i1>
    if %none {
      break
    }
    %cube = muli %n, %n : tile<i32>
    %s = store_ptr_tko weak %p, %cube : tile<ptr<i32>>, tile<i32> -> token
    break
  }
  return
}
