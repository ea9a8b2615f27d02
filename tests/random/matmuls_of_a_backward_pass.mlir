// The shape of attention's backward pass in whole numbers: of five matmuls in an iteration three need what is computed of the two
// others. On sm_100a and the like a warp of its own issues them, those that need nothing of one another together.
// grid: 2,1,1
// arg: buffer f16 16384 whole -2 2 seed 0
// arg: buffer f16 16384 whole -2 2 seed 1
// arg: buffer f16 16384 whole -2 2 seed 2
// arg: buffer f16 16384 whole -2 2 seed 3
// arg: buffer f32 16384 whole 7 7 seed 0
entry @main(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %g: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
  %pq = assume div_by<16>, %q : tile<ptr<f16>>
  %vq = make_tensor_view %pq, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %tq = make_partition_view %vq : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>
  %pg = assume div_by<16>, %g : tile<ptr<f16>>
  %vg = make_tensor_view %pg, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %tg = make_partition_view %vg : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>
  %pk = assume div_by<16>, %k : tile<ptr<f16>>
  %vk = make_tensor_view %pk, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %tk = make_partition_view %vk : partition_view<tile=(128x64), tensor_view<256x64xf16, strides=[64,1]>>
  %pv = assume div_by<16>, %v : tile<ptr<f16>>
  %vv = make_tensor_view %pv, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %tv = make_partition_view %vv : partition_view<tile=(128x64), tensor_view<256x64xf16, strides=[64,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf32, strides=[64,1]>
  %to = make_partition_view %vo : partition_view<tile=(128x64), tensor_view<256x64xf32, strides=[64,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 4> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %low = constant <f32: -3.0> : tile<128x64xf32>
  %high = constant <f32: 3.0> : tile<128x64xf32>
  %i, %y, %z = get_tile_block_id : tile<i32>
  %kt, %t0 = load_view_tko weak %tk[%i, %c0] : partition_view<tile=(128x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %vt, %t1 = load_view_tko weak %tv[%i, %c0] : partition_view<tile=(128x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %dk, %dv, %ds = for %j in (%c0 to %n, step %c1) : tile<i32> iter_values(%a = %zero, %b = %zero, %c = %zero) -> (tile<128x64xf32>, tile<128x64xf32>, tile<128x64xf32>) {
    %qt, %t2 = load_view_tko weak %tq[%j, %c0] : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %gt, %t3 = load_view_tko weak %tg[%j, %c0] : partition_view<tile=(64x64), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %qr = permute %qt [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %gr = permute %gt [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %s = mmaf %kt, %qr, %zero : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %e0 = maxf %s, %low : tile<128x64xf32>
    %e = minf %e0, %high : tile<128x64xf32>
    %p = ftof %e : tile<128x64xf32> -> tile<128x64xf16>
    %dv1 = mmaf %p, %gt, %b : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %dp = mmaf %vt, %gr, %zero : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %f0 = maxf %dp, %low : tile<128x64xf32>
    %f1 = minf %f0, %high : tile<128x64xf32>
    %f = mulf %f1, %e : tile<128x64xf32>
    %h = ftof %f : tile<128x64xf32> -> tile<128x64xf16>
    %dk1 = mmaf %h, %qt, %a : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %ds1 = mmaf %h, %gt, %c : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    continue %dk1, %dv1, %ds1 : tile<128x64xf32>, tile<128x64xf32>, tile<128x64xf32>
  }
  %x = addf %dk, %dv rounding<nearest_even> : tile<128x64xf32>
  %w = addf %x, %ds rounding<nearest_even> : tile<128x64xf32>
  %t4 = store_view_tko weak %w, %to[%i, %c0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<256x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
