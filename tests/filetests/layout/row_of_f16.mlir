// Sixteen bytes per access: eight neighbouring elements in a thread.
// run: explain --gpu-name sm_80
// show: reg [ | conversion !
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [4096], strides = [1] : tensor_view<4096xf16, strides=[1]>
  %ta = make_partition_view %va : partition_view<tile=(1024), tensor_view<4096xf16, strides=[1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [4096], strides = [1] : tensor_view<4096xf16, strides=[1]>
  %tb = make_partition_view %vb : partition_view<tile=(1024), tensor_view<4096xf16, strides=[1]>>
  %i, %j, %k = get_tile_block_id : tile<i32>
  %x, %l = load_view_tko weak %ta[%i] : partition_view<tile=(1024), tensor_view<4096xf16, strides=[1]>>, tile<i32> -> tile<1024xf16>, token
  %s = store_view_tko weak %x, %tb[%i] : tile<1024xf16>, partition_view<tile=(1024), tensor_view<4096xf16, strides=[1]>>, tile<i32> -> token
  return
}
