// The inner extents of a matmul differ.
// run: verify
entry @k(%x: tile<i32>, %p: tile<ptr<f32>>) {
  %f = constant <f32: 1.0> : tile<8x4xf32>
  %z = constant <f32: 0.0> : tile<8x8xf32>
  %r = mmaf %f, %f, %z : tile<8x4xf32>, tile<8x4xf32>, tile<8x8xf32>
  return
}
