// Tiles of half the depth of the matrix instructions of their types: there are instructions of half the depth.
// grid: 1,1,1
// arg: buffer f8E4M3FN 4096 whole -4 4 seed 0
// arg: buffer f8E4M3FN 2048 whole -3 3 seed 1
// arg: buffer f32 2048 whole 0 0 seed 2
// arg: buffer f8E5M2 4096 whole -4 4 seed 3
// arg: buffer f8E5M2 2048 whole -3 3 seed 4
// arg: buffer f32 2048 whole 0 0 seed 5
// arg: buffer f16 4096 whole -4 4 seed 6
// arg: buffer f16 2048 whole -3 3 seed 7
// arg: buffer f32 2048 whole 0 0 seed 8
// arg: buffer bf16 4096 whole -4 4 seed 9
// arg: buffer bf16 2048 whole -3 3 seed 10
// arg: buffer f32 2048 whole 0 0 seed 11
// arg: buffer f16 4096 whole -4 4 seed 12
// arg: buffer f16 2048 whole -3 3 seed 13
// arg: buffer f16 2048 whole 0 0 seed 14
// arg: buffer i8 4096 whole -4 4 seed 15
// arg: buffer i8 2048 whole -3 3 seed 16
// arg: buffer i32 2048 whole 0 0 seed 17
entry @main(%el: tile<ptr<f8E4M3FN>>, %er: tile<ptr<f8E4M3FN>>, %es: tile<ptr<f32>>, %fl: tile<ptr<f8E5M2>>, %fr: tile<ptr<f8E5M2>>, %fs: tile<ptr<f32>>, %hl: tile<ptr<f16>>, %hr: tile<ptr<f16>>, %hs: tile<ptr<f32>>, %bl: tile<ptr<bf16>>, %br: tile<ptr<bf16>>, %bs: tile<ptr<f32>>, %gl: tile<ptr<f16>>, %gr: tile<ptr<f16>>, %gs: tile<ptr<f16>>, %il: tile<ptr<i8>>, %ir: tile<ptr<i8>>, %is: tile<ptr<i32>>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %el1 = assume div_by<16>, %el : tile<ptr<f8E4M3FN>>
  %el2 = make_tensor_view %el1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf8E4M3FN, strides=[64,1]>
  %el3 = make_partition_view %el2 : partition_view<tile=(64x16), tensor_view<64x64xf8E4M3FN, strides=[64,1]>>
  %er1 = assume div_by<16>, %er : tile<ptr<f8E4M3FN>>
  %er2 = make_tensor_view %er1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf8E4M3FN, strides=[32,1]>
  %er3 = make_partition_view %er2 : partition_view<tile=(16x32), tensor_view<64x32xf8E4M3FN, strides=[32,1]>>
  %es1 = assume div_by<16>, %es : tile<ptr<f32>>
  %es2 = make_tensor_view %es1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf32, strides=[32,1]>
  %es3 = make_partition_view %es2 : partition_view<tile=(64x32), tensor_view<64x32xf32, strides=[32,1]>>
  %e0 = constant <f32: 0.0> : tile<64x32xf32>
  %esteps = constant <i32: 4> : tile<i32>
  %esum = for %ek in (%c0 to %esteps, step %c1) : tile<i32> iter_values(%ea = %e0) -> (tile<64x32xf32>) {
    %ex, %et = load_view_tko weak %el3[%c0, %ek] : partition_view<tile=(64x16), tensor_view<64x64xf8E4M3FN, strides=[64,1]>>, tile<i32> -> tile<64x16xf8E4M3FN>, token
    %ey, %eu = load_view_tko weak %er3[%ek, %c0] : partition_view<tile=(16x32), tensor_view<64x32xf8E4M3FN, strides=[32,1]>>, tile<i32> -> tile<16x32xf8E4M3FN>, token
    %ep = mmaf %ex, %ey, %ea : tile<64x16xf8E4M3FN>, tile<16x32xf8E4M3FN>, tile<64x32xf32>
    continue %ep : tile<64x32xf32>
  }
  %ew = store_view_tko weak %esum, %es3[%c0, %c0] : tile<64x32xf32>, partition_view<tile=(64x32), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
  %fl1 = assume div_by<16>, %fl : tile<ptr<f8E5M2>>
  %fl2 = make_tensor_view %fl1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf8E5M2, strides=[64,1]>
  %fl3 = make_partition_view %fl2 : partition_view<tile=(64x16), tensor_view<64x64xf8E5M2, strides=[64,1]>>
  %fr1 = assume div_by<16>, %fr : tile<ptr<f8E5M2>>
  %fr2 = make_tensor_view %fr1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf8E5M2, strides=[32,1]>
  %fr3 = make_partition_view %fr2 : partition_view<tile=(16x32), tensor_view<64x32xf8E5M2, strides=[32,1]>>
  %fs1 = assume div_by<16>, %fs : tile<ptr<f32>>
  %fs2 = make_tensor_view %fs1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf32, strides=[32,1]>
  %fs3 = make_partition_view %fs2 : partition_view<tile=(64x32), tensor_view<64x32xf32, strides=[32,1]>>
  %f0 = constant <f32: 0.0> : tile<64x32xf32>
  %fsteps = constant <i32: 4> : tile<i32>
  %fsum = for %fk in (%c0 to %fsteps, step %c1) : tile<i32> iter_values(%fa = %f0) -> (tile<64x32xf32>) {
    %fx, %ft = load_view_tko weak %fl3[%c0, %fk] : partition_view<tile=(64x16), tensor_view<64x64xf8E5M2, strides=[64,1]>>, tile<i32> -> tile<64x16xf8E5M2>, token
    %fy, %fu = load_view_tko weak %fr3[%fk, %c0] : partition_view<tile=(16x32), tensor_view<64x32xf8E5M2, strides=[32,1]>>, tile<i32> -> tile<16x32xf8E5M2>, token
    %fp = mmaf %fx, %fy, %fa : tile<64x16xf8E5M2>, tile<16x32xf8E5M2>, tile<64x32xf32>
    continue %fp : tile<64x32xf32>
  }
  %fw = store_view_tko weak %fsum, %fs3[%c0, %c0] : tile<64x32xf32>, partition_view<tile=(64x32), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
  %hl1 = assume div_by<16>, %hl : tile<ptr<f16>>
  %hl2 = make_tensor_view %hl1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %hl3 = make_partition_view %hl2 : partition_view<tile=(64x8), tensor_view<64x64xf16, strides=[64,1]>>
  %hr1 = assume div_by<16>, %hr : tile<ptr<f16>>
  %hr2 = make_tensor_view %hr1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf16, strides=[32,1]>
  %hr3 = make_partition_view %hr2 : partition_view<tile=(8x32), tensor_view<64x32xf16, strides=[32,1]>>
  %hs1 = assume div_by<16>, %hs : tile<ptr<f32>>
  %hs2 = make_tensor_view %hs1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf32, strides=[32,1]>
  %hs3 = make_partition_view %hs2 : partition_view<tile=(64x32), tensor_view<64x32xf32, strides=[32,1]>>
  %h0 = constant <f32: 0.0> : tile<64x32xf32>
  %hsteps = constant <i32: 8> : tile<i32>
  %hsum = for %hk in (%c0 to %hsteps, step %c1) : tile<i32> iter_values(%ha = %h0) -> (tile<64x32xf32>) {
    %hx, %ht = load_view_tko weak %hl3[%c0, %hk] : partition_view<tile=(64x8), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x8xf16>, token
    %hy, %hu = load_view_tko weak %hr3[%hk, %c0] : partition_view<tile=(8x32), tensor_view<64x32xf16, strides=[32,1]>>, tile<i32> -> tile<8x32xf16>, token
    %hp = mmaf %hx, %hy, %ha : tile<64x8xf16>, tile<8x32xf16>, tile<64x32xf32>
    continue %hp : tile<64x32xf32>
  }
  %hw = store_view_tko weak %hsum, %hs3[%c0, %c0] : tile<64x32xf32>, partition_view<tile=(64x32), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
  %bl1 = assume div_by<16>, %bl : tile<ptr<bf16>>
  %bl2 = make_tensor_view %bl1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xbf16, strides=[64,1]>
  %bl3 = make_partition_view %bl2 : partition_view<tile=(64x8), tensor_view<64x64xbf16, strides=[64,1]>>
  %br1 = assume div_by<16>, %br : tile<ptr<bf16>>
  %br2 = make_tensor_view %br1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xbf16, strides=[32,1]>
  %br3 = make_partition_view %br2 : partition_view<tile=(8x32), tensor_view<64x32xbf16, strides=[32,1]>>
  %bs1 = assume div_by<16>, %bs : tile<ptr<f32>>
  %bs2 = make_tensor_view %bs1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf32, strides=[32,1]>
  %bs3 = make_partition_view %bs2 : partition_view<tile=(64x32), tensor_view<64x32xf32, strides=[32,1]>>
  %b0 = constant <f32: 0.0> : tile<64x32xf32>
  %bsteps = constant <i32: 8> : tile<i32>
  %bsum = for %bk in (%c0 to %bsteps, step %c1) : tile<i32> iter_values(%ba = %b0) -> (tile<64x32xf32>) {
    %bx, %bt = load_view_tko weak %bl3[%c0, %bk] : partition_view<tile=(64x8), tensor_view<64x64xbf16, strides=[64,1]>>, tile<i32> -> tile<64x8xbf16>, token
    %by, %bu = load_view_tko weak %br3[%bk, %c0] : partition_view<tile=(8x32), tensor_view<64x32xbf16, strides=[32,1]>>, tile<i32> -> tile<8x32xbf16>, token
    %bp = mmaf %bx, %by, %ba : tile<64x8xbf16>, tile<8x32xbf16>, tile<64x32xf32>
    continue %bp : tile<64x32xf32>
  }
  %bw = store_view_tko weak %bsum, %bs3[%c0, %c0] : tile<64x32xf32>, partition_view<tile=(64x32), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
  %gl1 = assume div_by<16>, %gl : tile<ptr<f16>>
  %gl2 = make_tensor_view %gl1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %gl3 = make_partition_view %gl2 : partition_view<tile=(64x8), tensor_view<64x64xf16, strides=[64,1]>>
  %gr1 = assume div_by<16>, %gr : tile<ptr<f16>>
  %gr2 = make_tensor_view %gr1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf16, strides=[32,1]>
  %gr3 = make_partition_view %gr2 : partition_view<tile=(8x32), tensor_view<64x32xf16, strides=[32,1]>>
  %gs1 = assume div_by<16>, %gs : tile<ptr<f16>>
  %gs2 = make_tensor_view %gs1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf16, strides=[32,1]>
  %gs3 = make_partition_view %gs2 : partition_view<tile=(64x32), tensor_view<64x32xf16, strides=[32,1]>>
  %g0 = constant <f16: 0.0> : tile<64x32xf16>
  %gsteps = constant <i32: 8> : tile<i32>
  %gsum = for %gk in (%c0 to %gsteps, step %c1) : tile<i32> iter_values(%ga = %g0) -> (tile<64x32xf16>) {
    %gx, %gt = load_view_tko weak %gl3[%c0, %gk] : partition_view<tile=(64x8), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x8xf16>, token
    %gy, %gu = load_view_tko weak %gr3[%gk, %c0] : partition_view<tile=(8x32), tensor_view<64x32xf16, strides=[32,1]>>, tile<i32> -> tile<8x32xf16>, token
    %gp = mmaf %gx, %gy, %ga : tile<64x8xf16>, tile<8x32xf16>, tile<64x32xf16>
    continue %gp : tile<64x32xf16>
  }
  %gw = store_view_tko weak %gsum, %gs3[%c0, %c0] : tile<64x32xf16>, partition_view<tile=(64x32), tensor_view<64x32xf16, strides=[32,1]>>, tile<i32> -> token
  %il1 = assume div_by<16>, %il : tile<ptr<i8>>
  %il2 = make_tensor_view %il1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xi8, strides=[64,1]>
  %il3 = make_partition_view %il2 : partition_view<tile=(64x16), tensor_view<64x64xi8, strides=[64,1]>>
  %ir1 = assume div_by<16>, %ir : tile<ptr<i8>>
  %ir2 = make_tensor_view %ir1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xi8, strides=[32,1]>
  %ir3 = make_partition_view %ir2 : partition_view<tile=(16x32), tensor_view<64x32xi8, strides=[32,1]>>
  %is1 = assume div_by<16>, %is : tile<ptr<i32>>
  %is2 = make_tensor_view %is1, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xi32, strides=[32,1]>
  %is3 = make_partition_view %is2 : partition_view<tile=(64x32), tensor_view<64x32xi32, strides=[32,1]>>
  %i0 = constant <i32: 0> : tile<64x32xi32>
  %isteps = constant <i32: 4> : tile<i32>
  %isum = for %ik in (%c0 to %isteps, step %c1) : tile<i32> iter_values(%ia = %i0) -> (tile<64x32xi32>) {
    %ix, %it = load_view_tko weak %il3[%c0, %ik] : partition_view<tile=(64x16), tensor_view<64x64xi8, strides=[64,1]>>, tile<i32> -> tile<64x16xi8>, token
    %iy, %iu = load_view_tko weak %ir3[%ik, %c0] : partition_view<tile=(16x32), tensor_view<64x32xi8, strides=[32,1]>>, tile<i32> -> tile<16x32xi8>, token
    %ip = mmai %ix, %iy, %ia signed signed : tile<64x16xi8>, tile<16x32xi8>, tile<64x32xi32>
    continue %ip : tile<64x32xi32>
  }
  %iw = store_view_tko weak %isum, %is3[%c0, %c0] : tile<64x32xi32>, partition_view<tile=(64x32), tensor_view<64x32xi32, strides=[32,1]>>, tile<i32> -> token
  return
}
