// As scores_of_the_next_iteration.mlir, of one tile that is multiplied twice in an iteration: by the rows, for scores, and by what
// is computed of these. Of two warps that issue matmuls one hands its stages back, and both wait for them.
// grid: 3,1,1
// arg: i32 2
// arg: buffer f16 24576 whole -2 2 seed 0
// arg: buffer f16 40960 whole -2 2 seed 1
// arg: buffer f32 24576 whole 7 7 seed 0
entry @main(%more: tile<i32>, %q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %o: tile<ptr<f32>>) {
  %pq = assume div_by<16>, %q : tile<ptr<f16>>
  %vq = make_tensor_view %pq, shape = [384, 64], strides = [64, 1] : tensor_view<384x64xf16, strides=[64,1]>
  %tq = make_partition_view %vq : partition_view<tile=(128x64), tensor_view<384x64xf16, strides=[64,1]>>
  %pk = assume div_by<16>, %k : tile<ptr<f16>>
  %vk = make_tensor_view %pk, shape = [640, 64], strides = [64, 1] : tensor_view<640x64xf16, strides=[64,1]>
  %tk = make_partition_view %vk : partition_view<tile=(128x64), tensor_view<640x64xf16, strides=[64,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [384, 64], strides = [64, 1] : tensor_view<384x64xf32, strides=[64,1]>
  %to = make_partition_view %vo : partition_view<tile=(128x64), tensor_view<384x64xf32, strides=[64,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %none = constant <f32: 0.0> : tile<128x64xf32>
  %half = constant <f32: 0.5> : tile<128x64xf32>
  %least = constant <f32: -16.0> : tile<128x128xf32>
  %x, %y, %z = get_tile_block_id : tile<i32>
  %n = muli %x, %more : tile<i32>
  %a, %t0 = load_view_tko weak %tq[%x, %c0] : partition_view<tile=(128x64), tensor_view<384x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %acc1 = for %j in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %none) -> (tile<128x64xf32>) {
    %b, %t1 = load_view_tko weak %tk[%j, %c0] : partition_view<tile=(128x64), tensor_view<640x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
    %bt = permute %b [1, 0] : tile<128x64xf16> -> tile<64x128xf16>
    %s = mmaf %a, %bt, %zero : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    %p32 = maxf %s, %least : tile<128x128xf32>
    %p = ftof %p32 rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
    %less = mulf %acc, %half rounding<nearest_even> : tile<128x64xf32>
    %sum = mmaf %p, %b, %less : tile<128x128xf16>, tile<128x64xf16>, tile<128x64xf32>
    continue %sum : tile<128x64xf32>
  }
  %t3 = store_view_tko weak %acc1, %to[%x, %c0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<384x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
