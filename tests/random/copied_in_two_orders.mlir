// Two operands come through pointers that a loop moves on by one constant; in memory the rows of one are contiguous, of the
// other the columns. The constant tied the layouts of both: the threads of the producer (on sm_90a) stored elements of one
// by themselves, and no arrival at the stage's barrier was ordered behind that.
// grid: 1,1,1
// arg: buffer f16 8192 whole -1 1 seed 0
// arg: buffer f16 16384 whole -1 1 seed 1
// arg: buffer f16 16384 whole -1 1 seed 2
// arg: buffer f32 8192 zero seed 0
// arg: i32 256
entry @main(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %o: tile<ptr<f32>>, %n: tile<i32>) {
  %qa = assume div_by<16>, %q : tile<ptr<f16>>
  %ka = assume div_by<16>, %k : tile<ptr<f16>>
  %va = assume div_by<16>, %v : tile<ptr<f16>>
  %oa = assume div_by<16>, %o : tile<ptr<f32>>
  %c0 = constant <i32: 0> : tile<i32>
  %c64 = constant <i32: 64> : tile<i32>
  %row = iota : tile<128xi32>
  %row1 = reshape %row : tile<128xi32> -> tile<128x1xi32>
  %wide = constant <i32: 64> : tile<128x1xi32>
  %row64 = muli %row1, %wide : tile<128x1xi32>
  %rows = broadcast %row64 : tile<128x1xi32> -> tile<128x64xi32>
  %col = iota : tile<64xi32>
  %col1 = reshape %col : tile<64xi32> -> tile<1x64xi32>
  %cols = broadcast %col1 : tile<1x64xi32> -> tile<128x64xi32>
  %at = addi %rows, %cols : tile<128x64xi32>
  %q1 = reshape %qa : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %q2 = broadcast %q1 : tile<1x1xptr<f16>> -> tile<128x64xptr<f16>>
  %pq = offset %q2, %at : tile<128x64xptr<f16>>, tile<128x64xi32> -> tile<128x64xptr<f16>>
  %tq, %t0 = load_ptr_tko weak %pq : tile<128x64xptr<f16>> -> tile<128x64xf16>, token
  %colr = reshape %col : tile<64xi32> -> tile<64x1xi32>
  %apart = constant <i32: 64> : tile<64x1xi32>
  %apart1 = constant <i32: 64> : tile<1x64xi32>
  %down = muli %colr, %apart : tile<64x1xi32>
  %across = muli %col1, %apart1 : tile<1x64xi32>
  %d0 = broadcast %colr : tile<64x1xi32> -> tile<64x64xi32>
  %n0 = broadcast %across : tile<1x64xi32> -> tile<64x64xi32>
  %turned = addi %d0, %n0 : tile<64x64xi32>
  %d1 = broadcast %down : tile<64x1xi32> -> tile<64x64xi32>
  %n1 = broadcast %col1 : tile<1x64xi32> -> tile<64x64xi32>
  %plain = addi %d1, %n1 : tile<64x64xi32>
  %k1 = reshape %ka : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %k2 = broadcast %k1 : tile<1x1xptr<f16>> -> tile<64x64xptr<f16>>
  %pk = offset %k2, %turned : tile<64x64xptr<f16>>, tile<64x64xi32> -> tile<64x64xptr<f16>>
  %v1 = reshape %va : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %v2 = broadcast %v1 : tile<1x1xptr<f16>> -> tile<64x64xptr<f16>>
  %pv = offset %v2, %plain : tile<64x64xptr<f16>>, tile<64x64xi32> -> tile<64x64xptr<f16>>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %step = constant <i32: 4096> : tile<64x64xi32>
  %sum, %lk, %lv = for %j in (%c0 to %n, step %c64) : tile<i32> iter_values(%acc = %zero, %ik = %pk, %iv = %pv) -> (tile<128x64xf32>, tile<64x64xptr<f16>>, tile<64x64xptr<f16>>) {
    %tk, %t1 = load_ptr_tko weak %ik : tile<64x64xptr<f16>> -> tile<64x64xf16>, token
    %s = mmaf %tq, %tk, %zero : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %p = ftof %s : tile<128x64xf32> -> tile<128x64xf16>
    %tv, %t2 = load_ptr_tko weak %iv : tile<64x64xptr<f16>> -> tile<64x64xf16>, token
    %next = mmaf %p, %tv, %acc : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %nk = offset %ik, %step : tile<64x64xptr<f16>>, tile<64x64xi32> -> tile<64x64xptr<f16>>
    %nv = offset %iv, %step : tile<64x64xptr<f16>>, tile<64x64xi32> -> tile<64x64xptr<f16>>
    continue %next, %nk, %nv : tile<128x64xf32>, tile<64x64xptr<f16>>, tile<64x64xptr<f16>>
  }
  %o1 = reshape %oa : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %o2 = broadcast %o1 : tile<1x1xptr<f32>> -> tile<128x64xptr<f32>>
  %po = offset %o2, %at : tile<128x64xptr<f32>>, tile<128x64xi32> -> tile<128x64xptr<f32>>
  %t3 = store_ptr_tko weak %po, %sum : tile<128x64xptr<f32>>, tile<128x64xf32> -> token
  return
}
