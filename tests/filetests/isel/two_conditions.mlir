// Two comparisons stay two: ptxas joins them where that is better, and shares those that are not joined.
// run: compile --gpu-name sm_80
// show: setp.lt | selp | and.pred
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>, %z: tile<i32>) {
  %b = cmpi less_than %x, %y, signed : tile<i32> -> tile<i1>
  %d = cmpi less_than %y, %z, signed : tile<i32> -> tile<i1>
  %e = andi %b, %d : tile<i1>
  %r = select %e, %x, %z : tile<i1>, tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
