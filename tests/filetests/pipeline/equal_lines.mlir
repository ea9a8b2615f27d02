// Pointers, mask and padding that are the same along a dimension: one line is loaded for all, a row or a
// column. Where the mask is another in each row, all rows are loaded. Of words for eight rows each, each is loaded once.
// run: compile --emit nv_tileas --gpu-name sm_80
// run: explain --gpu-name sm_80
// show: .load" | broadcast | reshape | neighbours
entry @k(%a: tile<ptr<f32>>, %n: tile<i32>, %o: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf32, strides=[64,1]>
  %to = make_partition_view %vo : partition_view<tile=(64x64), tensor_view<256x64xf32, strides=[64,1]>>
  %i = iota : tile<64xi32>
  %r0 = reshape %i : tile<64xi32> -> tile<64x1xi32>
  %row = broadcast %r0 : tile<64x1xi32> -> tile<64x64xi32>
  %c0 = reshape %i : tile<64xi32> -> tile<1x64xi32>
  %column = broadcast %c0 : tile<1x64xi32> -> tile<64x64xi32>
  %n0 = reshape %n : tile<i32> -> tile<1x1xi32>
  %length = broadcast %n0 : tile<1x1xi32> -> tile<64x64xi32>
  %a0 = reshape %pa : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %base = broadcast %a0 : tile<1x1xptr<f32>> -> tile<64x64xptr<f32>>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %columns = offset %base, %column : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
  %rows = offset %base, %row : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
  %narrow = cmpi less_than %column, %length, signed : tile<64x64xi32> -> tile<64x64xi1>
  %short = cmpi less_than %row, %length, signed : tile<64x64xi32> -> tile<64x64xi1>
  %x, %t0 = load_ptr_tko weak %columns, %narrow, %zero : tile<64x64xptr<f32>>, tile<64x64xi1>, tile<64x64xf32> -> tile<64x64xf32>, token
  %y, %t1 = load_ptr_tko weak %rows : tile<64x64xptr<f32>> -> tile<64x64xf32>, token
  %z, %t2 = load_ptr_tko weak %columns, %short, %zero : tile<64x64xptr<f32>>, tile<64x64xi1>, tile<64x64xf32> -> tile<64x64xf32>, token
  %xy = addf %x, %y : tile<64x64xf32>
  %eight = constant <i32: 8> : tile<64x64xi32>
  %stride = constant <i32: 64> : tile<64x64xi32>
  %word = divi %row, %eight signed : tile<64x64xi32>
  %far = muli %word, %stride : tile<64x64xi32>
  %at = addi %far, %column : tile<64x64xi32>
  %words = offset %base, %at : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
  %w, %t4 = load_ptr_tko weak %words : tile<64x64xptr<f32>> -> tile<64x64xf32>, token
  %xyw = addf %xy, %w : tile<64x64xf32>
  %all = addf %xyw, %z : tile<64x64xf32>
  %0 = constant <i32: 0> : tile<i32>
  %t3 = store_view_tko weak %all, %to[%0, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<256x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
