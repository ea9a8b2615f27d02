// grid: 1,1,1
// arg: buffer tf32 1024 uniform -1 1 seed 0
// arg: buffer tf32 1024 uniform -1 1 seed 0
// arg: buffer f16 1024 uniform -1 1 seed 0
// arg: buffer f32 4096 whole 7 7 seed 0 within 3.0517723644152284e-4
entry @main(%a0: tile<ptr<tf32>>, %a1: tile<ptr<tf32>>, %a3: tile<ptr<f16>>, %a6: tile<ptr<f32>>) {
  %1 = constant <i32: 0> : tile<i32>
  %2 = constant <i32: 0> : tile<i32>
  %3 = make_tensor_view %a0, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xtf32, strides=[16,1]>
  %4 = make_partition_view %3 : partition_view<tile=(64x16), padding_value = zero, tensor_view<64x16xtf32, strides=[16,1]>>
  %5, %6 = load_view_tko weak %4[%1, %2] : partition_view<tile=(64x16), padding_value = zero, tensor_view<64x16xtf32, strides=[16,1]>>, tile<i32> -> tile<64x16xtf32>, token
  %7 = constant <i32: 0> : tile<i32>
  %8 = constant <i32: 0> : tile<i32>
  %9 = make_tensor_view %a1, shape = [16, 64], strides = [64, 1] : tensor_view<16x64xtf32, strides=[64,1]>
  %10 = make_partition_view %9 : partition_view<tile=(16x64), padding_value = zero, tensor_view<16x64xtf32, strides=[64,1]>>
  %11, %12 = load_view_tko weak %10[%7, %8] : partition_view<tile=(16x64), padding_value = zero, tensor_view<16x64xtf32, strides=[64,1]>>, tile<i32> -> tile<16x64xtf32>, token
  %13 = constant <f32: 0.0> : tile<64x64xf32>
  %14 = mmaf %5, %11, %13 : tile<64x16xtf32>, tile<16x64xtf32>, tile<64x64xf32>
  %24 = constant <f16: 0.0> : tile<64x16xf16>
  %25 = constant <i32: 0> : tile<i32>
  %26 = constant <i32: 0> : tile<i32>
  %27 = make_tensor_view %a3, shape = [16, 64], strides = [64, 1] : tensor_view<16x64xf16, strides=[64,1]>
  %28 = make_partition_view %27 : partition_view<tile=(16x64), padding_value = zero, tensor_view<16x64xf16, strides=[64,1]>>
  %29, %30 = load_view_tko weak %28[%25, %26] : partition_view<tile=(16x64), padding_value = zero, tensor_view<16x64xf16, strides=[64,1]>>, tile<i32> -> tile<16x64xf16>, token
  %31 = mmaf %24, %29, %14 : tile<64x16xf16>, tile<16x64xf16>, tile<64x64xf32>
  %49 = constant <i32: 0> : tile<i32>
  %50 = constant <i32: 0> : tile<i32>
  %51 = make_tensor_view %a6, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %52 = make_partition_view %51 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %53 = store_view_tko weak %31, %52[%49, %50] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
