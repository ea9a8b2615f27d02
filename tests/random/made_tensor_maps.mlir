// A tensor whose address, extents and strides change from iteration to iteration: where tensor maps can be made by a kernel,
// its tensor copies go by one that it makes again and again, while copies by the last ones are on their way.
// grid: 2,1,1
// arg: buffer f16 65536 whole -2 2 seed 1
// arg: buffer f16 4096 whole -2 2 seed 2
// arg: buffer f32 98304 whole 7 7 seed 0
// arg: i32 9
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %groups: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x64), tensor_view<64x64xf16, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1536, 64], strides = [64, 1] : tensor_view<1536x64xf32, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<1536x64xf32, strides=[64,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c2 = constant <i32: 2> : tile<i32>
  %c3 = constant <i32: 3> : tile<i32>
  %c8 = constant <i32: 8> : tile<i32>
  %c11 = constant <i32: 11> : tile<i32>
  %c64 = constant <i32: 64> : tile<i32>
  %c100 = constant <i32: 100> : tile<i32>
  %c520 = constant <i32: 520> : tile<i32>
  for %g in (%c0 to %groups, step %c1) : tile<i32> {
    %h = divi %g, %c2 signed : tile<i32>
    %o = muli %h, %c520 : tile<i32>
    %at = offset %pa, %o : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
    %pg = assume div_by<16>, %at : tile<ptr<f16>>
    %s8 = muli %h, %c8 : tile<i32>
    %s0 = addi %s8, %c64 : tile<i32>
    %s = assume div_by<8>, %s0 : tile<i32>
    %less = muli %h, %c11 : tile<i32>
    %rows = subi %c100, %less : tile<i32>
    %va = make_tensor_view %pg, shape = [%rows, 64], strides = [%s, 1] : tile<i32> -> tensor_view<?x64xf16, strides=[?,1]>
    %ta = make_partition_view %va : partition_view<tile=(64x32), padding_value = zero, tensor_view<?x64xf16, strides=[?,1]>>
    %n0 = remi %g, %c3 signed : tile<i32>
    %n = mini %n0, %c2 signed : tile<i32>
    %zero = constant <f32: 0.0> : tile<64x64xf32>
    %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
      %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x32), padding_value = zero, tensor_view<?x64xf16, strides=[?,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(32x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %p = mmaf %l, %r, %acc : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %p : tile<64x64xf32>
    }
    %row = muli %g, %c2 : tile<i32>
    %to = addi %row, %i : tile<i32>
    %t2 = store_view_tko weak %sum, %tc[%to, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<1536x64xf32, strides=[64,1]>>, tile<i32> -> token
    continue
  }
  return
}
