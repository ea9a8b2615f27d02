// Tiles of f32 that are multiplied as tf32 are rounded by the copies that bring them: the matmul reads both where they are brought,
// the right one across its rows.
// run: explain --gpu-name sm_100a
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: buffer | pipeline of | warp roles | cta_group | no tensor | kernel main | async. | cuda_tile.ftof
entry @main(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>) optimization_hints=<default = {num_cta_in_cga = 2}> {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %8 = constant <i32: 8> : tile<i32>
  %bid, %by, %bz = get_tile_block_id : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f32>>
  %b16 = assume div_by<16>, %b : tile<ptr<f32>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [512, 256], strides = [256, 1] : tensor_view<512x256xf32, strides=[256,1]>
  %bt = make_tensor_view %b16, shape = [256, 128], strides = [128, 1] : tensor_view<256x128xf32, strides=[128,1]>
  %ct = make_tensor_view %c16, shape = [512, 128], strides = [128, 1] : tensor_view<512x128xf32, strides=[128,1]>
  %ap = make_partition_view %at : partition_view<tile=(256x32), padding_value = zero, tensor_view<512x256xf32, strides=[256,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(32x128), padding_value = zero, tensor_view<256x128xf32, strides=[128,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(256x128), tensor_view<512x128xf32, strides=[128,1]>>
  %zero = constant <f32: 0.0> : tile<256x128xf32>
  %sums = for %k in (%0 to %8, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<256x128xf32>) {
    %l, %t0 = load_view_tko weak %ap[%bid, %k] : partition_view<tile=(256x32), padding_value = zero, tensor_view<512x256xf32, strides=[256,1]>>, tile<i32> -> tile<256x32xf32>, token
    %r, %t1 = load_view_tko weak %bp[%k, %0] : partition_view<tile=(32x128), padding_value = zero, tensor_view<256x128xf32, strides=[128,1]>>, tile<i32> -> tile<32x128xf32>, token
    %lt = ftof %l : tile<256x32xf32> -> tile<256x32xtf32>
    %rt = ftof %r : tile<32x128xf32> -> tile<32x128xtf32>
    %s = mmaf %lt, %rt, %acc : tile<256x32xtf32>, tile<32x128xtf32>, tile<256x128xf32>
    continue %s : tile<256x128xf32>
  }
  %t2 = store_view_tko weak %sums, %cp[%bid, %0] : tile<256x128xf32>, partition_view<tile=(256x128), tensor_view<512x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
