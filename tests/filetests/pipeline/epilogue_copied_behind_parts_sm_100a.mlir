// A result is stored, and the sums and the largest of its columns are. All three have the columns, which are worked on in parts;
// the copy of the result to global memory, which a part must not start, stands behind the loop.
// run: compile --emit nv_tileas --gpu-name sm_100a
// run: explain --gpu-name sm_100a
// show: tensor_load | cuda_tile.for | cuda_tile.reduce" | tiled_store | local_store | tma_store | "cuda_tile.continue" | in parts
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %s: tile<ptr<f32>>, %h: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(256x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %ps = assume div_by<16>, %s : tile<ptr<f32>>
  %vs = make_tensor_view %ps, shape = [4, 1024], strides = [1024, 1] : tensor_view<4x1024xf32, strides=[1024,1]>
  %ts = make_partition_view %vs : partition_view<tile=(1x256), tensor_view<4x1024xf32, strides=[1024,1]>>
  %ph = assume div_by<16>, %h : tile<ptr<f32>>
  %vh = make_tensor_view %ph, shape = [4, 1024], strides = [1024, 1] : tensor_view<4x1024xf32, strides=[1024,1]>
  %th = make_partition_view %vh : partition_view<tile=(1x256), tensor_view<4x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<256x256xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<256x256xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<256x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
    %m = mmaf %l, %r, %acc : tile<256x64xf16>, tile<64x256xf16>, tile<256x256xf32>
    continue %m : tile<256x256xf32>
  }
  %half = ftof %sum rounding<nearest_even> : tile<256x256xf32> -> tile<256x256xf16>
  %t2 = store_view_tko weak %half, %tc[%i, %j] : tile<256x256xf16>, partition_view<tile=(256x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  %sums = reduce %sum dim=0 identities=[0.0 : f32] : tile<256x256xf32> -> tile<256xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %r = addf %p, %q : tile<f32>
    yield %r : tile<f32>
  }
  %row = reshape %sums : tile<256xf32> -> tile<1x256xf32>
  %t3 = store_view_tko weak %row, %ts[%i, %j] : tile<1x256xf32>, partition_view<tile=(1x256), tensor_view<4x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  %tops = reduce %sum dim=0 identities=[0xff800000 : f32] : tile<256x256xf32> -> tile<256xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %r = maxf %p, %q : tile<f32>
    yield %r : tile<f32>
  }
  %top = reshape %tops : tile<256xf32> -> tile<1x256xf32>
  %t4 = store_view_tko weak %top, %th[%i, %j] : tile<1x256xf32>, partition_view<tile=(1x256), tensor_view<4x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
