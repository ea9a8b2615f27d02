// A product of 256 by 256 with decays between rows and columns, as of a chunk of a state-space model: sums along the chunk serve
// rows and columns, and what the second matmul multiplies by is added to its rows. Rows are cut: each strip takes its part of
// the sums, and loads the rows that are added by themselves.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: in strips | one load | num_warps | "cuda_tile.for" | _load" | "cuda_tile.scan" | extract | tiled_store | .dot"
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %x: tile<ptr<f16>>, %d: tile<ptr<f32>>, %c: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x256), tensor_view<64x1024xf16, strides=[1024,1]>>
  %px = assume div_by<16>, %x : tile<ptr<f16>>
  %vx = make_tensor_view %px, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %tx = make_partition_view %vx : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f32>>
  %vd = make_tensor_view %pd, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %td = make_partition_view %vd : partition_view<tile=(256), tensor_view<1024xf32, strides=[1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<256x256xf32>
  %l, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<256x64xf16>, token
  %r, %t1 = load_view_tko weak %tb[%c0, %i] : partition_view<tile=(64x256), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
  %w, %t2 = load_view_tko weak %tx[%i, %c0] : partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<256x64xf16>, token
  %g, %t3 = load_view_tko weak %td[%i] : partition_view<tile=(256), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> tile<256xf32>, token
  %sums = scan %g dim=0 reverse=false identities=[0.0 : f32] : tile<256xf32> -> tile<256xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %pq = addf %p, %q : tile<f32>
    yield %pq : tile<f32>
  }
  %rows = reshape %sums : tile<256xf32> -> tile<256x1xf32>
  %columns = reshape %sums : tile<256xf32> -> tile<1x256xf32>
  %wide = broadcast %rows : tile<256x1xf32> -> tile<256x256xf32>
  %high = broadcast %columns : tile<1x256xf32> -> tile<256x256xf32>
  %between = subf %wide, %high : tile<256x256xf32>
  %decay = exp2 %between : tile<256x256xf32>
  %s = mmaf %l, %r, %zero : tile<256x64xf16>, tile<64x256xf16>, tile<256x256xf32>
  %u = mulf %s, %decay : tile<256x256xf32>
  %h = ftof %u : tile<256x256xf32> -> tile<256x256xf16>
  %own = ftof %w : tile<256x64xf16> -> tile<256x64xf32>
  %y = mmaf %h, %w, %own : tile<256x256xf16>, tile<256x64xf16>, tile<256x64xf32>
  %o = ftof %y : tile<256x64xf32> -> tile<256x64xf16>
  %t4 = store_view_tko weak %o, %tc[%i, %c0] : tile<256x64xf16>, partition_view<tile=(256x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> token
  return
}
