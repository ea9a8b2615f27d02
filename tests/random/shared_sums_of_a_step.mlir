// What a loop adds to the pointers that it carries is a long chain of sums, each of which is used twice: 2^40 ways lead to
// its beginning.
// grid: 1,1,1
// arg: buffer f32 64 uniform -4 4 seed 1
// arg: i32 0
// arg: buffer f32 64 zero seed 2
entry @main(%a: tile<ptr<f32>>, %n: tile<i32>, %c: tile<ptr<f32>>) {
  %i = iota : tile<64xi32>
  %a1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
  %a2 = broadcast %a1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %first = offset %a2, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %c1 = reshape %c : tile<ptr<f32>> -> tile<1xptr<f32>>
  %c2 = broadcast %c1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
  %to = offset %c2, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
  %low = constant <i32: 0> : tile<i32>
  %high = constant <i32: 3> : tile<i32>
  %by = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64xf32>
  %sum, %end = for %k in (%low to %high, step %by) : tile<i32> iter_values(%acc = %zero, %p = %first) -> (tile<64xf32>, tile<64xptr<f32>>) {
    %s0 = addi %n, %n : tile<i32>
    %s1 = addi %s0, %s0 : tile<i32>
    %s2 = addi %s1, %s1 : tile<i32>
    %s3 = addi %s2, %s2 : tile<i32>
    %s4 = addi %s3, %s3 : tile<i32>
    %s5 = addi %s4, %s4 : tile<i32>
    %s6 = addi %s5, %s5 : tile<i32>
    %s7 = addi %s6, %s6 : tile<i32>
    %s8 = addi %s7, %s7 : tile<i32>
    %s9 = addi %s8, %s8 : tile<i32>
    %s10 = addi %s9, %s9 : tile<i32>
    %s11 = addi %s10, %s10 : tile<i32>
    %s12 = addi %s11, %s11 : tile<i32>
    %s13 = addi %s12, %s12 : tile<i32>
    %s14 = addi %s13, %s13 : tile<i32>
    %s15 = addi %s14, %s14 : tile<i32>
    %s16 = addi %s15, %s15 : tile<i32>
    %s17 = addi %s16, %s16 : tile<i32>
    %s18 = addi %s17, %s17 : tile<i32>
    %s19 = addi %s18, %s18 : tile<i32>
    %s20 = addi %s19, %s19 : tile<i32>
    %s21 = addi %s20, %s20 : tile<i32>
    %s22 = addi %s21, %s21 : tile<i32>
    %s23 = addi %s22, %s22 : tile<i32>
    %s24 = addi %s23, %s23 : tile<i32>
    %s25 = addi %s24, %s24 : tile<i32>
    %s26 = addi %s25, %s25 : tile<i32>
    %s27 = addi %s26, %s26 : tile<i32>
    %s28 = addi %s27, %s27 : tile<i32>
    %s29 = addi %s28, %s28 : tile<i32>
    %s30 = addi %s29, %s29 : tile<i32>
    %s31 = addi %s30, %s30 : tile<i32>
    %s32 = addi %s31, %s31 : tile<i32>
    %s33 = addi %s32, %s32 : tile<i32>
    %s34 = addi %s33, %s33 : tile<i32>
    %s35 = addi %s34, %s34 : tile<i32>
    %s36 = addi %s35, %s35 : tile<i32>
    %s37 = addi %s36, %s36 : tile<i32>
    %s38 = addi %s37, %s37 : tile<i32>
    %s39 = addi %s38, %s38 : tile<i32>
    %d1 = reshape %s39 : tile<i32> -> tile<1xi32>
    %d = broadcast %d1 : tile<1xi32> -> tile<64xi32>
    %x, %t = load_ptr_tko weak %p : tile<64xptr<f32>> -> tile<64xf32>, token
    %next = addf %acc, %x rounding<nearest_even> : tile<64xf32>
    %q = offset %p, %d : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    continue %next, %q : tile<64xf32>, tile<64xptr<f32>>
  }
  %t1 = store_ptr_tko weak %to, %sum : tile<64xptr<f32>>, tile<64xf32> -> token
  return
}
