// No instruction takes scales of fnv8E5M3FNU. Targets without block scaling give no reason.
// run: explain --gpu-name sm_120a
// run: explain --gpu-name sm_90a
// show: no block | kernel k | .scaled_dot | .dot"
entry @k(%a: tile<ptr<i8>>, %x: tile<ptr<fnv8E5M3FNU>>, %b: tile<ptr<i8>>, %y: tile<ptr<fnv8E5M3FNU>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<i8>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xi8, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x1024xi8, strides=[1024,1]>>
  %px = assume div_by<16>, %x : tile<ptr<fnv8E5M3FNU>>
  %vx = make_tensor_view %px, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xfnv8E5M3FNU, strides=[64,1]>
  %tx = make_partition_view %vx : partition_view<tile=(64x8), tensor_view<1024x64xfnv8E5M3FNU, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<i8>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xi8, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x1024xi8, strides=[1024,1]>>
  %py = assume div_by<16>, %y : tile<ptr<fnv8E5M3FNU>>
  %vy = make_tensor_view %py, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xfnv8E5M3FNU, strides=[64,1]>
  %ty = make_partition_view %vy : partition_view<tile=(64x8), tensor_view<1024x64xfnv8E5M3FNU, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l0, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x64), tensor_view<1024x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<64x64xi8>, token
    %r0, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(64x64), tensor_view<1024x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<64x64xi8>, token
    %xs, %t2 = load_view_tko weak %tx[%i, %k] : partition_view<tile=(64x8), tensor_view<1024x64xfnv8E5M3FNU, strides=[64,1]>>, tile<i32> -> tile<64x8xfnv8E5M3FNU>, token
    %yt, %t3 = load_view_tko weak %ty[%j, %k] : partition_view<tile=(64x8), tensor_view<1024x64xfnv8E5M3FNU, strides=[64,1]>>, tile<i32> -> tile<64x8xfnv8E5M3FNU>, token
    %l01 = reshape %l0 : tile<64x64xi8> -> tile<4096xi8>
    %l02 = unpack %l01 : tile<4096xi8> -> tile<8192xf4E2M1FN>
    %l = reshape %l02 : tile<8192xf4E2M1FN> -> tile<64x128xf4E2M1FN>
    %r01 = reshape %r0 : tile<64x64xi8> -> tile<4096xi8>
    %r02 = unpack %r01 : tile<4096xi8> -> tile<8192xf4E2M1FN>
    %rt = reshape %r02 : tile<8192xf4E2M1FN> -> tile<64x128xf4E2M1FN>
    %r = permute %rt [1, 0] : tile<64x128xf4E2M1FN> -> tile<128x64xf4E2M1FN>
    %ys = permute %yt [1, 0] : tile<64x8xfnv8E5M3FNU> -> tile<8x64xfnv8E5M3FNU>
    %s = mmaf_scaled %l, %r, %acc, %xs, %ys : tile<64x128xf4E2M1FN>, tile<128x64xf4E2M1FN>, tile<64x64xf32>, tile<64x8xfnv8E5M3FNU>, tile<8x64xfnv8E5M3FNU>
    continue %s : tile<64x64xf32>
  }
  %t4 = store_view_tko weak %sum, %tc[%i, %j] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
