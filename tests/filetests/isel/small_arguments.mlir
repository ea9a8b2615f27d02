// No f16, and no small integer, is so large that its sine takes a long reduction.
// run: compile --gpu-name sm_80
// show: bra | mul.hi.u64 | cvt. | 0f47CE4780 | 0f7F800000
entry @k(%p: tile<ptr<f16>>, %i: tile<ptr<i16>>) {
  %iota = iota : tile<128xi32>
  %p1 = reshape %p : tile<ptr<f16>> -> tile<1xptr<f16>>
  %pb = broadcast %p1 : tile<1xptr<f16>> -> tile<128xptr<f16>>
  %at = offset %pb, %iota : tile<128xptr<f16>>, tile<128xi32> -> tile<128xptr<f16>>
  %i1 = reshape %i : tile<ptr<i16>> -> tile<1xptr<i16>>
  %ib = broadcast %i1 : tile<1xptr<i16>> -> tile<128xptr<i16>>
  %from = offset %ib, %iota : tile<128xptr<i16>>, tile<128xi32> -> tile<128xptr<i16>>
  %h, %t0 = load_ptr_tko weak %at : tile<128xptr<f16>> -> tile<128xf16>, token
  %n, %t1 = load_ptr_tko weak %from : tile<128xptr<i16>> -> tile<128xi16>, token
  %s = sin %h : tile<128xf16>
  %x = itof %n signed rounding<nearest_even> : tile<128xi16> -> tile<128xf32>
  %c = cos %x : tile<128xf32>
  %m = itof %iota signed rounding<nearest_even> : tile<128xi32> -> tile<128xf32>
  %d = tan %m : tile<128xf32>
  %y = addf %c, %d rounding<nearest_even> : tile<128xf32>
  %z = ftof %y rounding<nearest_even> : tile<128xf32> -> tile<128xf16>
  %r = mulf %s, %z rounding<nearest_even> : tile<128xf16>
  %t2 = store_ptr_tko weak %at, %r : tile<128xptr<f16>>, tile<128xf16> -> token
  return
}
