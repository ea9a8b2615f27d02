// Small tiles are work for few warps: one where each of its threads has as much of a row as one access reads, 16 bytes,
// which it reduces without a barrier; two for a row of twice that. What a loop loads runs ahead beside four.
// run: compile --emit nv_tileas --gpu-name sm_80
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: num_warps
entry @narrow_row(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf16, strides=[256,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x256), tensor_view<128x256xf16, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf16, strides=[256,1]>
  %tb = make_partition_view %vb : partition_view<tile=(1x256), tensor_view<128x256xf16, strides=[256,1]>>
  %zero = constant <i32: 0> : tile<i32>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%i, %zero] : partition_view<tile=(1x256), tensor_view<128x256xf16, strides=[256,1]>>, tile<i32> -> tile<1x256xf16>, token
  %s = reduce %x dim=1 identities=[0.000000e+00 : f16] : tile<1x256xf16> -> tile<1xf16>
  (%p: tile<f16>, %q: tile<f16>) {
    %m = addf %p, %q : tile<f16>
    yield %m : tile<f16>
  }
  %s1 = reshape %s : tile<1xf16> -> tile<1x1xf16>
  %s2 = broadcast %s1 : tile<1x1xf16> -> tile<1x256xf16>
  %d = mulf %x, %s2 : tile<1x256xf16>
  %t1 = store_view_tko weak %d, %tb[%i, %zero] : tile<1x256xf16>, partition_view<tile=(1x256), tensor_view<128x256xf16, strides=[256,1]>>, tile<i32> -> token
  return
}
entry @wide_row(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf32, strides=[256,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x256), tensor_view<128x256xf32, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf32, strides=[256,1]>
  %tb = make_partition_view %vb : partition_view<tile=(1x256), tensor_view<128x256xf32, strides=[256,1]>>
  %zero = constant <i32: 0> : tile<i32>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%i, %zero] : partition_view<tile=(1x256), tensor_view<128x256xf32, strides=[256,1]>>, tile<i32> -> tile<1x256xf32>, token
  %s = reduce %x dim=1 identities=[0.000000e+00 : f32] : tile<1x256xf32> -> tile<1xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %m = addf %p, %q : tile<f32>
    yield %m : tile<f32>
  }
  %s1 = reshape %s : tile<1xf32> -> tile<1x1xf32>
  %s2 = broadcast %s1 : tile<1x1xf32> -> tile<1x256xf32>
  %d = mulf %x, %s2 : tile<1x256xf32>
  %t1 = store_view_tko weak %d, %tb[%i, %zero] : tile<1x256xf32>, partition_view<tile=(1x256), tensor_view<128x256xf32, strides=[256,1]>>, tile<i32> -> token
  return
}
entry @long_row(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [128, 512], strides = [512, 1] : tensor_view<128x512xf32, strides=[512,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x512), tensor_view<128x512xf32, strides=[512,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [128, 512], strides = [512, 1] : tensor_view<128x512xf32, strides=[512,1]>
  %tb = make_partition_view %vb : partition_view<tile=(1x512), tensor_view<128x512xf32, strides=[512,1]>>
  %zero = constant <i32: 0> : tile<i32>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%i, %zero] : partition_view<tile=(1x512), tensor_view<128x512xf32, strides=[512,1]>>, tile<i32> -> tile<1x512xf32>, token
  %s = reduce %x dim=1 identities=[0.000000e+00 : f32] : tile<1x512xf32> -> tile<1xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %m = addf %p, %q : tile<f32>
    yield %m : tile<f32>
  }
  %s1 = reshape %s : tile<1xf32> -> tile<1x1xf32>
  %s2 = broadcast %s1 : tile<1x1xf32> -> tile<1x512xf32>
  %d = mulf %x, %s2 : tile<1x512xf32>
  %t1 = store_view_tko weak %d, %tb[%i, %zero] : tile<1x512xf32>, partition_view<tile=(1x512), tensor_view<128x512xf32, strides=[512,1]>>, tile<i32> -> token
  return
}
entry @rows_in_a_loop(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x128), tensor_view<128x128xf32, strides=[128,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(1x128), tensor_view<128x128xf32, strides=[128,1]>>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %none = constant <f32: 0.0> : tile<1x128xf32>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %sum = for %k in (%zero to %n, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<1x128xf32>) {
    %x, %t0 = load_view_tko weak %ta[%k, %zero] : partition_view<tile=(1x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> tile<1x128xf32>, token
    %m = addf %acc, %x : tile<1x128xf32>
    continue %m : tile<1x128xf32>
  }
  %t1 = store_view_tko weak %sum, %tb[%i, %zero] : tile<1x128xf32>, partition_view<tile=(1x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
