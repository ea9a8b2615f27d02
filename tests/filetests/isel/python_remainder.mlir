// A remainder that is rounded down, as Python's `%` is written: of a power of two the low bits; of another number one
// comparison.
// run: compile --gpu-name sm_80
// show: and.b32 | rem | setp | selp
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %n: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %c = constant <i32: 64> : tile<i32>
  %r = remi %x, %c signed : tile<i32>
  %neg = cmpi less_than %r, %zero, signed : tile<i32> -> tile<i1>
  %cneg = cmpi less_than %c, %zero, signed : tile<i32> -> tile<i1>
  %differ = xori %neg, %cneg : tile<i1>
  %some = cmpi not_equal %r, %zero, signed : tile<i32> -> tile<i1>
  %fix = andi %differ, %some : tile<i1>
  %more = addi %r, %c : tile<i32>
  %low = select %fix, %more, %r : tile<i1>, tile<i32>
  %n0 = assume bounded<1, ?>, %n : tile<i32>
  %r1 = remi %low, %n0 signed : tile<i32>
  %r2 = remi %x, %n0 signed : tile<i32>
  %neg2 = cmpi less_than %r2, %zero, signed : tile<i32> -> tile<i1>
  %some2 = cmpi not_equal %r2, %zero, signed : tile<i32> -> tile<i1>
  %fix2 = andi %neg2, %some2 : tile<i1>
  %more2 = addi %r2, %n0 : tile<i32>
  %down = select %fix2, %more2, %r2 : tile<i1>, tile<i32>
  %sum = addi %r1, %down : tile<i32>
  %t = store_ptr_tko weak %p, %sum : tile<ptr<i32>>, tile<i32> -> token
  return
}
