// Weights of four bits are unpacked and scaled between their load and the matmul: they and a row of scales, which broadcasts
// lead to it, come with the other operand. The scales of columns, which lie apart, no tensor copy brings: the consumers load
// those of the next iteration, and each thread the ones that it multiplies with.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: kernel | pipeline of | no tensor | tma_load | tiled_load | cuda_tile.for | convert_layout
entry @by_rows(%a: tile<ptr<f16>>, %w: tile<ptr<i32>>, %s: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [4096, 1024], strides = [1024, 1] : tensor_view<4096x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<4096x1024xf16, strides=[1024,1]>>
  %pw = assume div_by<16>, %w : tile<ptr<i32>>
  %vw = make_tensor_view %pw, shape = [128, 4096], strides = [4096, 1] : tensor_view<128x4096xi32, strides=[4096,1]>
  %tw = make_partition_view %vw : partition_view<tile=(8x64), tensor_view<128x4096xi32, strides=[4096,1]>>
  %ps = assume div_by<16>, %s : tile<ptr<f16>>
  %vs = make_tensor_view %ps, shape = [16, 4096], strides = [4096, 1] : tensor_view<16x4096xf16, strides=[4096,1]>
  %ts = make_partition_view %vs : partition_view<tile=(1x64), tensor_view<16x4096xf16, strides=[4096,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [4096, 4096], strides = [4096, 1] : tensor_view<4096x4096xf32, strides=[4096,1]>
  %to = make_partition_view %vo : partition_view<tile=(64x64), tensor_view<4096x4096xf32, strides=[4096,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %shift = constant <i32: [0, 4, 8, 12, 16, 20, 24, 28]> : tile<8xi32>
  %shift1 = reshape %shift : tile<8xi32> -> tile<1x8x1xi32>
  %shifts = broadcast %shift1 : tile<1x8x1xi32> -> tile<8x8x64xi32>
  %mask = constant <i32: 15> : tile<8x8x64xi32>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %x, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x64), tensor_view<4096x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %q, %t1 = load_view_tko weak %tw[%k, %j] : partition_view<tile=(8x64), tensor_view<128x4096xi32, strides=[4096,1]>>, tile<i32> -> tile<8x64xi32>, token
    %r, %t2 = load_view_tko weak %ts[%k, %j] : partition_view<tile=(1x64), tensor_view<16x4096xf16, strides=[4096,1]>>, tile<i32> -> tile<1x64xf16>, token
    %q1 = reshape %q : tile<8x64xi32> -> tile<8x1x64xi32>
    %q8 = broadcast %q1 : tile<8x1x64xi32> -> tile<8x8x64xi32>
    %m = shri %q8, %shifts unsigned : tile<8x8x64xi32>
    %b = andi %m, %mask : tile<8x8x64xi32>
    %c = reshape %b : tile<8x8x64xi32> -> tile<64x64xi32>
    %d = itof %c signed : tile<64x64xi32> -> tile<64x64xf16>
    %e = broadcast %r : tile<1x64xf16> -> tile<64x64xf16>
    %f = mulf %d, %e : tile<64x64xf16>
    %next = mmaf %x, %f, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %next : tile<64x64xf32>
  }
  %t3 = store_view_tko weak %sum, %to[%i, %j] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<4096x4096xf32, strides=[4096,1]>>, tile<i32> -> token
  return
}
entry @by_columns(%a: tile<ptr<f16>>, %w: tile<ptr<i8>>, %s: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [4096, 1024], strides = [1024, 1] : tensor_view<4096x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<4096x1024xf16, strides=[1024,1]>>
  %pw = assume div_by<16>, %w : tile<ptr<i8>>
  %vw = make_tensor_view %pw, shape = [4096, 1024], strides = [1024, 1] : tensor_view<4096x1024xi8, strides=[1024,1]>
  %tw = make_partition_view %vw : partition_view<tile=(64x64), tensor_view<4096x1024xi8, strides=[1024,1]>>
  %ps = assume div_by<16>, %s : tile<ptr<f16>>
  %vs = make_tensor_view %ps, shape = [4096, 16], strides = [16, 1] : tensor_view<4096x16xf16, strides=[16,1]>
  %ts = make_partition_view %vs : partition_view<tile=(64x1), tensor_view<4096x16xf16, strides=[16,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [4096, 4096], strides = [4096, 1] : tensor_view<4096x4096xf32, strides=[4096,1]>
  %to = make_partition_view %vo : partition_view<tile=(64x64), tensor_view<4096x4096xf32, strides=[4096,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %x, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x64), tensor_view<4096x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %q, %t1 = load_view_tko weak %tw[%j, %k] : partition_view<tile=(64x64), tensor_view<4096x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<64x64xi8>, token
    %r, %t2 = load_view_tko weak %ts[%j, %k] : partition_view<tile=(64x1), tensor_view<4096x16xf16, strides=[16,1]>>, tile<i32> -> tile<64x1xf16>, token
    %d = itof %q signed : tile<64x64xi8> -> tile<64x64xf16>
    %e = broadcast %r : tile<64x1xf16> -> tile<64x64xf16>
    %f = mulf %d, %e : tile<64x64xf16>
    %g = permute %f [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %next = mmaf %x, %g, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %next : tile<64x64xf32>
  }
  %t3 = store_view_tko weak %sum, %to[%i, %j] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<4096x4096xf32, strides=[4096,1]>>, tile<i32> -> token
  return
}
