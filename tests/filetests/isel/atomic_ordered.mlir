// Atomic updates of several elements of a thread that are ordered with other accesses: fences order all of them. One element is
// ordered by its own instruction.
// run: compile --gpu-name sm_80
// show: atom. | red. | fence
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<i32>>) {
  %at = iota : tile<512xi32>
  %a1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
  %a2 = broadcast %a1 : tile<1xptr<f32>> -> tile<512xptr<f32>>
  %p = offset %a2, %at : tile<512xptr<f32>>, tile<512xi32> -> tile<512xptr<f32>>
  %one = constant <f32: 1.0> : tile<512xf32>
  %old, %t0 = atomic_rmw_tko acq_rel device %p, addf, %one : tile<512xptr<f32>>, tile<512xf32> -> tile<512xf32>, token
  %b1 = reshape %b : tile<ptr<i32>> -> tile<1xptr<i32>>
  %b2 = broadcast %b1 : tile<1xptr<i32>> -> tile<512xptr<i32>>
  %q = offset %b2, %at : tile<512xptr<i32>>, tile<512xi32> -> tile<512xptr<i32>>
  %none = constant <i32: 0> : tile<512xi32>
  %was, %t1 = atomic_cas_tko acquire sys %q, %none, %at : tile<512xptr<i32>>, tile<512xi32> -> tile<512xi32>, token
  %n = constant <i32: 1> : tile<i32>
  %last, %t2 = atomic_rmw_tko release device %b, add, %n token=%t1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}
