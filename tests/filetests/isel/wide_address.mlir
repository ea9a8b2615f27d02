// An index that fits 32 bits is summed before it is widened, and times the size of an element in one wide product.
// run: compile --gpu-name sm_80
// show: cvt.s64 | cvt.u64 | mul.wide | mad.wide | add.s64 | add.s32
entry @k(%p: tile<ptr<f32>>, %q: tile<ptr<f32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %n = constant <i32: 128> : tile<i32>
  %first = muli %x, %n : tile<i32>
  %wide = reshape %first : tile<i32> -> tile<1xi32>
  %base = broadcast %wide : tile<1xi32> -> tile<128xi32>
  %i = iota : tile<128xi32>
  %at = addi %base, %i : tile<128xi32>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %pn = broadcast %p1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %pa = offset %pn, %at : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %v, %t = load_ptr_tko weak %pa : tile<128xptr<f32>> -> tile<128xf32>, token
  %q1 = reshape %q : tile<ptr<f32>> -> tile<1xptr<f32>>
  %qn = broadcast %q1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %qa = offset %qn, %at : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %u = store_ptr_tko weak %qa, %v : tile<128xptr<f32>>, tile<128xf32> -> token
  return
}
