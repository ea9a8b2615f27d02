// Scaled 8-bit floats on sm_90a, whose instructions do not scale: operands are multiplied by their scales in bf16, which has
// room for the products. Warpgroups multiply these, the left operand from registers.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | no wgmma | kernel k | .scaled_dot | .dot" | local_load | local_store | convert_layout
entry @k(%a: tile<ptr<f8E4M3FN>>, %x: tile<ptr<f8E8M0FNU>>, %b: tile<ptr<f8E4M3FN>>, %y: tile<ptr<f8E8M0FNU>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %px = assume div_by<16>, %x : tile<ptr<f8E8M0FNU>>
  %vx = make_tensor_view %px, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf8E8M0FNU, strides=[64,1]>
  %tx = make_partition_view %vx : partition_view<tile=(128x4), tensor_view<1024x64xf8E8M0FNU, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f8E8M0FNU>>
  %vy = make_tensor_view %py, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf8E8M0FNU, strides=[64,1]>
  %ty = make_partition_view %vy : partition_view<tile=(64x4), tensor_view<1024x64xf8E8M0FNU, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x64xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<128x128xf8E4M3FN>, token
    %rt, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(64x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<64x128xf8E4M3FN>, token
    %xs, %t2 = load_view_tko weak %tx[%i, %k] : partition_view<tile=(128x4), tensor_view<1024x64xf8E8M0FNU, strides=[64,1]>>, tile<i32> -> tile<128x4xf8E8M0FNU>, token
    %yt, %t3 = load_view_tko weak %ty[%j, %k] : partition_view<tile=(64x4), tensor_view<1024x64xf8E8M0FNU, strides=[64,1]>>, tile<i32> -> tile<64x4xf8E8M0FNU>, token
    %r = permute %rt [1, 0] : tile<64x128xf8E4M3FN> -> tile<128x64xf8E4M3FN>
    %ys = permute %yt [1, 0] : tile<64x4xf8E8M0FNU> -> tile<4x64xf8E8M0FNU>
    %s = mmaf_scaled %l, %r, %acc, %xs, %ys : tile<128x128xf8E4M3FN>, tile<128x64xf8E4M3FN>, tile<128x64xf32>, tile<128x4xf8E8M0FNU>, tile<4x64xf8E8M0FNU>
    continue %s : tile<128x64xf32>
  }
  %t4 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
