// Sums of 256 x 256 take all columns of tensor memory, and leave none for the scales of what is multiplied: a loop multiplies
// half of the rows at a time. Scales are cut as they lie in memory, 128 rows together.
// run: explain --gpu-name sm_100a
// show: work in strips | cluster | cta_group | multicast | pipeline of | warp roles | kernel k | no tcgen05 | shared buffer
entry @k(%a: tile<ptr<f8E4M3FN>>, %x: tile<ptr<f8E8M0FNU>>, %b: tile<ptr<f8E4M3FN>>, %y: tile<ptr<f8E8M0FNU>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(256x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %px = assume div_by<16>, %x : tile<ptr<f8E8M0FNU>>
  %vx = make_tensor_view %px, shape = [8, 8, 32, 16], strides = [4096, 512, 16, 1] : tensor_view<8x8x32x16xf8E8M0FNU, strides=[4096,512,16,1]>
  %tx = make_partition_view %vx : partition_view<tile=(2x1x32x16), tensor_view<8x8x32x16xf8E8M0FNU, strides=[4096,512,16,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(256x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f8E8M0FNU>>
  %vy = make_tensor_view %py, shape = [8, 8, 32, 16], strides = [4096, 512, 16, 1] : tensor_view<8x8x32x16xf8E8M0FNU, strides=[4096,512,16,1]>
  %ty = make_partition_view %vy : partition_view<tile=(2x1x32x16), tensor_view<8x8x32x16xf8E8M0FNU, strides=[4096,512,16,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(256x256), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %zero = constant <f32: 0.0> : tile<256x256xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<256x256xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(256x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<256x128xf8E4M3FN>, token
    %rt, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(256x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<256x128xf8E4M3FN>, token
    %xs0, %t2 = load_view_tko weak %tx[%i, %k, %c0, %c0] : partition_view<tile=(2x1x32x16), tensor_view<8x8x32x16xf8E8M0FNU, strides=[4096,512,16,1]>>, tile<i32> -> tile<2x1x32x16xf8E8M0FNU>, token
    %xs1 = reshape %xs0 : tile<2x1x32x16xf8E8M0FNU> -> tile<2x1x32x4x4xf8E8M0FNU>
    %xs2 = permute %xs1 [0, 3, 2, 1, 4] : tile<2x1x32x4x4xf8E8M0FNU> -> tile<2x4x32x1x4xf8E8M0FNU>
    %xs = reshape %xs2 : tile<2x4x32x1x4xf8E8M0FNU> -> tile<256x4xf8E8M0FNU>
    %yt0, %t3 = load_view_tko weak %ty[%j, %k, %c0, %c0] : partition_view<tile=(2x1x32x16), tensor_view<8x8x32x16xf8E8M0FNU, strides=[4096,512,16,1]>>, tile<i32> -> tile<2x1x32x16xf8E8M0FNU>, token
    %yt1 = reshape %yt0 : tile<2x1x32x16xf8E8M0FNU> -> tile<2x1x32x4x4xf8E8M0FNU>
    %yt2 = permute %yt1 [0, 3, 2, 1, 4] : tile<2x1x32x4x4xf8E8M0FNU> -> tile<2x4x32x1x4xf8E8M0FNU>
    %yt = reshape %yt2 : tile<2x4x32x1x4xf8E8M0FNU> -> tile<256x4xf8E8M0FNU>
    %r = permute %rt [1, 0] : tile<256x128xf8E4M3FN> -> tile<128x256xf8E4M3FN>
    %ys = permute %yt [1, 0] : tile<256x4xf8E8M0FNU> -> tile<4x256xf8E8M0FNU>
    %s = mmaf_scaled %l, %r, %acc, %xs, %ys : tile<256x128xf8E4M3FN>, tile<128x256xf8E4M3FN>, tile<256x256xf32>, tile<256x4xf8E8M0FNU>, tile<4x256xf8E8M0FNU>
    continue %s : tile<256x256xf32>
  }
  %t4 = store_view_tko weak %sum, %tc[%i, %j] : tile<256x256xf32>, partition_view<tile=(256x256), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
