// Stages of 64 bytes: each must begin where a tensor copy may write.
// grid: 1,1,1
// arg: buffer i32 1 whole 0 15 seed 0
// arg: buffer f16 64 uniform -1 1 seed 0
// arg: buffer f16 512 uniform -1 1 seed 0
// arg: buffer f32 32 whole 7 7 seed 0 within 5.4931640625e-4
entry @main(%a0: tile<ptr<i32>>, %a1: tile<ptr<f16>>, %a2: tile<ptr<f16>>, %a3: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %1 = constant <i32: 0> : tile<i32>
  %2 = make_tensor_view %a0, shape = [1], strides = [1] : tensor_view<1xi32, strides=[1]>
  %3 = make_partition_view %2 : partition_view<tile=(1), padding_value = zero, tensor_view<1xi32, strides=[1]>>
  %4, %5 = load_view_tko weak %3[%1] : partition_view<tile=(1), padding_value = zero, tensor_view<1xi32, strides=[1]>>, tile<i32> -> tile<1xi32>, token
  %6 = itof %4 unsigned : tile<1xi32> -> tile<1xf32>
  %7 = constant <i32: -1> : tile<1xi32>
  %8 = addi %7, %4 : tile<1xi32>
  %9 = constant <f32: 0.0> : tile<2x16xf32>
  %10 = constant <i32: 0> : tile<i32>
  %11 = constant <i32: 2> : tile<i32>
  %12 = constant <i32: 1> : tile<i32>
  %15 = for %13 in (%10 to %11, step %12) : tile<i32> iter_values(%14 = %9) -> (tile<2x16xf32>) {
    %16 = assume div_by<16>, %a1 : tile<ptr<f16>>
    %17 = make_tensor_view %16, shape = [2, 32], strides = [32, 1] : tensor_view<2x32xf16, strides=[32,1]>
    %18 = make_partition_view %17 : partition_view<tile=(2x16), padding_value = zero, tensor_view<2x32xf16, strides=[32,1]>>
    %19, %20 = load_view_tko weak %18[%bx, %13] : partition_view<tile=(2x16), padding_value = zero, tensor_view<2x32xf16, strides=[32,1]>>, tile<i32> -> tile<2x16xf16>, token
    %21 = make_tensor_view %a2, shape = [32, 16], strides = [16, 1] : tensor_view<32x16xf16, strides=[16,1]>
    %22 = make_partition_view %21 : partition_view<tile=(16x16), padding_value = zero, tensor_view<32x16xf16, strides=[16,1]>>
    %23, %24 = load_view_tko weak %22[%13, %by] : partition_view<tile=(16x16), padding_value = zero, tensor_view<32x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
    %25 = mmaf %19, %23, %14 : tile<2x16xf16>, tile<16x16xf16>, tile<2x16xf32>
    continue %25 : tile<2x16xf32>
  }
  %26 = constant <i32: 0> : tile<i32>
  %27 = constant <i32: 0> : tile<i32>
  %28 = make_tensor_view %a3, shape = [2, 16], strides = [16, 1] : tensor_view<2x16xf32, strides=[16,1]>
  %29 = make_partition_view %28 : partition_view<tile=(2x16), tensor_view<2x16xf32, strides=[16,1]>>
  %30 = store_view_tko weak %15, %29[%26, %27] : tile<2x16xf32>, partition_view<tile=(2x16), tensor_view<2x16xf32, strides=[16,1]>>, tile<i32> -> token
  return
}
