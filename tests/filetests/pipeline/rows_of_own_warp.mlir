// Chained matmuls of 64 rows with a number for each row beside their sums: four warps have 16 rows each, and what one computes
// of its rows stays in its registers. Where their tiles would fill the registers of four warps, or the next tiles wait there,
// eight share out the columns, too.
// run: explain --gpu-name sm_80
// run: explain --gpu-name sm_120a
// run: explain --gpu-name sm_75
// show: kernel | reqntid
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 128], strides = [128, 1] : tensor_view<1024x128xf16, strides=[128,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x128), tensor_view<1024x128xf16, strides=[128,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 128], strides = [128, 1] : tensor_view<1024x128xf16, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x128xf16, strides=[128,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 128], strides = [128, 1] : tensor_view<1024x128xf32, strides=[128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x128), tensor_view<1024x128xf32, strides=[128,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x128xf32>
  %none = constant <f32: 0.0> : tile<64x64xf32>
  %low = constant <f32: 0.0> : tile<64xf32>
  %q, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(64x128), tensor_view<1024x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
  %sum, %top = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero, %old = %low) -> (tile<64x128xf32>, tile<64xf32>) {
    %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(64x128), tensor_view<1024x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
    %rt = permute %r [1, 0] : tile<64x128xf16> -> tile<128x64xf16>
    %s = mmaf %q, %rt, %none : tile<64x128xf16>, tile<128x64xf16>, tile<64x64xf32>
    %most = reduce %s dim=1 identities=[0.0 : f32] : tile<64x64xf32> -> tile<64xf32> (%x : tile<f32>, %y : tile<f32>) {
      %xy = maxf %x, %y : tile<f32>
      yield %xy : tile<f32>
    }
    %new = maxf %most, %old : tile<64xf32>
    %col = reshape %new : tile<64xf32> -> tile<64x1xf32>
    %all = broadcast %col : tile<64x1xf32> -> tile<64x64xf32>
    %diff = subf %s, %all rounding<nearest_even> : tile<64x64xf32>
    %p = ftof %diff rounding<nearest_even> : tile<64x64xf32> -> tile<64x64xf16>
    %o = mmaf %p, %r, %acc : tile<64x64xf16>, tile<64x128xf16>, tile<64x128xf32>
    continue %o, %new : tile<64x128xf32>, tile<64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %c0] : tile<64x128xf32>, partition_view<tile=(64x128), tensor_view<1024x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
entry @deep(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 256], strides = [256, 1] : tensor_view<1024x256xf16, strides=[256,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x256), tensor_view<1024x256xf16, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 256], strides = [256, 1] : tensor_view<1024x256xf16, strides=[256,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x256), tensor_view<1024x256xf16, strides=[256,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 256], strides = [256, 1] : tensor_view<1024x256xf32, strides=[256,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x256), tensor_view<1024x256xf32, strides=[256,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x256xf32>
  %none = constant <f32: 0.0> : tile<64x64xf32>
  %low = constant <f32: 0.0> : tile<64xf32>
  %q, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(64x256), tensor_view<1024x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x256xf16>, token
  %sum, %top = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero, %old = %low) -> (tile<64x256xf32>, tile<64xf32>) {
    %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(64x256), tensor_view<1024x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x256xf16>, token
    %rt = permute %r [1, 0] : tile<64x256xf16> -> tile<256x64xf16>
    %s = mmaf %q, %rt, %none : tile<64x256xf16>, tile<256x64xf16>, tile<64x64xf32>
    %most = reduce %s dim=1 identities=[0.0 : f32] : tile<64x64xf32> -> tile<64xf32> (%x : tile<f32>, %y : tile<f32>) {
      %xy = maxf %x, %y : tile<f32>
      yield %xy : tile<f32>
    }
    %new = maxf %most, %old : tile<64xf32>
    %col = reshape %new : tile<64xf32> -> tile<64x1xf32>
    %all = broadcast %col : tile<64x1xf32> -> tile<64x64xf32>
    %diff = subf %s, %all rounding<nearest_even> : tile<64x64xf32>
    %p = ftof %diff rounding<nearest_even> : tile<64x64xf32> -> tile<64x64xf16>
    %o = mmaf %p, %r, %acc : tile<64x64xf16>, tile<64x256xf16>, tile<64x256xf32>
    continue %o, %new : tile<64x256xf32>, tile<64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %c0] : tile<64x256xf32>, partition_view<tile=(64x256), tensor_view<1024x256xf32, strides=[256,1]>>, tile<i32> -> token
  return
}
