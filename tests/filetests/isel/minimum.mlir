// Comparison and selection of the smaller are min.
// run: compile --gpu-name sm_80
// show: min.s | setp.lt | selp
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>, %z: tile<i32>) {
  %b = cmpi less_than %x, %y, signed : tile<i32> -> tile<i1>
  %r = select %b, %x, %y : tile<i1>, tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
