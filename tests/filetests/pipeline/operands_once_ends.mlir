// A kernel that may end before the matmul: nothing is copied for it that would still be under way.
// run: compile --emit nv_tileas --gpu-name sm_80
// show: async. | local_load | tiled_load | .dot" | return
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(32x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf32, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(32x64), tensor_view<1024x64xf32, strides=[64,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<32x64xf32>
  %x, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(32x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
  %y, %t1 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %behind = cmpi greater_than_or_equal %i, %n, signed : tile<i32> -> tile<i1>
  if %behind {
    return
  }
  %s = mmaf %x, %y, %zero : tile<32x64xf16>, tile<64x64xf16>, tile<32x64xf32>
  %t3 = store_view_tko weak %s, %tc[%i, %c0] : tile<32x64xf32>, partition_view<tile=(32x64), tensor_view<1024x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
