// Attention in whole numbers, row by row: two loops, the second one with a mask, whose lengths follow from the block's number and
// an argument, 0 and 1 among them, and blocks that end early. On sm_100a and the like a warp multiplies the scores of the
// next iteration while the others compute with these.
// grid: 5,1,1
// arg: i32 2
// arg: buffer f16 49152 whole -2 2 seed 0
// arg: buffer f16 49152 whole -2 2 seed 1
// arg: buffer f16 49152 whole -2 2 seed 2
// arg: buffer f32 40960 whole 7 7 seed 0
entry @main(%more: tile<i32>, %q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
  %pq = assume div_by<16>, %q : tile<ptr<f16>>
  %vq = make_tensor_view %pq, shape = [768, 64], strides = [64, 1] : tensor_view<768x64xf16, strides=[64,1]>
  %tq = make_partition_view %vq : partition_view<tile=(128x64), tensor_view<768x64xf16, strides=[64,1]>>
  %pk = assume div_by<16>, %k : tile<ptr<f16>>
  %vk = make_tensor_view %pk, shape = [64, 768], strides = [1, 64] : tensor_view<64x768xf16, strides=[1,64]>
  %tk = make_partition_view %vk : partition_view<tile=(64x128), tensor_view<64x768xf16, strides=[1,64]>>
  %pv = assume div_by<16>, %v : tile<ptr<f16>>
  %vv = make_tensor_view %pv, shape = [768, 64], strides = [64, 1] : tensor_view<768x64xf16, strides=[64,1]>
  %tv = make_partition_view %vv : partition_view<tile=(128x64), tensor_view<768x64xf16, strides=[64,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [640, 64], strides = [64, 1] : tensor_view<640x64xf32, strides=[64,1]>
  %to = make_partition_view %vo : partition_view<tile=(128x64), tensor_view<640x64xf32, strides=[64,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c3 = constant <i32: 3> : tile<i32>
  %c128 = constant <i32: 128> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %none = constant <f32: 0.0> : tile<128x64xf32>
  %low = constant <f32: -64.0> : tile<128x1xf32>
  %half = constant <f32: 0.5> : tile<128x1xf32>
  %one = constant <f32: 1.0> : tile<128x1xf32>
  %least = constant <f32: -16.0> : tile<128x128xf32>
  %x, %y, %z = get_tile_block_id : tile<i32>
  // 0 to 3 iterations without a mask, then as many as the argument says, less one in every other block.
  %to1 = mini %x, %c3 signed : tile<i32>
  %odd = andi %x, %c1 : tile<i32>
  %rest = subi %more, %odd : tile<i32>
  %to2 = addi %to1, %rest : tile<i32>
  %third = constant <i32: 2> : tile<i32>
  %ends = cmpi equal %x, %third, signed : tile<i32> -> tile<i1>
  if %ends {
    return
  }
  %a, %t0 = load_view_tko weak %tq[%x, %c0] : partition_view<tile=(128x64), tensor_view<768x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %keys = iota : tile<128xi32>
  %keys1 = reshape %keys : tile<128xi32> -> tile<1x128xi32>
  %rows1 = reshape %keys : tile<128xi32> -> tile<128x1xi32>
  %rows = broadcast %rows1 : tile<128x1xi32> -> tile<128x128xi32>
  %m1, %acc1 = for %j in (%c0 to %to1, step %c1) : tile<i32> iter_values(%m = %low, %acc = %none) -> (tile<128x1xf32>, tile<128x64xf32>) {
    %b, %t1 = load_view_tko weak %tk[%c0, %j] : partition_view<tile=(64x128), tensor_view<64x768xf16, strides=[1,64]>>, tile<i32> -> tile<64x128xf16>, token
    %s = mmaf %a, %b, %zero : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %r = reduce %s dim=1 identities=[0xFF800000 : f32] : tile<128x128xf32> -> tile<128xf32> (%e: tile<f32>, %f: tile<f32>) {
      %g = maxf %e, %f : tile<f32>
      yield %g : tile<f32>
    }
    %r1 = reshape %r : tile<128xf32> -> tile<128x1xf32>
    %new = maxf %m, %r1 : tile<128x1xf32>
    %wide = broadcast %new : tile<128x1xf32> -> tile<128x128xf32>
    %d = subf %s, %wide rounding<nearest_even> : tile<128x128xf32>
    %p32 = maxf %d, %least : tile<128x128xf32>
    %p = ftof %p32 rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
    %grew = cmpf less_than ordered %m, %new : tile<128x1xf32> -> tile<128x1xi1>
    %alpha = select %grew, %half, %one : tile<128x1xi1>, tile<128x1xf32>
    %alphas = broadcast %alpha : tile<128x1xf32> -> tile<128x64xf32>
    %less = mulf %acc, %alphas rounding<nearest_even> : tile<128x64xf32>
    %c, %t2 = load_view_tko weak %tv[%j, %c0] : partition_view<tile=(128x64), tensor_view<768x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %sum = mmaf %p, %c, %less : tile<128x128xf16>, tile<128x64xf16>, tile<128x64xf32>
    continue %new, %sum : tile<128x1xf32>, tile<128x64xf32>
  }
  %m2, %acc2 = for %j in (%to1 to %to2, step %c1) : tile<i32> iter_values(%m = %m1, %acc = %acc1) -> (tile<128x1xf32>, tile<128x64xf32>) {
    %b, %t1 = load_view_tko weak %tk[%c0, %j] : partition_view<tile=(64x128), tensor_view<64x768xf16, strides=[1,64]>>, tile<i32> -> tile<64x128xf16>, token
    %s0 = mmaf %a, %b, %zero : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %first = muli %j, %c128 : tile<i32>
    %first1 = reshape %first : tile<i32> -> tile<1x1xi32>
    %first2 = broadcast %first1 : tile<1x1xi32> -> tile<1x128xi32>
    %key = addi %keys1, %first2 : tile<1x128xi32>
    %key2 = broadcast %key : tile<1x128xi32> -> tile<128x128xi32>
    %seen = cmpi less_than_or_equal %key2, %rows, signed : tile<128x128xi32> -> tile<128x128xi1>
    %s = select %seen, %s0, %least : tile<128x128xi1>, tile<128x128xf32>
    %r = reduce %s dim=1 identities=[0xFF800000 : f32] : tile<128x128xf32> -> tile<128xf32> (%e: tile<f32>, %f: tile<f32>) {
      %g = maxf %e, %f : tile<f32>
      yield %g : tile<f32>
    }
    %r1 = reshape %r : tile<128xf32> -> tile<128x1xf32>
    %new = maxf %m, %r1 : tile<128x1xf32>
    %wide = broadcast %new : tile<128x1xf32> -> tile<128x128xf32>
    %d = subf %s, %wide rounding<nearest_even> : tile<128x128xf32>
    %p32 = maxf %d, %least : tile<128x128xf32>
    %p = ftof %p32 rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
    %c, %t2 = load_view_tko weak %tv[%j, %c0] : partition_view<tile=(128x64), tensor_view<768x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %sum = mmaf %p, %c, %acc : tile<128x128xf16>, tile<128x64xf16>, tile<128x64xf32>
    continue %new, %sum : tile<128x1xf32>, tile<128x64xf32>
  }
  %t3 = store_view_tko weak %acc2, %to[%x, %c0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<640x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
