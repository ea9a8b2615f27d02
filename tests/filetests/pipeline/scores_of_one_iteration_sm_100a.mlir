// A loop that runs once has no next iteration whose scores a further warp could multiply.
// run: explain --gpu-name sm_100a
// show: kernel a | warp of | pipeline of matmuls
entry @attend(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
  %pq = assume div_by<16>, %q : tile<ptr<f16>>
  %vq = make_tensor_view %pq, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tq = make_partition_view %vq : partition_view<tile=(128x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %pk = assume div_by<16>, %k : tile<ptr<f16>>
  %vk = make_tensor_view %pk, shape = [64, 4096], strides = [1, 64] : tensor_view<64x4096xf16, strides=[1,64]>
  %tk = make_partition_view %vk : partition_view<tile=(64x128), tensor_view<64x4096xf16, strides=[1,64]>>
  %pv = assume div_by<16>, %v : tile<ptr<f16>>
  %vv = make_tensor_view %pv, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tv = make_partition_view %vv : partition_view<tile=(128x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf32, strides=[64,1]>
  %to = make_partition_view %vo : partition_view<tile=(128x64), tensor_view<4096x64xf32, strides=[64,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %none = constant <f32: 0.0> : tile<128x64xf32>
  %half = constant <f32: 0.5> : tile<128x64xf32>
  %i, %y, %z = get_tile_block_id : tile<i32>
  %a, %t0 = load_view_tko weak %tq[%i, %c0] : partition_view<tile=(128x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %sum = for %j in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %none) -> (tile<128x64xf32>) {
    %b, %t1 = load_view_tko weak %tk[%c0, %j] : partition_view<tile=(64x128), tensor_view<64x4096xf16, strides=[1,64]>>, tile<i32> -> tile<64x128xf16>, token
    %s = mmaf %a, %b, %zero : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %e = exp2 %s : tile<128x128xf32>
    %p = ftof %e : tile<128x128xf32> -> tile<128x128xf16>
    %c, %t2 = load_view_tko weak %tv[%j, %c0] : partition_view<tile=(128x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %less = mulf %acc, %half : tile<128x64xf32>
    %o1 = mmaf %p, %c, %less : tile<128x128xf16>, tile<128x64xf16>, tile<128x64xf32>
    continue %o1 : tile<128x64xf32>
  }
  %t3 = store_view_tko weak %sum, %to[%i, %c0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<4096x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
