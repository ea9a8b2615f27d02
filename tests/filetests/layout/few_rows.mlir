// Four rows or fewer, as queries of small groups of heads: the matmul is done by its transpose, whose columns the matrix
// instruction has twice or more often; of one column a thread holds one register of each pair. 8-bit floats are multiplied as
// f16 on sm_80. So is a matmul that has few columns itself. What is brought of four rows is less than the pattern of its swizzle.
// run: compile --emit ptx --gpu-name sm_80
// run: compile --emit ptx --gpu-name sm_90a
// show: .entry | mma.sync | wgmma | cp.async | fma.
entry @one(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(1x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<1x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<1x64xf32>) {
    %x, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(1x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<1x64xf16>, token
    %y, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %yt = permute %y [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %s = mmaf %x, %yt, %acc : tile<1x64xf16>, tile<64x64xf16>, tile<1x64xf32>
    continue %s : tile<1x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<1x64xf32>, partition_view<tile=(1x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @two(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(2x64), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(2x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<2x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<2x64xf32>) {
    %x, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(2x64), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<2x64xf8E4M3FN>, token
    %y, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(64x64), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<64x64xf8E4M3FN>, token
    %yt = permute %y [1, 0] : tile<64x64xf8E4M3FN> -> tile<64x64xf8E4M3FN>
    %s = mmaf %x, %yt, %acc : tile<2x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<2x64xf32>
    continue %s : tile<2x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<2x64xf32>, partition_view<tile=(2x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @four(%a: tile<ptr<bf16>>, %b: tile<ptr<bf16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<bf16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xbf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(4x128), tensor_view<1024x1024xbf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<bf16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xbf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x1024xbf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(4x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %zero = constant <f32: 0.0> : tile<4x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<4x64xf32>) {
    %x, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(4x128), tensor_view<1024x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<4x128xbf16>, token
    %y, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(64x128), tensor_view<1024x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xbf16>, token
    %yt = permute %y [1, 0] : tile<64x128xbf16> -> tile<128x64xbf16>
    %s = mmaf %x, %yt, %acc : tile<4x128xbf16>, tile<128x64xbf16>, tile<4x64xf32>
    continue %s : tile<4x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<4x64xf32>, partition_view<tile=(4x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @columns(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(2x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x2), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x2xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x2xf32>) {
    %x, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %y, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(2x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<2x64xf16>, token
    %yt = permute %y [1, 0] : tile<2x64xf16> -> tile<64x2xf16>
    %s = mmaf %x, %yt, %acc : tile<64x64xf16>, tile<64x2xf16>, tile<64x2xf32>
    continue %s : tile<64x2xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<64x2xf32>, partition_view<tile=(64x2), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
