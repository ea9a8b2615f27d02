// A loop yields another type than it carries.
// run: verify
entry @k(%x: tile<i32>, %p: tile<ptr<f32>>) {
  %f = constant <f32: 1.0> : tile<8x4xf32>
  %c0 = constant <i32: 0> : tile<i32>
  %r = for %i in (%c0 to %x, step %x) : tile<i32> iter_values(%a = %c0) -> (tile<i32>) {
    continue %f : tile<8x4xf32>
  }
  return
}
