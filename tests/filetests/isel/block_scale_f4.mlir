// Four scales of f8E4M3FN for each row: all of a register's bytes, of a pair of threads (A) or of one (B).
// run: compile --gpu-name sm_120f
// show: mma.sync | .version
entry @k(%a: tile<ptr<i8>>, %x: tile<ptr<f8E4M3FN>>, %b: tile<ptr<i8>>, %y: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<i8>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xi8, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(32x64), tensor_view<1024x1024xi8, strides=[1024,1]>>
  %px = assume div_by<16>, %x : tile<ptr<f8E4M3FN>>
  %vx = make_tensor_view %px, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf8E4M3FN, strides=[64,1]>
  %tx = make_partition_view %vx : partition_view<tile=(32x8), tensor_view<1024x64xf8E4M3FN, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<i8>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xi8, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x64), tensor_view<1024x1024xi8, strides=[1024,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f8E4M3FN>>
  %vy = make_tensor_view %py, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf8E4M3FN, strides=[64,1]>
  %ty = make_partition_view %vy : partition_view<tile=(32x8), tensor_view<1024x64xf8E4M3FN, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(32x32), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<32x32xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<32x32xf32>) {
    %l0, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(32x64), tensor_view<1024x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<32x64xi8>, token
    %r0, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(32x64), tensor_view<1024x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<32x64xi8>, token
    %xs, %t2 = load_view_tko weak %tx[%i, %k] : partition_view<tile=(32x8), tensor_view<1024x64xf8E4M3FN, strides=[64,1]>>, tile<i32> -> tile<32x8xf8E4M3FN>, token
    %yt, %t3 = load_view_tko weak %ty[%j, %k] : partition_view<tile=(32x8), tensor_view<1024x64xf8E4M3FN, strides=[64,1]>>, tile<i32> -> tile<32x8xf8E4M3FN>, token
    %l01 = reshape %l0 : tile<32x64xi8> -> tile<2048xi8>
    %l02 = unpack %l01 : tile<2048xi8> -> tile<4096xf4E2M1FN>
    %l = reshape %l02 : tile<4096xf4E2M1FN> -> tile<32x128xf4E2M1FN>
    %r01 = reshape %r0 : tile<32x64xi8> -> tile<2048xi8>
    %r02 = unpack %r01 : tile<2048xi8> -> tile<4096xf4E2M1FN>
    %rt = reshape %r02 : tile<4096xf4E2M1FN> -> tile<32x128xf4E2M1FN>
    %r = permute %rt [1, 0] : tile<32x128xf4E2M1FN> -> tile<128x32xf4E2M1FN>
    %ys = permute %yt [1, 0] : tile<32x8xf8E4M3FN> -> tile<8x32xf8E4M3FN>
    %s = mmaf_scaled %l, %r, %acc, %xs, %ys : tile<32x128xf4E2M1FN>, tile<128x32xf4E2M1FN>, tile<32x32xf32>, tile<32x8xf8E4M3FN>, tile<8x32xf8E4M3FN>
    continue %s : tile<32x32xf32>
  }
  %t4 = store_view_tko weak %sum, %tc[%i, %j] : tile<32x32xf32>, partition_view<tile=(32x32), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
