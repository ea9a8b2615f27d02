// An accumulator of 256 columns goes to two tensors by tensor copies, which share bytes of shared memory: the second is stored
// when the first has been copied. It is loaded from tensor memory again for that, and neither is held as a whole.
// run: compile --emit nv_tileas --gpu-name sm_100a
// run: explain --gpu-name sm_100a
// show: "nv_tileas.tensor_load | "cuda_tile.for" | local_store | tma_store | store_wait | epilogue in parts
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %y: tile<ptr<f32>>, %c: tile<ptr<f16>>, %d: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f32>>
  %vy = make_tensor_view %py, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %ty = make_partition_view %vy : partition_view<tile=(256), tensor_view<1024xf32, strides=[1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(256x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f16>>
  %vd = make_tensor_view %pd, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %td = make_partition_view %vd : partition_view<tile=(256x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<256x256xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<256x256xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<256x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x256xf16>, token
    %s = mmaf %l, %r, %acc : tile<256x64xf16>, tile<64x256xf16>, tile<256x256xf32>
    continue %s : tile<256x256xf32>
  }
  %bias, %t2 = load_view_tko weak %ty[%j] : partition_view<tile=(256), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> tile<256xf32>, token
  %row = reshape %bias : tile<256xf32> -> tile<1x256xf32>
  %rows = broadcast %row : tile<1x256xf32> -> tile<256x256xf32>
  %u = addf %sum, %rows rounding<nearest_even> : tile<256x256xf32>
  %half = ftof %u rounding<nearest_even> : tile<256x256xf32> -> tile<256x256xf16>
  %t3 = store_view_tko weak %half, %tc[%i, %j] : tile<256x256xf16>, partition_view<tile=(256x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  %m = mulf %u, %u rounding<nearest_even> : tile<256x256xf32>
  %half2 = ftof %m rounding<nearest_even> : tile<256x256xf32> -> tile<256x256xf16>
  %t4 = store_view_tko weak %half2, %td[%i, %j] : tile<256x256xf16>, partition_view<tile=(256x256), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  return
}
