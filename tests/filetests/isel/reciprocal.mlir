// 1 / x is a reciprocal; an approximate quotient is a product with one, made once where all elements have one divisor;
// quotients of f16 need no division of f32.
// run: compile --gpu-name sm_80
// show: rcp | div. | mul.
entry @k(%a: tile<ptr<f32>>, %h: tile<ptr<f16>>, %d: tile<f32>) {
  %num = iota : tile<256xi32>
  %q = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
  %b = broadcast %q : tile<1xptr<f32>> -> tile<256xptr<f32>>
  %at = offset %b, %num : tile<256xptr<f32>>, tile<256xi32> -> tile<256xptr<f32>>
  %x, %l = load_ptr_tko weak %at : tile<256xptr<f32>> -> tile<256xf32>, token
  %one = constant <f32: 1.0> : tile<256xf32>
  %r = divf %one, %x : tile<256xf32>
  %d1 = reshape %d : tile<f32> -> tile<1xf32>
  %db = broadcast %d1 : tile<1xf32> -> tile<256xf32>
  %s = divf %r, %db rounding<approx> flush_to_zero : tile<256xf32>
  %t = divf %s, %x rounding<approx> flush_to_zero : tile<256xf32>
  %w = store_ptr_tko weak %at, %t token=%l : tile<256xptr<f32>>, tile<256xf32> -> token
  %hq = reshape %h : tile<ptr<f16>> -> tile<1xptr<f16>>
  %hb = broadcast %hq : tile<1xptr<f16>> -> tile<256xptr<f16>>
  %hat = offset %hb, %num : tile<256xptr<f16>>, tile<256xi32> -> tile<256xptr<f16>>
  %y, %l2 = load_ptr_tko weak %hat token=%w : tile<256xptr<f16>> -> tile<256xf16>, token
  %y2 = mulf %y, %y : tile<256xf16>
  %z = divf %y2, %y : tile<256xf16>
  %w2 = store_ptr_tko weak %hat, %z token=%l2 : tile<256xptr<f16>>, tile<256xf16> -> token
  return
}
