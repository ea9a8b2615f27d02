// Behind a matmul whose sums are in tensor memory, a loop adds up tiles of that size: it works on them in strips. What it
// loads waits for what the block has stored, in front of the loop over the strips.
// run: compile --emit nv_tileas --gpu-name sm_100a
// run: explain --gpu-name sm_100a
// show: "nv_tileas.tensor_load | "cuda_tile.for" | tiled_ | work in strips | epilogue in parts
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %w: tile<ptr<f32>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pw = assume div_by<16>, %w : tile<ptr<f32>>
  %vw = make_tensor_view %pw, shape = [4, 256, 256], strides = [65792, 257, 1] : tensor_view<4x256x256xf32, strides=[65792,257,1]>
  %tw = make_partition_view %vw : partition_view<tile=(1x256x256), tensor_view<4x256x256xf32, strides=[65792,257,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [256, 256], strides = [257, 1] : tensor_view<256x256xf32, strides=[257,1]>
  %tc = make_partition_view %vc : partition_view<tile=(256x256), tensor_view<256x256xf32, strides=[257,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c4 = constant <i32: 4> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<256x256xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<256x256xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<256x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
    %s = mmaf %l, %r, %acc : tile<256x64xf16>, tile<64x256xf16>, tile<256x256xf32>
    continue %s : tile<256x256xf32>
  }
  %own = reshape %sum : tile<256x256xf32> -> tile<1x256x256xf32>
  %t2 = store_view_tko weak %own, %tw[%i, %c0, %c0] : tile<1x256x256xf32>, partition_view<tile=(1x256x256), tensor_view<4x256x256xf32, strides=[65792,257,1]>>, tile<i32> -> token
  %all = for %p in (%c0 to %c4, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<256x256xf32>) {
    %x, %t3 = load_view_tko weak %tw[%p, %c0, %c0] token=%t2 : partition_view<tile=(1x256x256), tensor_view<4x256x256xf32, strides=[65792,257,1]>>, tile<i32> -> tile<1x256x256xf32>, token
    %y = reshape %x : tile<1x256x256xf32> -> tile<256x256xf32>
    %s = addf %acc, %y rounding<nearest_even> : tile<256x256xf32>
    continue %s : tile<256x256xf32>
  }
  %t4 = store_view_tko weak %all, %tc[%c0, %c0] : tile<256x256xf32>, partition_view<tile=(256x256), tensor_view<256x256xf32, strides=[257,1]>>, tile<i32> -> token
  return
}
