// Arguments of a sine that are so large that they take a long reduction take it in a branch, which a cosine of the same numbers
// shares. The reduction is written once, in a loop over the thread's numbers.
// run: compile --gpu-name sm_80
// show: bra | pragma | $L_ | setp.ge.f32 | or.pred | mul.hi.u64 | mov.b32 | st.
entry @k(%p: tile<ptr<f32>>) {
  %iota = iota : tile<512xi32>
  %p1 = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
  %pb = broadcast %p1 : tile<1xptr<f32>> -> tile<512xptr<f32>>
  %at = offset %pb, %iota : tile<512xptr<f32>>, tile<512xi32> -> tile<512xptr<f32>>
  %x, %t0 = load_ptr_tko weak %at : tile<512xptr<f32>> -> tile<512xf32>, token
  %s = sin %x : tile<512xf32>
  %c = cos %x : tile<512xf32>
  %r = mulf %s, %c rounding<nearest_even> : tile<512xf32>
  %t1 = store_ptr_tko weak %at, %r : tile<512xptr<f32>>, tile<512xf32> -> token
  return
}
