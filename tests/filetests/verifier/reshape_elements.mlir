// A reshape changes the number of elements.
// run: verify
entry @k(%x: tile<i32>, %p: tile<ptr<f32>>) {
  %f = constant <f32: 1.0> : tile<8x4xf32>
  %r = reshape %f : tile<8x4xf32> -> tile<16xf32>
  return
}
