// What a matmul's result is reduced to in a loop keeps the matmul's layout, though it is stored behind the loop: no
// conversion in the loop. So it does where it is stored as a tile of another shape.
// run: compile --emit nv_tileas --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_80
// show: convert_layout | "cuda_tile.for" | tiled_store
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1], strides = [1, 1] : tensor_view<1024x1xf32, strides=[1,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x1), tensor_view<1024x1xf32, strides=[1,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %least = constant <f32: -1.0e30> : tile<64x1xf32>
  %none = constant <f32: 0.0> : tile<64x1xf32>
  %q, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %m:2 = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%old = %least, %sum = %none) -> (tile<64x1xf32>, tile<64x1xf32>) {
    %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %rt = permute %r [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %s = mmaf %q, %rt, %zero : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %rows = reduce %s dim=1 identities=[0xFF800000 : f32] : tile<64x64xf32> -> tile<64xf32>
    (%x: tile<f32>, %y: tile<f32>) {
      %max = maxf %x, %y : tile<f32>
      yield %max : tile<f32>
    }
    %column = reshape %rows : tile<64xf32> -> tile<64x1xf32>
    %new = maxf %old, %column : tile<64x1xf32>
    %wide = broadcast %new : tile<64x1xf32> -> tile<64x64xf32>
    %less = subf %s, %wide : tile<64x64xf32>
    %p = exp2 %less : tile<64x64xf32>
    %sums = reduce %p dim=1 identities=[0x00000000 : f32] : tile<64x64xf32> -> tile<64xf32>
    (%x: tile<f32>, %y: tile<f32>) {
      %add = addf %x, %y : tile<f32>
      yield %add : tile<f32>
    }
    %more = reshape %sums : tile<64xf32> -> tile<64x1xf32>
    %change = subf %old, %new : tile<64x1xf32>
    %factor = exp2 %change : tile<64x1xf32>
    %kept = mulf %sum, %factor : tile<64x1xf32>
    %next = addf %kept, %more : tile<64x1xf32>
    continue %new, %next : tile<64x1xf32>, tile<64x1xf32>
  }
  %log = log2 %m#1 : tile<64x1xf32>
  %lse = addf %m#0, %log : tile<64x1xf32>
  %t2 = store_view_tko weak %lse, %tc[%i, %c0] : tile<64x1xf32>, partition_view<tile=(64x1), tensor_view<1024x1xf32, strides=[1,1]>>, tile<i32> -> token
  return
}
entry @reshaped(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1, 1024], strides = [1024, 1] : tensor_view<1x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(1x64), tensor_view<1x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %least = constant <f32: -1.0e30> : tile<64x1xf32>
  %none = constant <f32: 0.0> : tile<64x1xf32>
  %q, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %m:2 = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%old = %least, %sum = %none) -> (tile<64x1xf32>, tile<64x1xf32>) {
    %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %rt = permute %r [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %s = mmaf %q, %rt, %zero : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %rows = reduce %s dim=1 identities=[0xFF800000 : f32] : tile<64x64xf32> -> tile<64xf32>
    (%x: tile<f32>, %y: tile<f32>) {
      %max = maxf %x, %y : tile<f32>
      yield %max : tile<f32>
    }
    %column = reshape %rows : tile<64xf32> -> tile<64x1xf32>
    %new = maxf %old, %column : tile<64x1xf32>
    %wide = broadcast %new : tile<64x1xf32> -> tile<64x64xf32>
    %less = subf %s, %wide : tile<64x64xf32>
    %p = exp2 %less : tile<64x64xf32>
    %sums = reduce %p dim=1 identities=[0x00000000 : f32] : tile<64x64xf32> -> tile<64xf32>
    (%x: tile<f32>, %y: tile<f32>) {
      %add = addf %x, %y : tile<f32>
      yield %add : tile<f32>
    }
    %more = reshape %sums : tile<64xf32> -> tile<64x1xf32>
    %change = subf %old, %new : tile<64x1xf32>
    %factor = exp2 %change : tile<64x1xf32>
    %kept = mulf %sum, %factor : tile<64x1xf32>
    %next = addf %kept, %more : tile<64x1xf32>
    continue %new, %next : tile<64x1xf32>, tile<64x1xf32>
  }
  %log = log2 %m#1 : tile<64x1xf32>
  %lse = addf %m#0, %log : tile<64x1xf32>
  %row = reshape %lse : tile<64x1xf32> -> tile<1x64xf32>
  %t2 = store_view_tko weak %row, %tc[%c0, %i] : tile<1x64xf32>, partition_view<tile=(1x64), tensor_view<1x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
