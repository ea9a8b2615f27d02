// Extents of tiles are powers of two.
// run: verify
entry @k(%x: tile<i32>, %p: tile<ptr<f32>>) {
  %r = iota : tile<12xi32>
  return
}
