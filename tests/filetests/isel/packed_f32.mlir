// Two f32 are computed at a time where the target does both at the cost of one, which sm_120a does not. What one
// operation leaves in a pair the next takes from there; a number and the scalar are both halves of a pair. The maximum
// has no such instruction: its operands come out of the pairs.
// run: compile --gpu-name sm_100a
// run: compile --gpu-name sm_120a
// show: ld.global | st.global | mul. | fma. | sub. | max. | mov.b64
entry @k(%a: tile<ptr<f32>>, %s: tile<f32>) {
  %q0 = assume div_by<16>, %a : tile<ptr<f32>>
  %num = iota : tile<512xi32>
  %q = reshape %q0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %b = broadcast %q : tile<1xptr<f32>> -> tile<512xptr<f32>>
  %at = offset %b, %num : tile<512xptr<f32>>, tile<512xi32> -> tile<512xptr<f32>>
  %s1 = reshape %s : tile<f32> -> tile<1xf32>
  %sb = broadcast %s1 : tile<1xf32> -> tile<512xf32>
  %three = constant <f32: 3.0> : tile<512xf32>
  %x, %l = load_ptr_tko weak %at : tile<512xptr<f32>> -> tile<512xf32>, token
  %y = fma %x, %three, %sb rounding<nearest_even> : tile<512xf32>
  %z = mulf %y, %y rounding<nearest_even> : tile<512xf32>
  %d = subf %z, %x rounding<nearest_even> : tile<512xf32>
  %m = maxf %d, %sb : tile<512xf32>
  %st = store_ptr_tko weak %at, %m token=%l : tile<512xptr<f32>>, tile<512xf32> -> token
  return
}
