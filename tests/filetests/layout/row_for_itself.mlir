// A row of 64 elements that sixteen rows are multiplied by: each thread loads the eight that it uses in two wide accesses,
// where 64 of 128 threads would load one each and hand them around.
// run: compile --emit nv_tileas --gpu-name sm_90a
// run: compile --gpu-name sm_90a
// show: tiled_load | convert_layout | ld.global | .shared | bar.sync
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf32, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x64), tensor_view<1024x64xf32, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(16x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(16x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %w, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(1x64), tensor_view<1024x64xf32, strides=[64,1]>>, tile<i32> -> tile<1x64xf32>, token
  %x, %t1 = load_view_tko weak %tb[%i, %c0] : partition_view<tile=(16x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<16x64xf16>, token
  %one = reshape %w : tile<1x64xf32> -> tile<64xf32>
  %root = sqrt %one rounding<approx> : tile<64xf32>
  %back = reshape %root : tile<64xf32> -> tile<1x64xf32>
  %all = broadcast %back : tile<1x64xf32> -> tile<16x64xf32>
  %wide = ftof %x : tile<16x64xf16> -> tile<16x64xf32>
  %p = mulf %wide, %all rounding<nearest_even> : tile<16x64xf32>
  %n = ftof %p rounding<nearest_even> : tile<16x64xf32> -> tile<16x64xf16>
  %t2 = store_view_tko weak %n, %tc[%i, %c0] : tile<16x64xf16>, partition_view<tile=(16x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> token
  return
}
