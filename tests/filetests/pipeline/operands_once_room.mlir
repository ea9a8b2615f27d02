// Batches that are added up take scratch memory for a whole tile, which has no room beside operands in buffers of their own.
// run: explain --gpu-name sm_120a
// show: kernel k | tensor copies | launch of | scratch
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 64, 64], strides = [4096, 64, 1] : tensor_view<64x64x64xf16, strides=[4096,64,1]>
  %ta = make_partition_view %va : partition_view<tile=(4x64x64), tensor_view<64x64x64xf16, strides=[4096,64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 64, 64], strides = [4096, 64, 1] : tensor_view<64x64x64xf16, strides=[4096,64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(4x64x64), tensor_view<64x64x64xf16, strides=[4096,64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<4x64x64xf32>
  %x, %t0 = load_view_tko weak %ta[%i, %c0, %c0] : partition_view<tile=(4x64x64), tensor_view<64x64x64xf16, strides=[4096,64,1]>>, tile<i32> -> tile<4x64x64xf16>, token
  %y, %t1 = load_view_tko weak %tb[%i, %c0, %c0] : partition_view<tile=(4x64x64), tensor_view<64x64x64xf16, strides=[4096,64,1]>>, tile<i32> -> tile<4x64x64xf16>, token
  %s = mmaf %x, %y, %zero : tile<4x64x64xf16>, tile<4x64x64xf16>, tile<4x64x64xf32>
  %r = reduce %s dim=0 identities=[0.0 : f32] : tile<4x64x64xf32> -> tile<64x64xf32> (%l: tile<f32>, %m: tile<f32>) {
    %o = addf %l, %m rounding<nearest_even> : tile<f32>
    yield %o : tile<f32>
  }
  %t3 = store_view_tko weak %r, %tc[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
