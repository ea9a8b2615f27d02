// Five matmuls of an iteration, between which the warps compute: two warps of their own issue them, one the two that need nothing
// of the others, for the next iteration, and one the other three together. The warps release an iteration of either where its
// matmuls find their operands. Both read one of the tiles, whose stages the second one hands back.
// run: explain --gpu-name sm_100a
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: kernel | warp of | issued with | warp roles | pipeline.create | warp_specialize | cuda_tile.for | cuda_tile.continue | tensor_dot | pipeline.producer | pipeline.consumer | cuda_tile.exp2 | local_store | role_end
entry @backward(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %g: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
  %pq = assume div_by<16>, %q : tile<ptr<f16>>
  %vq = make_tensor_view %pq, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tq = make_partition_view %vq : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %pg = assume div_by<16>, %g : tile<ptr<f16>>
  %vg = make_tensor_view %pg, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tg = make_partition_view %vg : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %pk = assume div_by<16>, %k : tile<ptr<f16>>
  %vk = make_tensor_view %pk, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tk = make_partition_view %vk : partition_view<tile=(128x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %pv = assume div_by<16>, %v : tile<ptr<f16>>
  %vv = make_tensor_view %pv, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tv = make_partition_view %vv : partition_view<tile=(128x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf32, strides=[64,1]>
  %to = make_partition_view %vo : partition_view<tile=(128x64), tensor_view<4096x64xf32, strides=[64,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 64> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %i, %y, %z = get_tile_block_id : tile<i32>
  %kt, %t0 = load_view_tko weak %tk[%i, %c0] : partition_view<tile=(128x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %vt, %t1 = load_view_tko weak %tv[%i, %c0] : partition_view<tile=(128x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %dk, %dv, %ds = for %j in (%c0 to %n, step %c1) : tile<i32> iter_values(%a = %zero, %b = %zero, %c = %zero) -> (tile<128x64xf32>, tile<128x64xf32>, tile<128x64xf32>) {
    %qt, %t2 = load_view_tko weak %tq[%j, %c0] : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %gt, %t3 = load_view_tko weak %tg[%j, %c0] : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %qr = permute %qt [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %gr = permute %gt [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %s = mmaf %kt, %qr, %zero : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %e = exp2 %s : tile<128x64xf32>
    %p = ftof %e : tile<128x64xf32> -> tile<128x64xf16>
    %dv1 = mmaf %p, %gt, %b : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %dp = mmaf %vt, %gr, %zero : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %f = mulf %dp, %e : tile<128x64xf32>
    %h = ftof %f : tile<128x64xf32> -> tile<128x64xf16>
    %dk1 = mmaf %h, %qt, %a : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    %ds1 = mmaf %h, %gt, %c : tile<128x64xf16>, tile<64x64xf16>, tile<128x64xf32>
    continue %dk1, %dv1, %ds1 : tile<128x64xf32>, tile<128x64xf32>, tile<128x64xf32>
  }
  %x = addf %dk, %dv rounding<nearest_even> : tile<128x64xf32>
  %w = addf %x, %ds rounding<nearest_even> : tile<128x64xf32>
  %t4 = store_view_tko weak %w, %to[%i, %c0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<4096x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
