// A tile that is added to a matmul's result is loaded in runs of 16 bytes and brought into the matmul's layout by each warp
// for itself: no barrier of the block stands between the stores to shared memory and the loads from it.
// run: compile --gpu-name sm_90a
// run: compile --gpu-name sm_80
// show: ld.global | st.shared | stmatrix | ldmatrix | bar.
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
    %s = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %x, %t3 = load_view_tko weak %tc[%i, %j] : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x128xf16>, token
  %old = ftof %x : tile<128x128xf16> -> tile<128x128xf32>
  %both = addf %sum, %old rounding<nearest_even> : tile<128x128xf32>
  %new = ftof %both : tile<128x128xf32> -> tile<128x128xf16>
  %t2 = store_view_tko weak %new, %tc[%i, %j] token = %t3 : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  return
}
