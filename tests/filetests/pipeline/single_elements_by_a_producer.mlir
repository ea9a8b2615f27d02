// Columns that wrap around, of which nobody knows that they are not negative, are single elements: the warps that copy the
// other operand load and store them, by columns, so that those that multiply do not wait for them.
// run: explain --gpu-name sm_90a
// show: shared buffer | pipeline of | warp roles | no tensor
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %n0: tile<i32>, %k0: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %n = assume div_by<16>, %n0 : tile<i32>
  %steps = assume div_by<16>, %k0 : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c64 = constant <i32: 64> : tile<i32>
  %c127 = constant <i32: 127> : tile<i32>
  %c128 = constant <i32: 128> : tile<i32>
  %pid, %y, %z = get_tile_block_id : tile<i32>
  %over = addi %n, %c127 : tile<i32>
  %columns = divi %over, %c128 signed : tile<i32>
  %pn = divi %pid, %columns signed : tile<i32>
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
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %step = muli %n, %c64 : tile<i32>
  %st1 = reshape %step : tile<i32> -> tile<1x1xi32>
  %st = broadcast %st1 : tile<1x1xi32> -> tile<64x128xi32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum, %last = for %k in (%c0 to %steps, step %c1) : tile<i32> iter_values(%acc = %zero, %p = %bp) -> (tile<128x128xf32>, tile<64x128xptr<f16>>) {
    %l, %t0 = load_view_tko weak %ta[%c0, %k] : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
    %r, %t1 = load_ptr_tko weak %p : tile<64x128xptr<f16>> -> tile<64x128xf16>, token
    %s = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %next = offset %p, %st : tile<64x128xptr<f16>>, tile<64x128xi32> -> tile<64x128xptr<f16>>
    continue %s, %next : tile<128x128xf32>, tile<64x128xptr<f16>>
  }
  %half = ftof %sum : tile<128x128xf32> -> tile<128x128xf16>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %t2 = store_view_tko weak %half, %tc[%c0, %pn] : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  return
}
