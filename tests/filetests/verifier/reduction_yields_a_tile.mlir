// A reduction's body yields a tile, not what it made of two elements.
// run: verify
entry @k() {
  %c = constant <f32: 1.0> : tile<16xf32>
  %r = reduce %c dim=0 identities=[0.0 : f32] : tile<16xf32> -> tile<f32>
  (%a: tile<f32>, %b: tile<f32>) {
    %s = addf %a, %b : tile<f32>
    yield %c : tile<16xf32>
  }
  return
}
