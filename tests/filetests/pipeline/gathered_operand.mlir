// One operand of the matmul is gathered through pointers, which no tensor map describes; the other one comes by tensor
// copies. A producer's threads bring the first by cp.async, into the same stages. Where warps multiply by themselves, all of
// them copy both, so that no iteration waits for the gathered one.
// run: explain --gpu-name sm_90a
// run: explain --gpu-name sm_120a
// show: pipeline of | warp roles | no tensor | no async | kernel k
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %a1 = reshape %pa : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %a2 = broadcast %a1 : tile<1x1xptr<f16>> -> tile<128x64xptr<f16>>
  %rows = iota : tile<128xi32>
  %rows1 = reshape %rows : tile<128xi32> -> tile<128x1xi32>
  %pitch = constant <i32: 1024> : tile<128x1xi32>
  %rows2 = muli %rows1, %pitch : tile<128x1xi32>
  %rows3 = broadcast %rows2 : tile<128x1xi32> -> tile<128x64xi32>
  %columns = iota : tile<64xi32>
  %columns1 = reshape %columns : tile<64xi32> -> tile<1x64xi32>
  %columns2 = broadcast %columns1 : tile<1x64xi32> -> tile<128x64xi32>
  %place = addi %rows3, %columns2 : tile<128x64xi32>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %step = constant <i32: 64> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %first = muli %k, %step : tile<i32>
    %first1 = reshape %first : tile<i32> -> tile<1x1xi32>
    %first2 = broadcast %first1 : tile<1x1xi32> -> tile<128x64xi32>
    %at = addi %place, %first2 : tile<128x64xi32>
    %pointers = offset %a2, %at : tile<128x64xptr<f16>>, tile<128x64xi32> -> tile<128x64xptr<f16>>
    %l, %t0 = load_ptr_tko weak %pointers : tile<128x64xptr<f16>> -> tile<128x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
    %s = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
