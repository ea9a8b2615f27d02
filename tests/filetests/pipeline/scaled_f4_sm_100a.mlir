// Scaled 4-bit floats on sm_100a, the scales packed in the order of tensor memory: operands and scales are multiplied
// where tensor copies bring them, so that the loop only multiplies.
// run: explain --gpu-name sm_100a
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: pipeline of | warp roles | no tensor | no block | no tcgen05 | kernel k | tensor_dot | alloc_tensor_memory | shared_view | local_store | unpack | .dot"
entry @k(%a: tile<ptr<i8>>, %x: tile<ptr<f8E4M3FN>>, %b: tile<ptr<i8>>, %y: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<i8>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xi8, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x128), tensor_view<1024x1024xi8, strides=[1024,1]>>
  %px = assume div_by<16>, %x : tile<ptr<f8E4M3FN>>
  %vx = make_tensor_view %px, shape = [8, 32, 32, 16], strides = [16384, 512, 16, 1] : tensor_view<8x32x32x16xf8E4M3FN, strides=[16384,512,16,1]>
  %tx = make_partition_view %vx : partition_view<tile=(1x4x32x16), tensor_view<8x32x32x16xf8E4M3FN, strides=[16384,512,16,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<i8>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xi8, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(256x128), tensor_view<1024x1024xi8, strides=[1024,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f8E4M3FN>>
  %vy = make_tensor_view %py, shape = [8, 32, 32, 16], strides = [16384, 512, 16, 1] : tensor_view<8x32x32x16xf8E4M3FN, strides=[16384,512,16,1]>
  %ty = make_partition_view %vy : partition_view<tile=(2x4x32x16), tensor_view<8x32x32x16xf8E4M3FN, strides=[16384,512,16,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x256), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x256xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x256xf32>) {
    %l0, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x128), tensor_view<1024x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<128x128xi8>, token
    %r0, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(256x128), tensor_view<1024x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<256x128xi8>, token
    %l01 = reshape %l0 : tile<128x128xi8> -> tile<16384xi8>
    %l02 = unpack %l01 : tile<16384xi8> -> tile<32768xf4E2M1FN>
    %l = reshape %l02 : tile<32768xf4E2M1FN> -> tile<128x256xf4E2M1FN>
    %r01 = reshape %r0 : tile<256x128xi8> -> tile<32768xi8>
    %r02 = unpack %r01 : tile<32768xi8> -> tile<65536xf4E2M1FN>
    %rt = reshape %r02 : tile<65536xf4E2M1FN> -> tile<256x256xf4E2M1FN>
    %xs0, %t2 = load_view_tko weak %tx[%i, %k, %c0, %c0] : partition_view<tile=(1x4x32x16), tensor_view<8x32x32x16xf8E4M3FN, strides=[16384,512,16,1]>>, tile<i32> -> tile<1x4x32x16xf8E4M3FN>, token
    %xs1 = reshape %xs0 : tile<1x4x32x16xf8E4M3FN> -> tile<1x4x32x4x4xf8E4M3FN>
    %xs2 = permute %xs1 [0, 3, 2, 1, 4] : tile<1x4x32x4x4xf8E4M3FN> -> tile<1x4x32x4x4xf8E4M3FN>
    %xs = reshape %xs2 : tile<1x4x32x4x4xf8E4M3FN> -> tile<128x16xf8E4M3FN>
    %yt0, %t3 = load_view_tko weak %ty[%j, %k, %c0, %c0] : partition_view<tile=(2x4x32x16), tensor_view<8x32x32x16xf8E4M3FN, strides=[16384,512,16,1]>>, tile<i32> -> tile<2x4x32x16xf8E4M3FN>, token
    %yt1 = reshape %yt0 : tile<2x4x32x16xf8E4M3FN> -> tile<2x4x32x4x4xf8E4M3FN>
    %yt2 = permute %yt1 [0, 3, 2, 1, 4] : tile<2x4x32x4x4xf8E4M3FN> -> tile<2x4x32x4x4xf8E4M3FN>
    %yt = reshape %yt2 : tile<2x4x32x4x4xf8E4M3FN> -> tile<256x16xf8E4M3FN>
    %r = permute %rt [1, 0] : tile<256x256xf4E2M1FN> -> tile<256x256xf4E2M1FN>
    %ys = permute %yt [1, 0] : tile<256x16xf8E4M3FN> -> tile<16x256xf8E4M3FN>
    %s = mmaf_scaled %l, %r, %acc, %xs, %ys : tile<128x256xf4E2M1FN>, tile<256x256xf4E2M1FN>, tile<128x256xf32>, tile<128x16xf8E4M3FN>, tile<16x256xf8E4M3FN>
    continue %s : tile<128x256xf32>
  }
  %t4 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x256xf32>, partition_view<tile=(128x256), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
