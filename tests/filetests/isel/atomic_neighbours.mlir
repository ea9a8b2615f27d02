// Atomic updates of elements that lie next to each other share a pointer: each goes to so many bytes on from there.
// run: compile --gpu-name sm_80
// show: atom. | red.
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<i32>>) {
  %at = iota : tile<512xi32>
  %a1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
  %a2 = broadcast %a1 : tile<1xptr<f32>> -> tile<512xptr<f32>>
  %p = offset %a2, %at : tile<512xptr<f32>>, tile<512xi32> -> tile<512xptr<f32>>
  %one = constant <f32: 1.0> : tile<512xf32>
  %old, %t0 = atomic_rmw_tko relaxed device %p, addf, %one : tile<512xptr<f32>>, tile<512xf32> -> tile<512xf32>, token
  %b1 = reshape %b : tile<ptr<i32>> -> tile<1xptr<i32>>
  %b2 = broadcast %b1 : tile<1xptr<i32>> -> tile<512xptr<i32>>
  %q = offset %b2, %at : tile<512xptr<i32>>, tile<512xi32> -> tile<512xptr<i32>>
  %none = constant <i32: 0> : tile<512xi32>
  %was, %t1 = atomic_cas_tko relaxed device %q, %none, %at : tile<512xptr<i32>>, tile<512xi32> -> tile<512xi32>, token
  return
}
