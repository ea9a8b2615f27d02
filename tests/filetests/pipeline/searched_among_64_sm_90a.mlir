// Where a loop of keys begins is the least of 64 numbers: a producer, which is one thread, loads and combines eight of them at a
// time, while the warps that compute reduce their tile. `role_invariant` says that both find the same.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | kernel k | async. | reduce | invariant | = for | mini
entry @k(%table: tile<ptr<i32>>, %a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %4 = constant <i32: 4> : tile<i32>
  %bid, %by, %bz = get_tile_block_id : tile<i32>
  %tt = make_tensor_view %table, shape = [64], strides = [1] : tensor_view<64xi32, strides=[1]>
  %tp = make_partition_view %tt : partition_view<tile=(64), tensor_view<64xi32, strides=[1]>>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [256, 256], strides = [256, 1] : tensor_view<256x256xf16, strides=[256,1]>
  %bt = make_tensor_view %b16, shape = [9, 256, 64], strides = [16384, 64, 1] : tensor_view<9x256x64xf16, strides=[16384,64,1]>
  %ct = make_tensor_view %c16, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf32, strides=[64,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x64), tensor_view<256x256xf16, strides=[256,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(1x64x64), tensor_view<9x256x64xf16, strides=[16384,64,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<256x64xf32, strides=[64,1]>>
  %ends, %t0 = load_view_tko weak %tp[%0] : partition_view<tile=(64), tensor_view<64xi32, strides=[1]>>, tile<i32> -> tile<64xi32>, token
  %one = reshape %bid : tile<i32> -> tile<1xi32>
  %rows = broadcast %one : tile<1xi32> -> tile<64xi32>
  %before = cmpi less_than_or_equal %ends, %rows, signed : tile<64xi32> -> tile<64xi1>
  %count = exti %before unsigned : tile<64xi1> -> tile<64xi32>
  %expert = reduce %count dim=0 identities=[0 : i32] : tile<64xi32> -> tile<i32>
  (%x: tile<i32>, %y: tile<i32>) {
    %sum = addi %x, %y : tile<i32>
    yield %sum : tile<i32>
  }
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sums = for %k in (%0 to %4, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t1 = load_view_tko weak %ap[%bid, %k] : partition_view<tile=(64x64), tensor_view<256x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x64xf16>, token
    %w, %t2 = load_view_tko weak %bp[%expert, %k, %0] : partition_view<tile=(1x64x64), tensor_view<9x256x64xf16, strides=[16384,64,1]>>, tile<i32> -> tile<1x64x64xf16>, token
    %r = reshape %w : tile<1x64x64xf16> -> tile<64x64xf16>
    %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t3 = store_view_tko weak %sums, %cp[%bid, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<256x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
