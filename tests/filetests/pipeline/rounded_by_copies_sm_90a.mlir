// Tiles of f32 that are multiplied as tf32 are rounded by the copies that bring them. Warpgroups read them along K in place; others are
// stored again.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: buffer | pipeline of | warp roles | no tensor | kernel main | async. | cuda_tile.ftof
entry @main(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %2 = constant <i32: 2> : tile<i32>
  %8 = constant <i32: 8> : tile<i32>
  %bid, %by, %bz = get_tile_block_id : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f32>>
  %b16 = assume div_by<16>, %b : tile<ptr<f32>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [128, 256], strides = [256, 1] : tensor_view<128x256xf32, strides=[256,1]>
  %bt = make_tensor_view %b16, shape = [64, 256], strides = [256, 1] : tensor_view<64x256xf32, strides=[256,1]>
  %dt = make_tensor_view %b16, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf32, strides=[64,1]>
  %ct = make_tensor_view %c16, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf32, strides=[64,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x32), padding_value = zero, tensor_view<128x256xf32, strides=[256,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(64x32), tensor_view<64x256xf32, strides=[256,1]>>
  %dp = make_partition_view %dt : partition_view<tile=(32x64), tensor_view<256x64xf32, strides=[64,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<256x64xf32, strides=[64,1]>>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sums = for %k in (%0 to %8, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t0 = load_view_tko weak %ap[%bid, %k] : partition_view<tile=(64x32), padding_value = zero, tensor_view<128x256xf32, strides=[256,1]>>, tile<i32> -> tile<64x32xf32>, token
    %r, %t1 = load_view_tko weak %bp[%0, %k] : partition_view<tile=(64x32), tensor_view<64x256xf32, strides=[256,1]>>, tile<i32> -> tile<64x32xf32>, token
    %lt = ftof %l : tile<64x32xf32> -> tile<64x32xtf32>
    %rt = ftof %r : tile<64x32xf32> -> tile<64x32xtf32>
    %rp = permute %rt [1, 0] : tile<64x32xtf32> -> tile<32x64xtf32>
    %s = mmaf %lt, %rp, %acc : tile<64x32xtf32>, tile<32x64xtf32>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t2 = store_view_tko weak %sums, %cp[%bid, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<256x64xf32, strides=[64,1]>>, tile<i32> -> token
  %more = for %k in (%0 to %8, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t0 = load_view_tko weak %ap[%bid, %k] : partition_view<tile=(64x32), padding_value = zero, tensor_view<128x256xf32, strides=[256,1]>>, tile<i32> -> tile<64x32xf32>, token
    %r, %t1 = load_view_tko weak %dp[%k, %0] : partition_view<tile=(32x64), tensor_view<256x64xf32, strides=[64,1]>>, tile<i32> -> tile<32x64xf32>, token
    %lt = ftof %l : tile<64x32xf32> -> tile<64x32xtf32>
    %rt = ftof %r : tile<32x64xf32> -> tile<32x64xtf32>
    %s = mmaf %lt, %rt, %acc : tile<64x32xtf32>, tile<32x64xtf32>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %behind = addi %bid, %2 : tile<i32>
  %t3 = store_view_tko weak %more, %cp[%behind, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<256x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
