// A value is used outside of the region that defines it.
// run: verify
entry @k(%x: tile<i32>, %p: tile<ptr<f32>>) {
  %c0 = constant <i32: 0> : tile<i32>
  for %i in (%c0 to %x, step %x) : tile<i32> {
    %in = addi %i, %i : tile<i32>
    continue
  }
  %r = addi %in, %x : tile<i32>
  return
}
