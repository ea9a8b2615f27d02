// Halves of the columns of a result are stored one by one, and multiplied by each other: the blocks of a cluster share out the
// rows, of which a slice has as many as the whole. In tensor memory, warps load each half as such.
// run: explain --gpu-name sm_90a
// run: explain --gpu-name sm_100a
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: cluster | kernel k | warp roles | extract | tensor_load
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %d: tile<ptr<f16>>) optimization_hints=<default = {num_cta_in_cga = 2}> {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x256), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(256x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f16>>
  %vd = make_tensor_view %pd, shape = [1024, 512], strides = [512, 1] : tensor_view<1024x512xf16, strides=[512,1]>
  %td = make_partition_view %vd : partition_view<tile=(256x128), tensor_view<1024x512xf16, strides=[512,1]>>
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
  %left = extract %sum[%c0, %c0] : tile<256x256xf32> -> tile<256x128xf32>
  %right = extract %sum[%c0, %c1] : tile<256x256xf32> -> tile<256x128xf32>
  %left16 = ftof %left : tile<256x128xf32> -> tile<256x128xf16>
  %right16 = ftof %right : tile<256x128xf32> -> tile<256x128xf16>
  %two = constant <i32: 2> : tile<i32>
  %j0 = muli %j, %two : tile<i32>
  %j1 = addi %j0, %c1 : tile<i32>
  %t2 = store_view_tko weak %left16, %tc[%i, %j0] : tile<256x128xf16>, partition_view<tile=(256x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  %t3 = store_view_tko weak %right16, %tc[%i, %j1] : tile<256x128xf16>, partition_view<tile=(256x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  %gated = mulf %left16, %right16 rounding<nearest_even> : tile<256x128xf16>
  %t4 = store_view_tko weak %gated, %td[%i, %j] : tile<256x128xf16>, partition_view<tile=(256x128), tensor_view<1024x512xf16, strides=[512,1]>>, tile<i32> -> token
  return
}
