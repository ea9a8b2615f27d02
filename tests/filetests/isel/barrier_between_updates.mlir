// Ordered updates by one thread each: the first asks for a barrier after it, the second for one before it. They are one.
// run: compile --gpu-name sm_80
// run: compile --gpu-name sm_80 --without merge-barriers
// show: bar. | atom
entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>) {
  %one = constant <i32: 1> : tile<i32>
  %t0 = make_token : token
  %a, %t1 = atomic_rmw_tko acq_rel device %p, max, %one token=%t0 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  %b, %t2 = atomic_cas_tko acq_rel device %q, %one, %one token=%t1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
  return
}
