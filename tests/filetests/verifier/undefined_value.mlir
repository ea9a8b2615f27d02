// A value that nothing defines.
// run: verify
entry @k(%x: tile<i32>, %p: tile<ptr<f32>>) {
  %r = addi %x, %y : tile<i32>
  return
}
