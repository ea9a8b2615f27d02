// Operands that are converted on their way to a warp's matmul come back from shared memory as whole fragments. Wider loads would
// bring parts of several, whose registers ptxas copies for each matmul.
// run: compile --emit ptx --gpu-name sm_120a
// show: .entry | ldmatrix | ld.shared
entry @cast_bf16_nk(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [4096, 4096], strides = [4096, 1] : tensor_view<4096x4096xf32, strides=[4096,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x32), tensor_view<4096x4096xf32, strides=[4096,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [4096, 4096], strides = [4096, 1] : tensor_view<4096x4096xf32, strides=[4096,1]>
  %tb = make_partition_view %vb : partition_view<tile=(128x32), tensor_view<4096x4096xf32, strides=[4096,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [4096, 4096], strides = [4096, 1] : tensor_view<4096x4096xf32, strides=[4096,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<4096x4096xf32, strides=[4096,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %x, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x32), tensor_view<4096x4096xf32, strides=[4096,1]>>, tile<i32> -> tile<128x32xf32>, token
    %y0, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(128x32), tensor_view<4096x4096xf32, strides=[4096,1]>>, tile<i32> -> tile<128x32xf32>, token
    %y = permute %y0 [1, 0] : tile<128x32xf32> -> tile<32x128xf32>
    %xh = ftof %x rounding<nearest_even> : tile<128x32xf32> -> tile<128x32xbf16>
    %yh = ftof %y rounding<nearest_even> : tile<32x128xf32> -> tile<32x128xbf16>
    %o = mmaf %xh, %yh, %acc : tile<128x32xbf16>, tile<32x128xbf16>, tile<128x128xf32>
    continue %o : tile<128x128xf32>
  }
  %t3 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<4096x4096xf32, strides=[4096,1]>>, tile<i32> -> token
  return
}
entry @up_bf16_nk(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
  %va = make_tensor_view %pa, shape = [4096, 4096], strides = [4096, 1] : tensor_view<4096x4096xf8E4M3FN, strides=[4096,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<4096x4096xf8E4M3FN, strides=[4096,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
  %vb = make_tensor_view %pb, shape = [4096, 4096], strides = [4096, 1] : tensor_view<4096x4096xf8E4M3FN, strides=[4096,1]>
  %tb = make_partition_view %vb : partition_view<tile=(128x64), tensor_view<4096x4096xf8E4M3FN, strides=[4096,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [4096, 4096], strides = [4096, 1] : tensor_view<4096x4096xf32, strides=[4096,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<4096x4096xf32, strides=[4096,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %x, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), tensor_view<4096x4096xf8E4M3FN, strides=[4096,1]>>, tile<i32> -> tile<128x64xf8E4M3FN>, token
    %y0, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(128x64), tensor_view<4096x4096xf8E4M3FN, strides=[4096,1]>>, tile<i32> -> tile<128x64xf8E4M3FN>, token
    %y = permute %y0 [1, 0] : tile<128x64xf8E4M3FN> -> tile<64x128xf8E4M3FN>
    %xh = ftof %x : tile<128x64xf8E4M3FN> -> tile<128x64xbf16>
    %yh = ftof %y : tile<64x128xf8E4M3FN> -> tile<64x128xbf16>
    %o = mmaf %xh, %yh, %acc : tile<128x64xbf16>, tile<64x128xbf16>, tile<128x128xf32>
    continue %o : tile<128x128xf32>
  }
  %t3 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<4096x4096xf32, strides=[4096,1]>>, tile<i32> -> token
  return
}
