// A permutation names a dimension twice.
// run: verify
entry @k(%x: tile<i32>, %p: tile<ptr<f32>>) {
  %f = constant <f32: 1.0> : tile<8x4xf32>
  %r = permute %f [1, 1] : tile<8x4xf32> -> tile<4x4xf32>
  return
}
