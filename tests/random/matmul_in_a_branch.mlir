// A block-sparse left operand: loads and matmul stand in a branch of the loop, which is taken where a flag that the loop loads
// is set and, by a branch of its own, the iteration lies below a bound. Copies run ahead of it.
// grid: 2,2,1
// arg: buffer f16 65536 whole -2 2 seed 0
// arg: buffer f16 65536 whole -2 2 seed 1
// arg: buffer f32 65536 whole 7 7 seed 0
// arg: buffer i32 16 whole 0 1 seed 3
// arg: i32 3
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %f: tile<ptr<i32>>, %m: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [256, 256], strides = [256, 1] : tensor_view<256x256xf16, strides=[256,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<256x256xf16, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [256, 256], strides = [256, 1] : tensor_view<256x256xf16, strides=[256,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<256x256xf16, strides=[256,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [256, 256], strides = [256, 1] : tensor_view<256x256xf32, strides=[256,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<256x256xf32, strides=[256,1]>>
  %vf = make_tensor_view %f, shape = [4, 4], strides = [4, 1] : tensor_view<4x4xi32, strides=[4,1]>
  %tf = make_partition_view %vf : partition_view<tile=(1x1), tensor_view<4x4xi32, strides=[4,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 4> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %g, %t3 = load_view_tko weak %tf[%i, %k] : partition_view<tile=(1x1), tensor_view<4x4xi32, strides=[4,1]>>, tile<i32> -> tile<1x1xi32>, token
    %flag = reshape %g : tile<1x1xi32> -> tile<i32>
    %there = cmpi not_equal %flag, %c0, signed : tile<i32> -> tile<i1>
    %both = if %there -> (tile<i1>) {
      %near = cmpi less_than %k, %m, signed : tile<i32> -> tile<i1>
      yield %near : tile<i1>
    } else {
      yield %there : tile<i1>
    }
    %next = if %both -> (tile<64x64xf32>) {
      %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x64), tensor_view<256x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x64xf16>, token
      %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x64), tensor_view<256x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x64xf16>, token
      %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      yield %s : tile<64x64xf32>
    } else {
      yield %acc : tile<64x64xf32>
    }
    continue %next : tile<64x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<256x256xf32, strides=[256,1]>>, tile<i32> -> token
  return
}
