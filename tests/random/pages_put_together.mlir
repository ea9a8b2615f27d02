// Operands of two pages each, which are put together to the rows of a matrix: matmuls read them where they lie.
// grid: 2,1,1
// arg: buffer f16 65536 whole -2 2 seed 0
// arg: buffer f16 65536 whole -2 2 seed 1
// arg: buffer f32 32768 whole 7 7 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %4 = constant <i32: 4> : tile<i32>
  %bid, %by, %bz = get_tile_block_id : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [4, 64, 256], strides = [16384, 256, 1] : tensor_view<4x64x256xf16, strides=[16384,256,1]>
  %bt = make_tensor_view %b16, shape = [4, 64, 256], strides = [16384, 256, 1] : tensor_view<4x64x256xf16, strides=[16384,256,1]>
  %ct = make_tensor_view %c16, shape = [256, 128], strides = [128, 1] : tensor_view<256x128xf32, strides=[128,1]>
  %ap = make_partition_view %at : partition_view<tile=(2x64x64), tensor_view<4x64x256xf16, strides=[16384,256,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(2x64x64), tensor_view<4x64x256xf16, strides=[16384,256,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(128x128), tensor_view<256x128xf32, strides=[128,1]>>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sums = for %k in (%0 to %4, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l2, %t1 = load_view_tko weak %ap[%bid, %0, %k] : partition_view<tile=(2x64x64), tensor_view<4x64x256xf16, strides=[16384,256,1]>>, tile<i32> -> tile<2x64x64xf16>, token
    %r2, %t2 = load_view_tko weak %bp[%1, %0, %k] : partition_view<tile=(2x64x64), tensor_view<4x64x256xf16, strides=[16384,256,1]>>, tile<i32> -> tile<2x64x64xf16>, token
    %l = reshape %l2 : tile<2x64x64xf16> -> tile<128x64xf16>
    %rows = reshape %r2 : tile<2x64x64xf16> -> tile<128x64xf16>
    %r = permute %rows [1, 0] : tile<128x64xf16> -> tile<64x128xf16>
    %s = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %t3 = store_view_tko weak %sums, %cp[%bid, %0] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<256x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
