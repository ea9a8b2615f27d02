// A remainder next to a quotient of the same numbers is what is left of them, whichever comes first; without one, and of other
// numbers, it is an instruction.
// run: compile --emit ptx --gpu-name sm_80
// show: div. | rem. | mul.lo | sub. | entry
entry @both(%a: tile<i64>, %b: tile<i64>, %out: tile<ptr<i64>>) {
  %i, %j, %z = get_tile_block_id : tile<i32>
  %w = exti %i signed : tile<i32> -> tile<i64>
  %x = addi %a, %w : tile<i64>
  %r = remi %x, %b signed : tile<i64>
  %q = divi %x, %b signed rounding<zero> : tile<i64>
  %s = xori %r, %q : tile<i64>
  %t = store_ptr_tko weak %out, %s : tile<ptr<i64>>, tile<i64> -> token
  return
}
entry @one(%a: tile<i32>, %b: tile<i32>, %out: tile<ptr<i32>>) {
  %i, %j, %z = get_tile_block_id : tile<i32>
  %x = addi %a, %i : tile<i32>
  %r = remi %x, %b unsigned : tile<i32>
  %q = divi %x, %a unsigned rounding<zero> : tile<i32>
  %s = xori %r, %q : tile<i32>
  %t = store_ptr_tko weak %out, %s : tile<ptr<i32>>, tile<i32> -> token
  return
}
entry @tile(%a: tile<i32>, %b: tile<i32>, %out: tile<ptr<i32>>) {
  %n = iota : tile<512xi32>
  %a1 = reshape %a : tile<i32> -> tile<1xi32>
  %as = broadcast %a1 : tile<1xi32> -> tile<512xi32>
  %b1 = reshape %b : tile<i32> -> tile<1xi32>
  %bs = broadcast %b1 : tile<1xi32> -> tile<512xi32>
  %x = addi %as, %n : tile<512xi32>
  %q = divi %x, %bs unsigned rounding<zero> : tile<512xi32>
  %r = remi %x, %bs unsigned : tile<512xi32>
  %s = xori %r, %q : tile<512xi32>
  %p1 = reshape %out : tile<ptr<i32>> -> tile<1xptr<i32>>
  %p2 = broadcast %p1 : tile<1xptr<i32>> -> tile<512xptr<i32>>
  %p = offset %p2, %n : tile<512xptr<i32>>, tile<512xi32> -> tile<512xptr<i32>>
  %t = store_ptr_tko weak %p, %s : tile<512xptr<i32>>, tile<512xi32> -> token
  return
}
