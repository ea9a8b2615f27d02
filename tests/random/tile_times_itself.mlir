// A loop's tile that is both operands of its matmul.
// grid: 1,1,1
// arg: buffer f16 4096 uniform -1 1 seed 0
// arg: buffer f32 4096 whole 7 7 seed 0 within 2.0751953125e-3
entry @main(%a0: tile<ptr<f16>>, %a1: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %1 = constant <f32: 0.0> : tile<64x64xf32>
  %2 = constant <i32: 0> : tile<i32>
  %3 = constant <i32: 1> : tile<i32>
  %4 = constant <i32: 1> : tile<i32>
  %7 = for %5 in (%2 to %3, step %4) : tile<i32> iter_values(%6 = %1) -> (tile<64x64xf32>) {
    %8 = make_tensor_view %a0, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
    %9 = make_partition_view %8 : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>
    %10, %11 = load_view_tko weak %9[%5, %bx] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %12 = mmaf %10, %10, %6 : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %12 : tile<64x64xf32>
  }
  %13 = constant <i32: 0> : tile<i32>
  %14 = constant <i32: 0> : tile<i32>
  %15 = make_tensor_view %a1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %16 = make_partition_view %15 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %17 = store_view_tko weak %7, %16[%13, %14] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
