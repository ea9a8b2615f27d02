// A left operand of 32 rows, which all warps read whole: computing it takes more than a thread repeats of what others hold, so each
// element is computed once and handed around through shared memory. One conversion to f16 more or less is repeated.
// run: explain --gpu-name sm_80
// show: conversion | kernel k
entry @k_decayed(%a: tile<ptr<f32>>, %d: tile<ptr<f32>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(32x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f32>>
  %vd = make_tensor_view %pd, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %td = make_partition_view %vd : partition_view<tile=(32x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(32x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<32x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<32x128xf32>) {
    %x, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(32x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<32x64xf32>, token
    %y, %t1 = load_view_tko weak %td[%i, %k] : partition_view<tile=(32x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<32x64xf32>, token
    %r, %t2 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
    %e = exp %y : tile<32x64xf32>
    %w = mulf %x, %e : tile<32x64xf32>
    %l = ftof %w : tile<32x64xf32> -> tile<32x64xf16>
    %s = mmaf %l, %r, %acc : tile<32x64xf16>, tile<64x128xf16>, tile<32x128xf32>
    continue %s : tile<32x128xf32>
  }
  %t3 = store_view_tko weak %sum, %tc[%i, %j] : tile<32x128xf32>, partition_view<tile=(32x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @k_narrowed(%a: tile<ptr<f32>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x32), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %x, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x32), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<64x32xf32>, token
    %r, %t2 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(32x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<32x64xf16>, token
    %l = ftof %x : tile<64x32xf32> -> tile<64x32xf16>
    %s = mmaf %l, %r, %acc : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t3 = store_view_tko weak %sum, %tc[%i, %j] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
