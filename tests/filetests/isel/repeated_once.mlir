// A thread has many elements of a row. What is computed of the row's one number is computed once for all of them.
// run: compile --gpu-name sm_90a
// show: neg.f32 | sqrt. | fma.rn.f32 | ld.param.b32
entry @k(%y: tile<ptr<f32>>, %s: tile<f32>) {
  %q0 = assume div_by<16>, %y : tile<ptr<f32>>
  %num = iota : tile<512xi32>
  %q = reshape %q0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %b = broadcast %q : tile<1xptr<f32>> -> tile<512xptr<f32>>
  %at = offset %b, %num : tile<512xptr<f32>>, tile<512xi32> -> tile<512xptr<f32>>
  %s1 = reshape %s : tile<f32> -> tile<1xf32>
  %sb = broadcast %s1 : tile<1xf32> -> tile<512xf32>
  %n = negf %sb : tile<512xf32>
  %r = sqrt %n rounding<approx> : tile<512xf32>
  %x, %l = load_ptr_tko weak %at : tile<512xptr<f32>> -> tile<512xf32>, token
  %z = fma %x, %n, %r rounding<nearest_even> : tile<512xf32>
  %st = store_ptr_tko weak %at, %z token=%l : tile<512xptr<f32>>, tile<512xf32> -> token
  return
}
