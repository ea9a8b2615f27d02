// Two sums that begin alike and advance alike are one variable; the third, which advances otherwise, is another.
// run: compile --gpu-name sm_80
// show: add.s32 | L_loop | bra | st.global
entry @k(%out: tile<ptr<i32>>, %n: tile<i32>, %first: tile<i32>) {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %three = constant <i32: 3> : tile<i32>
  %five = constant <i32: 5> : tile<i32>
  %r:3 = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%a = %first, %b = %first, %c = %first) -> (tile<i32>, tile<i32>, tile<i32>) {
    %a1 = addi %a, %three : tile<i32>
    %b1 = addi %b, %three : tile<i32>
    %c1 = addi %c, %five : tile<i32>
    continue %a1, %b1, %c1 : tile<i32>, tile<i32>, tile<i32>
  }
  %p1 = offset %out, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %p2 = offset %out, %five : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %s0 = store_ptr_tko weak %out, %r#0 : tile<ptr<i32>>, tile<i32> -> token
  %s1 = store_ptr_tko weak %p1, %r#1 : tile<ptr<i32>>, tile<i32> -> token
  %s2 = store_ptr_tko weak %p2, %r#2 : tile<ptr<i32>>, tile<i32> -> token
  return
}
