// Operands that are converted on the way: the left one is read from shared memory as the matmul holds it, in pairs along
// K; the right one is turned between two buffers. Nothing is converted between layouts in the loop, but on sm_80, where
// rounding to tf32 takes six instructions, each element of the right one is rounded by one warp.
// run: compile --emit nv_tileas --gpu-name sm_90a
// run: compile --emit ptx --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_80
// show: convert_layout | local_load | local_store | .dot" | permute | ldmatrix | ld.shared | st.shared | stmatrix
entry @k(%a: tile<ptr<bf16>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<bf16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xbf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x1024xbf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x32), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x32), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x32xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x32xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x64), tensor_view<1024x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xbf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x32), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<64x32xf32>, token
    %lt = ftof %l : tile<64x64xbf16> -> tile<64x64xtf32>
    %rt = ftof %r : tile<64x32xf32> -> tile<64x32xtf32>
    %s = mmaf %lt, %rt, %acc : tile<64x64xtf32>, tile<64x32xtf32>, tile<64x32xf32>
    continue %s : tile<64x32xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<64x32xf32>, partition_view<tile=(64x32), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
