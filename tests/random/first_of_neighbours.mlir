// Streams whose masks are true for the first few of each thread's neighbours: numbers of 32 and 64 bits below a limit, or equal to
// it, with and without signs, past the largest number, below two limits, of rows and columns, and limits of which it is known
// that they are few. What is left out is 0, by the load or by a selection behind it, or another number.
// grid: 1,1,1
// arg: buffer f32 4096 whole -4 4 seed 0
// arg: buffer f16 4096 whole -4 4 seed 1
// arg: buffer f32 16384 whole 7 7 seed 0
// arg: i32 3001
// arg: i64 2999
// arg: i32 2147482779
// arg: i32 2147482624
// arg: i32 1022
entry @main(%x: tile<ptr<f32>>, %h: tile<ptr<f16>>, %out: tile<ptr<f32>>, %n32: tile<i32>, %n64: tile<i64>, %low0: tile<i32>, %high0: tile<i32>, %m32: tile<i32>) {
  %x16 = assume div_by<16>, %x : tile<ptr<f32>>
  %h16 = assume div_by<16>, %h : tile<ptr<f16>>
  %o16 = assume div_by<16>, %out : tile<ptr<f32>>
  %high = assume div_by<16>, %high0 : tile<i32>
  %none = constant <i32: 0> : tile<i32>
  %low = subi %none, %low0 : tile<i32>
  %few = assume bounded<0, 4096>, %n32 : tile<i32>
  %z32 = constant <i32: 0> : tile<i32>
  %s32 = constant <i32: 1024> : tile<i32>
  %e32 = constant <i32: 4096> : tile<i32>
  %iota32 = iota : tile<1024xi32>
  %z64 = constant <i64: 0> : tile<i64>
  %s64 = constant <i64: 1024> : tile<i64>
  %e64 = constant <i64: 4096> : tile<i64>
  %iota64 = iota : tile<1024xi64>
  %zero_f32 = constant <f32: 0.0> : tile<1024xf32>
  %five_f32 = constant <f32: 5.0> : tile<1024xf32>
  %zero_f16 = constant <f16: 0.0> : tile<1024xf16>
  %five_f16 = constant <f16: 5.0> : tile<1024xf16>
  %sum_a = for %i_a in (%z32 to %e32, step %s32) : tile<i32> iter_values(%acc_a = %zero_f32) -> (tile<1024xf32>) {
  %base_a_1 = reshape %i_a : tile<i32> -> tile<1xi32>
  %base_a = broadcast %base_a_1 : tile<1xi32> -> tile<1024xi32>
  %at_a = addi %base_a, %iota32 : tile<1024xi32>
  %lim_a_1 = reshape %n32 : tile<i32> -> tile<1xi32>
  %lim_a = broadcast %lim_a_1 : tile<1xi32> -> tile<1024xi32>
  %mask_a = cmpi less_than %at_a, %lim_a, signed : tile<1024xi32> -> tile<1024xi1>
  %p_a_1 = reshape %x16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %p_a = broadcast %p_a_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %q_a = offset %p_a, %at_a : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %got_a, %tok_a = load_ptr_tko weak %q_a, %mask_a : tile<1024xptr<f32>>, tile<1024xi1> -> tile<1024xf32>, token
  %sel_a = select %mask_a, %got_a, %zero_f32 : tile<1024xi1>, tile<1024xf32>
  %add_a = addf %acc_a, %sel_a : tile<1024xf32>
  continue %add_a : tile<1024xf32>
  }
  %k_a = constant <i32: 0> : tile<i32>
  %kk_a_1 = reshape %k_a : tile<i32> -> tile<1xi32>
  %kk_a = broadcast %kk_a_1 : tile<1xi32> -> tile<1024xi32>
  %oi_a = addi %kk_a, %iota32 : tile<1024xi32>
  %op_a_1 = reshape %o16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %op_a = broadcast %op_a_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %oq_a = offset %op_a, %oi_a : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %st_a = store_ptr_tko weak %oq_a, %sum_a : tile<1024xptr<f32>>, tile<1024xf32> -> token
  %sum_b = for %i_b in (%z32 to %e32, step %s32) : tile<i32> iter_values(%acc_b = %zero_f32) -> (tile<1024xf32>) {
  %base_b_1 = reshape %i_b : tile<i32> -> tile<1xi32>
  %base_b = broadcast %base_b_1 : tile<1xi32> -> tile<1024xi32>
  %at_b = addi %base_b, %iota32 : tile<1024xi32>
  %lim_b_1 = reshape %n32 : tile<i32> -> tile<1xi32>
  %lim_b = broadcast %lim_b_1 : tile<1xi32> -> tile<1024xi32>
  %mask_b = cmpi less_than_or_equal %at_b, %lim_b, signed : tile<1024xi32> -> tile<1024xi1>
  %p_b_1 = reshape %x16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %p_b = broadcast %p_b_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %q_b = offset %p_b, %at_b : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %got_b, %tok_b = load_ptr_tko weak %q_b, %mask_b, %five_f32 : tile<1024xptr<f32>>, tile<1024xi1>, tile<1024xf32> -> tile<1024xf32>, token
  %add_b = addf %acc_b, %got_b : tile<1024xf32>
  continue %add_b : tile<1024xf32>
  }
  %k_b = constant <i32: 1024> : tile<i32>
  %kk_b_1 = reshape %k_b : tile<i32> -> tile<1xi32>
  %kk_b = broadcast %kk_b_1 : tile<1xi32> -> tile<1024xi32>
  %oi_b = addi %kk_b, %iota32 : tile<1024xi32>
  %op_b_1 = reshape %o16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %op_b = broadcast %op_b_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %oq_b = offset %op_b, %oi_b : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %st_b = store_ptr_tko weak %oq_b, %sum_b : tile<1024xptr<f32>>, tile<1024xf32> -> token
  %sum_c = for %i_c in (%z64 to %e64, step %s64) : tile<i64> iter_values(%acc_c = %zero_f32) -> (tile<1024xf32>) {
  %base_c_1 = reshape %i_c : tile<i64> -> tile<1xi64>
  %base_c = broadcast %base_c_1 : tile<1xi64> -> tile<1024xi64>
  %at_c = addi %base_c, %iota64 : tile<1024xi64>
  %lim_c_1 = reshape %n64 : tile<i64> -> tile<1xi64>
  %lim_c = broadcast %lim_c_1 : tile<1xi64> -> tile<1024xi64>
  %mask_c = cmpi less_than %at_c, %lim_c, unsigned : tile<1024xi64> -> tile<1024xi1>
  %p_c_1 = reshape %x16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %p_c = broadcast %p_c_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %q_c = offset %p_c, %at_c : tile<1024xptr<f32>>, tile<1024xi64> -> tile<1024xptr<f32>>
  %got_c, %tok_c = load_ptr_tko weak %q_c, %mask_c : tile<1024xptr<f32>>, tile<1024xi1> -> tile<1024xf32>, token
  %sel_c = select %mask_c, %got_c, %five_f32 : tile<1024xi1>, tile<1024xf32>
  %add_c = addf %acc_c, %sel_c : tile<1024xf32>
  continue %add_c : tile<1024xf32>
  }
  %k_c = constant <i32: 2048> : tile<i32>
  %kk_c_1 = reshape %k_c : tile<i32> -> tile<1xi32>
  %kk_c = broadcast %kk_c_1 : tile<1xi32> -> tile<1024xi32>
  %oi_c = addi %kk_c, %iota32 : tile<1024xi32>
  %op_c_1 = reshape %o16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %op_c = broadcast %op_c_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %oq_c = offset %op_c, %oi_c : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %st_c = store_ptr_tko weak %oq_c, %sum_c : tile<1024xptr<f32>>, tile<1024xf32> -> token
  %sum_d = for %i_d in (%z64 to %e64, step %s64) : tile<i64> iter_values(%acc_d = %zero_f16) -> (tile<1024xf16>) {
  %base_d_1 = reshape %i_d : tile<i64> -> tile<1xi64>
  %base_d = broadcast %base_d_1 : tile<1xi64> -> tile<1024xi64>
  %at_d = addi %base_d, %iota64 : tile<1024xi64>
  %lim_d_1 = reshape %n64 : tile<i64> -> tile<1xi64>
  %lim_d = broadcast %lim_d_1 : tile<1xi64> -> tile<1024xi64>
  %mask_d = cmpi less_than_or_equal %at_d, %lim_d, signed : tile<1024xi64> -> tile<1024xi1>
  %p_d_1 = reshape %h16 : tile<ptr<f16>> -> tile<1xptr<f16>>
  %p_d = broadcast %p_d_1 : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %q_d = offset %p_d, %at_d : tile<1024xptr<f16>>, tile<1024xi64> -> tile<1024xptr<f16>>
  %got_d, %tok_d = load_ptr_tko weak %q_d, %mask_d : tile<1024xptr<f16>>, tile<1024xi1> -> tile<1024xf16>, token
  %sel_d = select %mask_d, %got_d, %zero_f16 : tile<1024xi1>, tile<1024xf16>
  %add_d = addf %acc_d, %sel_d : tile<1024xf16>
  continue %add_d : tile<1024xf16>
  }
  %wide_d = ftof %sum_d : tile<1024xf16> -> tile<1024xf32>
  %k_d = constant <i32: 3072> : tile<i32>
  %kk_d_1 = reshape %k_d : tile<i32> -> tile<1xi32>
  %kk_d = broadcast %kk_d_1 : tile<1xi32> -> tile<1024xi32>
  %oi_d = addi %kk_d, %iota32 : tile<1024xi32>
  %op_d_1 = reshape %o16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %op_d = broadcast %op_d_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %oq_d = offset %op_d, %oi_d : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %st_d = store_ptr_tko weak %oq_d, %wide_d : tile<1024xptr<f32>>, tile<1024xf32> -> token
  %sum_e = for %i_e in (%z32 to %e32, step %s32) : tile<i32> iter_values(%acc_e = %zero_f16) -> (tile<1024xf16>) {
  %base_e_1 = reshape %i_e : tile<i32> -> tile<1xi32>
  %base_e = broadcast %base_e_1 : tile<1xi32> -> tile<1024xi32>
  %at_e = addi %base_e, %iota32 : tile<1024xi32>
  %lim_e_1 = reshape %n32 : tile<i32> -> tile<1xi32>
  %lim_e = broadcast %lim_e_1 : tile<1xi32> -> tile<1024xi32>
  %mask_e = cmpi greater_than %lim_e, %at_e, signed : tile<1024xi32> -> tile<1024xi1>
  %p_e_1 = reshape %h16 : tile<ptr<f16>> -> tile<1xptr<f16>>
  %p_e = broadcast %p_e_1 : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %q_e = offset %p_e, %at_e : tile<1024xptr<f16>>, tile<1024xi32> -> tile<1024xptr<f16>>
  %got_e, %tok_e = load_ptr_tko weak %q_e, %mask_e, %five_f16 : tile<1024xptr<f16>>, tile<1024xi1>, tile<1024xf16> -> tile<1024xf16>, token
  %add_e = addf %acc_e, %got_e : tile<1024xf16>
  continue %add_e : tile<1024xf16>
  }
  %wide_e = ftof %sum_e : tile<1024xf16> -> tile<1024xf32>
  %k_e = constant <i32: 4096> : tile<i32>
  %kk_e_1 = reshape %k_e : tile<i32> -> tile<1xi32>
  %kk_e = broadcast %kk_e_1 : tile<1xi32> -> tile<1024xi32>
  %oi_e = addi %kk_e, %iota32 : tile<1024xi32>
  %op_e_1 = reshape %o16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %op_e = broadcast %op_e_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %oq_e = offset %op_e, %oi_e : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %st_e = store_ptr_tko weak %oq_e, %wide_e : tile<1024xptr<f32>>, tile<1024xf32> -> token
  %sum_f = for %i_f in (%z32 to %e32, step %s32) : tile<i32> iter_values(%acc_f = %zero_f32) -> (tile<1024xf32>) {
  %base_f_1 = reshape %i_f : tile<i32> -> tile<1xi32>
  %base_f = broadcast %base_f_1 : tile<1xi32> -> tile<1024xi32>
  %at_f = addi %base_f, %iota32 : tile<1024xi32>
  %hi_f_1 = reshape %high : tile<i32> -> tile<1xi32>
  %hi_f = broadcast %hi_f_1 : tile<1xi32> -> tile<1024xi32>
  %num_f = addi %at_f, %hi_f : tile<1024xi32>
  %lim_f_1 = reshape %low : tile<i32> -> tile<1xi32>
  %lim_f = broadcast %lim_f_1 : tile<1xi32> -> tile<1024xi32>
  %mask_f = cmpi less_than %num_f, %lim_f, signed : tile<1024xi32> -> tile<1024xi1>
  %p_f_1 = reshape %x16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %p_f = broadcast %p_f_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %q_f = offset %p_f, %at_f : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %got_f, %tok_f = load_ptr_tko weak %q_f, %mask_f : tile<1024xptr<f32>>, tile<1024xi1> -> tile<1024xf32>, token
  %sel_f = select %mask_f, %got_f, %five_f32 : tile<1024xi1>, tile<1024xf32>
  %add_f = addf %acc_f, %sel_f : tile<1024xf32>
  continue %add_f : tile<1024xf32>
  }
  %k_f = constant <i32: 5120> : tile<i32>
  %kk_f_1 = reshape %k_f : tile<i32> -> tile<1xi32>
  %kk_f = broadcast %kk_f_1 : tile<1xi32> -> tile<1024xi32>
  %oi_f = addi %kk_f, %iota32 : tile<1024xi32>
  %op_f_1 = reshape %o16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %op_f = broadcast %op_f_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %oq_f = offset %op_f, %oi_f : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %st_f = store_ptr_tko weak %oq_f, %sum_f : tile<1024xptr<f32>>, tile<1024xf32> -> token
  %sum_g = for %i_g in (%z32 to %e32, step %s32) : tile<i32> iter_values(%acc_g = %zero_f32) -> (tile<1024xf32>) {
  %base_g_1 = reshape %i_g : tile<i32> -> tile<1xi32>
  %base_g = broadcast %base_g_1 : tile<1xi32> -> tile<1024xi32>
  %at_g = addi %base_g, %iota32 : tile<1024xi32>
  %lim_g_1 = reshape %n32 : tile<i32> -> tile<1xi32>
  %lim_g = broadcast %lim_g_1 : tile<1xi32> -> tile<1024xi32>
  %m0_g = cmpi less_than %at_g, %lim_g, signed : tile<1024xi32> -> tile<1024xi1>
  %mm_g_1 = reshape %m32 : tile<i32> -> tile<1xi32>
  %mm_g = broadcast %mm_g_1 : tile<1xi32> -> tile<1024xi32>
  %twice_g = addi %mm_g, %base_g : tile<1024xi32>
  %m1_g = cmpi less_than %at_g, %twice_g, signed : tile<1024xi32> -> tile<1024xi1>
  %mask_g = andi %m0_g, %m1_g : tile<1024xi1>
  %p_g_1 = reshape %x16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %p_g = broadcast %p_g_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %q_g = offset %p_g, %at_g : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %got_g, %tok_g = load_ptr_tko weak %q_g, %mask_g : tile<1024xptr<f32>>, tile<1024xi1> -> tile<1024xf32>, token
  %sel_g = select %mask_g, %got_g, %zero_f32 : tile<1024xi1>, tile<1024xf32>
  %add_g = addf %acc_g, %sel_g : tile<1024xf32>
  continue %add_g : tile<1024xf32>
  }
  %k_g = constant <i32: 6144> : tile<i32>
  %kk_g_1 = reshape %k_g : tile<i32> -> tile<1xi32>
  %kk_g = broadcast %kk_g_1 : tile<1xi32> -> tile<1024xi32>
  %oi_g = addi %kk_g, %iota32 : tile<1024xi32>
  %op_g_1 = reshape %o16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %op_g = broadcast %op_g_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %oq_g = offset %op_g, %oi_g : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %st_g = store_ptr_tko weak %oq_g, %sum_g : tile<1024xptr<f32>>, tile<1024xf32> -> token
  %sum_h = for %i_h in (%z32 to %e32, step %s32) : tile<i32> iter_values(%acc_h = %zero_f16) -> (tile<1024xf16>) {
  %base_h_1 = reshape %i_h : tile<i32> -> tile<1xi32>
  %base_h = broadcast %base_h_1 : tile<1xi32> -> tile<1024xi32>
  %at_h = addi %base_h, %iota32 : tile<1024xi32>
  %lim_h_1 = reshape %few : tile<i32> -> tile<1xi32>
  %lim_h = broadcast %lim_h_1 : tile<1xi32> -> tile<1024xi32>
  %mask_h = cmpi less_than %at_h, %lim_h, signed : tile<1024xi32> -> tile<1024xi1>
  %p_h_1 = reshape %h16 : tile<ptr<f16>> -> tile<1xptr<f16>>
  %p_h = broadcast %p_h_1 : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %q_h = offset %p_h, %at_h : tile<1024xptr<f16>>, tile<1024xi32> -> tile<1024xptr<f16>>
  %got_h, %tok_h = load_ptr_tko weak %q_h, %mask_h, %five_f16 : tile<1024xptr<f16>>, tile<1024xi1>, tile<1024xf16> -> tile<1024xf16>, token
  %add_h = addf %acc_h, %got_h : tile<1024xf16>
  continue %add_h : tile<1024xf16>
  }
  %wide_h = ftof %sum_h : tile<1024xf16> -> tile<1024xf32>
  %k_h = constant <i32: 7168> : tile<i32>
  %kk_h_1 = reshape %k_h : tile<i32> -> tile<1xi32>
  %kk_h = broadcast %kk_h_1 : tile<1xi32> -> tile<1024xi32>
  %oi_h = addi %kk_h, %iota32 : tile<1024xi32>
  %op_h_1 = reshape %o16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %op_h = broadcast %op_h_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %oq_h = offset %op_h, %oi_h : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %st_h = store_ptr_tko weak %oq_h, %wide_h : tile<1024xptr<f32>>, tile<1024xf32> -> token
  %r2 = iota : tile<2xi32>
  %c512 = iota : tile<512xi32>
  %two = constant <i32: 2> : tile<i32>
  %eight = constant <i32: 8> : tile<i32>
  %zero2 = constant <f32: 0.0> : tile<2x512xf32>
  %seven = constant <i32: 7> : tile<2x1xi32>
  %w512 = constant <i32: 512> : tile<2x1xi32>
  %sum2 = for %j in (%z32 to %eight, step %two) : tile<i32> iter_values(%acc2 = %zero2) -> (tile<2x512xf32>) {
  %j1 = reshape %j : tile<i32> -> tile<1xi32>
  %j2 = broadcast %j1 : tile<1xi32> -> tile<2xi32>
  %rows0 = addi %j2, %r2 : tile<2xi32>
  %rows = reshape %rows0 : tile<2xi32> -> tile<2x1xi32>
  %rm = cmpi less_than %rows, %seven, signed : tile<2x1xi32> -> tile<2x1xi1>
  %rmb = broadcast %rm : tile<2x1xi1> -> tile<2x512xi1>
  %cols = reshape %c512 : tile<512xi32> -> tile<1x512xi32>
  %m1r = reshape %m32 : tile<i32> -> tile<1x1xi32>
  %mc = broadcast %m1r : tile<1x1xi32> -> tile<1x512xi32>
  %half = constant <i32: 640> : tile<1x512xi32>
  %lim2 = subi %mc, %half : tile<1x512xi32>
  %cm = cmpi less_than %cols, %lim2, signed : tile<1x512xi32> -> tile<1x512xi1>
  %cmb = broadcast %cm : tile<1x512xi1> -> tile<2x512xi1>
  %mask2 = andi %rmb, %cmb : tile<2x512xi1>
  %ro = muli %rows, %w512 : tile<2x1xi32>
  %rob = broadcast %ro : tile<2x1xi32> -> tile<2x512xi32>
  %cob = broadcast %cols : tile<1x512xi32> -> tile<2x512xi32>
  %off2 = addi %rob, %cob : tile<2x512xi32>
  %p21 = reshape %x16 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %p2 = broadcast %p21 : tile<1x1xptr<f32>> -> tile<2x512xptr<f32>>
  %q2 = offset %p2, %off2 : tile<2x512xptr<f32>>, tile<2x512xi32> -> tile<2x512xptr<f32>>
  %got2, %tok2 = load_ptr_tko weak %q2, %mask2, %zero2 : tile<2x512xptr<f32>>, tile<2x512xi1>, tile<2x512xf32> -> tile<2x512xf32>, token
  %add2 = addf %acc2, %got2 : tile<2x512xf32>
  continue %add2 : tile<2x512xf32>
  }
  %flat2 = reshape %sum2 : tile<2x512xf32> -> tile<1024xf32>
  %k2 = constant <i32: 8192> : tile<1024xi32>
  %oi2 = addi %k2, %iota32 : tile<1024xi32>
  %op2_1 = reshape %o16 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %op2 = broadcast %op2_1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %oq2 = offset %op2, %oi2 : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %st2 = store_ptr_tko weak %oq2, %flat2 : tile<1024xptr<f32>>, tile<1024xf32> -> token
  return
}
