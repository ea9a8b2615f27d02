// bf16 sums: add.bf16 where the target has it, fma by one before.
// run: compile --gpu-name sm_75
// run: compile --gpu-name sm_80
// run: compile --gpu-name sm_90
// show: add. | fma | cvt
entry @k(%p: tile<ptr<bf16>>, %x: tile<bf16>, %y: tile<bf16>, %z: tile<bf16>) {
  %r = addf %x, %y rounding<nearest_even> : tile<bf16>
  %t = store_ptr_tko weak %p, %r : tile<ptr<bf16>>, tile<bf16> -> token
  return
}
