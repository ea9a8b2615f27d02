// The gradient of queries in attention: scores, their gradients and the sum are 64 + 64 + 32 registers of a thread of one
// warpgroup. The peaks and the corrections are one number for each row each, although they are computed with as tiles of
// 64x128: they do not count as 128 registers more, for which a second warpgroup would share out the columns.
// run: explain --gpu-name sm_90a
// show: kernel g | warp roles | overlap
entry @gradient(%q: tile<ptr<f16>>, %g: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %o: tile<ptr<f32>>, %m: tile<ptr<f32>>, %d: tile<ptr<f32>>) {
  %pq = assume div_by<16>, %q : tile<ptr<f16>>
  %vq = make_tensor_view %pq, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tq = make_partition_view %vq : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %pg = assume div_by<16>, %g : tile<ptr<f16>>
  %vg = make_tensor_view %pg, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tg = make_partition_view %vg : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %pk = assume div_by<16>, %k : tile<ptr<f16>>
  %vk = make_tensor_view %pk, shape = [64, 4096], strides = [1, 64] : tensor_view<64x4096xf16, strides=[1,64]>
  %tk = make_partition_view %vk : partition_view<tile=(64x128), tensor_view<64x4096xf16, strides=[1,64]>>
  %pv = assume div_by<16>, %v : tile<ptr<f16>>
  %vv = make_tensor_view %pv, shape = [64, 4096], strides = [1, 64] : tensor_view<64x4096xf16, strides=[1,64]>
  %tv = make_partition_view %vv : partition_view<tile=(64x128), tensor_view<64x4096xf16, strides=[1,64]>>
  %pk2 = assume div_by<16>, %k : tile<ptr<f16>>
  %vk2 = make_tensor_view %pk2, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tk2 = make_partition_view %vk2 : partition_view<tile=(128x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf32, strides=[64,1]>
  %to = make_partition_view %vo : partition_view<tile=(64x64), tensor_view<4096x64xf32, strides=[64,1]>>
  %pm = assume div_by<16>, %m : tile<ptr<f32>>
  %vm = make_tensor_view %pm, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
  %tm = make_partition_view %vm : partition_view<tile=(64), tensor_view<4096xf32, strides=[1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f32>>
  %vd = make_tensor_view %pd, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
  %td = make_partition_view %vd : partition_view<tile=(64), tensor_view<4096xf32, strides=[1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 32> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x128xf32>
  %half = constant <f32: 0.5> : tile<64x128xf32>
  %none = constant <f32: 0.0> : tile<64x64xf32>
  %i, %y, %z = get_tile_block_id : tile<i32>
  %a, %l1 = load_view_tko weak %tq[%i, %c0] : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %b, %l2 = load_view_tko weak %tg[%i, %c0] : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %m0, %l3 = load_view_tko weak %tm[%i] : partition_view<tile=(64), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
  %m1 = reshape %m0 : tile<64xf32> -> tile<64x1xf32>
  %m2 = broadcast %m1 : tile<64x1xf32> -> tile<64x128xf32>
  %m3 = negf %m2 : tile<64x128xf32>
  %d0, %l4 = load_view_tko weak %td[%i] : partition_view<tile=(64), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> tile<64xf32>, token
  %d1 = reshape %d0 : tile<64xf32> -> tile<64x1xf32>
  %d2 = broadcast %d1 : tile<64x1xf32> -> tile<64x128xf32>
  %d3 = negf %d2 : tile<64x128xf32>
  %sum = for %j in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %none) -> (tile<64x64xf32>) {
    %e, %l5 = load_view_tko weak %tk[%c0, %j] : partition_view<tile=(64x128), tensor_view<64x4096xf16, strides=[1,64]>>, tile<i32> -> tile<64x128xf16>, token
    %s = mmaf %a, %e, %zero : tile<64x64xf16>, tile<64x128xf16>, tile<64x128xf32>
    %s1 = fma %s, %half, %m3 : tile<64x128xf32>
    %s2 = exp2 %s1 : tile<64x128xf32>
    %f, %l6 = load_view_tko weak %tv[%c0, %j] : partition_view<tile=(64x128), tensor_view<64x4096xf16, strides=[1,64]>>, tile<i32> -> tile<64x128xf16>, token
    %h = mmaf %b, %f, %zero : tile<64x64xf16>, tile<64x128xf16>, tile<64x128xf32>
    %h1 = fma %h, %half, %d3 : tile<64x128xf32>
    %h2 = mulf %s2, %h1 : tile<64x128xf32>
    %h3 = ftof %h2 : tile<64x128xf32> -> tile<64x128xf16>
    %w, %l7 = load_view_tko weak %tk2[%j, %c0] : partition_view<tile=(128x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %o1 = mmaf %h3, %w, %acc : tile<64x128xf16>, tile<128x64xf16>, tile<64x64xf32>
    continue %o1 : tile<64x64xf32>
  }
  %t3 = store_view_tko weak %sum, %to[%i, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<4096x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
