// Addition has no approximate rounding.
// run: verify
entry @k(%x: tile<i32>, %p: tile<ptr<f32>>) {
  %f = constant <f32: 1.0> : tile<8x4xf32>
  %r = addf %f, %f rounding<approx> : tile<8x4xf32>
  return
}
