// A loop whose operands are single elements, and one whose operands are not: the producer that the second one has copies for
// both.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: shared buffer | pipeline of | warp roles | no tensor | pointer_copy | lane [(0,1)
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %n0: tile<i32>, %steps: tile<i32>, %one: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %n = assume div_by<16>, %n0 : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c64 = constant <i32: 64> : tile<i32>
  %c128 = constant <i32: 128> : tile<i32>
  %pid, %y, %z = get_tile_block_id : tile<i32>
  %pn = divi %pid, %one signed : tile<i32>
  %start = muli %pn, %c128 : tile<i32>
  %s1 = reshape %start : tile<i32> -> tile<1xi32>
  %s128 = broadcast %s1 : tile<1xi32> -> tile<128xi32>
  %i128 = iota : tile<128xi32>
  %at = addi %s128, %i128 : tile<128xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %n128 = broadcast %n1 : tile<1xi32> -> tile<128xi32>
  %wrapped = remi %at, %n128 signed : tile<128xi32>
  %w = reshape %wrapped : tile<128xi32> -> tile<1x128xi32>
  %wide = broadcast %w : tile<1x128xi32> -> tile<64x128xi32>
  %i64 = iota : tile<64xi32>
  %k1 = reshape %i64 : tile<64xi32> -> tile<64x1xi32>
  %nn = reshape %n : tile<i32> -> tile<1x1xi32>
  %n64 = broadcast %nn : tile<1x1xi32> -> tile<64x1xi32>
  %rows = muli %k1, %n64 : tile<64x1xi32>
  %b1 = reshape %pb : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %b64 = broadcast %b1 : tile<1x1xptr<f16>> -> tile<64x1xptr<f16>>
  %brow = offset %b64, %rows : tile<64x1xptr<f16>>, tile<64x1xi32> -> tile<64x1xptr<f16>>
  %ball = broadcast %brow : tile<64x1xptr<f16>> -> tile<64x128xptr<f16>>
  %bp = offset %ball, %wide : tile<64x128xptr<f16>>, tile<64x128xi32> -> tile<64x128xptr<f16>>
  %va = make_tensor_view %pa, shape = [128, 192], strides = [192, 1] : tensor_view<128x192xf16, strides=[192,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<128x192xf16, strides=[192,1]>>
  %i128k = reshape %i128 : tile<128xi32> -> tile<128x1xi32>
  %c192 = constant <i32: 192> : tile<128x1xi32>
  %arows = muli %i128k, %c192 : tile<128x1xi32>
  %a1 = reshape %pa : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %a128 = broadcast %a1 : tile<1x1xptr<f16>> -> tile<128x1xptr<f16>>
  %arow = offset %a128, %arows : tile<128x1xptr<f16>>, tile<128x1xi32> -> tile<128x1xptr<f16>>
  %aall = broadcast %arow : tile<128x1xptr<f16>> -> tile<128x64xptr<f16>>
  %nk = reshape %n : tile<i32> -> tile<1xi32>
  %nk64 = broadcast %nk : tile<1xi32> -> tile<64xi32>
  %from = reshape %start : tile<i32> -> tile<1xi32>
  %from64 = broadcast %from : tile<1xi32> -> tile<64xi32>
  %ifrom = addi %i64, %from64 : tile<64xi32>
  %ak0 = subi %ifrom, %from64 : tile<64xi32>
  %akw = remi %ak0, %nk64 signed : tile<64xi32>
  %ak1 = reshape %akw : tile<64xi32> -> tile<1x64xi32>
  %ak = broadcast %ak1 : tile<1x64xi32> -> tile<128x64xi32>
  %ap = offset %aall, %ak : tile<128x64xptr<f16>>, tile<128x64xi32> -> tile<128x64xptr<f16>>
  %c64s = constant <i32: 64> : tile<128x64xi32>
  %vb = make_tensor_view %pb, shape = [192, 256], strides = [256, 1] : tensor_view<192x256xf16, strides=[256,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<192x256xf16, strides=[256,1]>>
  %step = muli %n, %c64 : tile<i32>
  %st1 = reshape %step : tile<i32> -> tile<1x1xi32>
  %st = broadcast %st1 : tile<1x1xi32> -> tile<64x128xi32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %first, %last, %lasta = for %k in (%c0 to %steps, step %c1) : tile<i32> iter_values(%acc = %zero, %p = %bp, %q = %ap) -> (tile<128x128xf32>, tile<64x128xptr<f16>>, tile<128x64xptr<f16>>) {
    %l, %t0 = load_ptr_tko weak %q : tile<128x64xptr<f16>> -> tile<128x64xf16>, token
    %r, %t1 = load_ptr_tko weak %p : tile<64x128xptr<f16>> -> tile<64x128xf16>, token
    %s = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %next = offset %p, %st : tile<64x128xptr<f16>>, tile<64x128xi32> -> tile<64x128xptr<f16>>
    %nexta = offset %q, %c64s : tile<128x64xptr<f16>>, tile<128x64xi32> -> tile<128x64xptr<f16>>
    continue %s, %next, %nexta : tile<128x128xf32>, tile<64x128xptr<f16>>, tile<128x64xptr<f16>>
  }
  %sum = for %k in (%c0 to %steps, step %c1) : tile<i32> iter_values(%acc = %first) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%c0, %k] : partition_view<tile=(128x64), tensor_view<128x192xf16, strides=[192,1]>>, tile<i32> -> tile<128x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %pn] : partition_view<tile=(64x128), tensor_view<192x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x128xf16>, token
    %s = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %half = ftof %sum : tile<128x128xf32> -> tile<128x128xf16>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf16, strides=[256,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<128x256xf16, strides=[256,1]>>
  %t2 = store_view_tko weak %half, %tc[%c0, %pn] : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<128x256xf16, strides=[256,1]>>, tile<i32> -> token
  return
}
