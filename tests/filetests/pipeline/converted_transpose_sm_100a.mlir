// The right operand is the transpose of weights that are converted from eight bits. They are stored as their rows lie in
// registers, sixteen bytes at a time, and the instruction reads them with K contiguous; the transpose itself would go to shared
// memory element by element.
// run: compile --emit nv_tileas --gpu-name sm_100a
// run: compile --gpu-name sm_100a
// show: local_store | shared_view | tensor_dot" | "cuda_tile.permute" | st.shared | kernel k
entry @k(%a: tile<ptr<bf16>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<bf16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xbf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x1024xbf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(128x64), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), tensor_view<1024x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xbf16>, token
    %w, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(128x64), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<128x64xf8E4M3FN>, token
    %h = ftof %w : tile<128x64xf8E4M3FN> -> tile<128x64xbf16>
    %r = permute %h [1, 0] : tile<128x64xbf16> -> tile<64x128xbf16>
    %s = mmaf %l, %r, %acc : tile<128x64xbf16>, tile<64x128xbf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
