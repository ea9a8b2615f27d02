// Rows 96 elements apart, in two tensors: the row and the column are one index of 32 bits, which both addresses add.
// run: compile --gpu-name sm_80
// show: mul | mad | add | shl | ld.global | st.global
entry @k(%a: tile<ptr<f32>>, %c: tile<ptr<f32>>) {
  %r = iota : tile<8xi32>
  %r2 = reshape %r : tile<8xi32> -> tile<8x1xi32>
  %rows = broadcast %r2 : tile<8x1xi32> -> tile<8x16xi32>
  %stride = constant <i32: 96> : tile<8x16xi32>
  %far = muli %rows, %stride : tile<8x16xi32>
  %k = iota : tile<16xi32>
  %k2 = reshape %k : tile<16xi32> -> tile<1x16xi32>
  %columns = broadcast %k2 : tile<1x16xi32> -> tile<8x16xi32>
  %a1 = reshape %a : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %ab = broadcast %a1 : tile<1x1xptr<f32>> -> tile<8x16xptr<f32>>
  %ar = offset %ab, %far : tile<8x16xptr<f32>>, tile<8x16xi32> -> tile<8x16xptr<f32>>
  %at = offset %ar, %columns : tile<8x16xptr<f32>>, tile<8x16xi32> -> tile<8x16xptr<f32>>
  %c1 = reshape %c : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %cb = broadcast %c1 : tile<1x1xptr<f32>> -> tile<8x16xptr<f32>>
  %cr = offset %cb, %far : tile<8x16xptr<f32>>, tile<8x16xi32> -> tile<8x16xptr<f32>>
  %ct = offset %cr, %columns : tile<8x16xptr<f32>>, tile<8x16xi32> -> tile<8x16xptr<f32>>
  %x, %l = load_ptr_tko weak %at : tile<8x16xptr<f32>> -> tile<8x16xf32>, token
  %s = store_ptr_tko weak %ct, %x : tile<8x16xptr<f32>>, tile<8x16xf32> -> token
  return
}
