// grid: 1,1,1
// arg: buffer f32 2048 uniform -1 1 seed 0
// arg: buffer f32 16384 uniform -1 1 seed 0
// arg: buffer f32 2048 whole 7 7 seed 0 within 2.600727081298828e-1
entry @main(%a3: tile<ptr<f32>>, %a4: tile<ptr<f32>>, %a10: tile<ptr<f32>>) {
  %40 = constant <i32: 0> : tile<i32>
  %41 = constant <i32: 0> : tile<i32>
  %42 = make_tensor_view %a3, shape = [128, 16], strides = [16, 1] : tensor_view<128x16xf32, strides=[16,1]>
  %43 = make_partition_view %42 : partition_view<tile=(128x16), padding_value = nan, tensor_view<128x16xf32, strides=[16,1]>>
  %44, %45 = load_view_tko weak %43[%40, %41] : partition_view<tile=(128x16), padding_value = nan, tensor_view<128x16xf32, strides=[16,1]>>, tile<i32> -> tile<128x16xf32>, token
  %46 = constant <f32: -2.0> : tile<128x16xf32>
  %47 = constant <f32: 2.0> : tile<128x16xf32>
  %48 = maxf %44, %46 : tile<128x16xf32>
  %49 = minf %48, %47 : tile<128x16xf32>
  %50 = permute %49 [1, 0] : tile<128x16xf32> -> tile<16x128xf32>
  %51 = constant <i32: 0> : tile<i32>
  %52 = constant <i32: 0> : tile<i32>
  %53 = make_tensor_view %a4, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %54 = make_partition_view %53 : partition_view<tile=(128x128), padding_value = zero, tensor_view<128x128xf32, strides=[128,1]>>
  %55, %56 = load_view_tko weak %54[%51, %52] : partition_view<tile=(128x128), padding_value = zero, tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> tile<128x128xf32>, token
  %57 = mmaf %50, %55, %50 : tile<16x128xf32>, tile<128x128xf32>, tile<16x128xf32>
  %95 = constant <i32: 0> : tile<i32>
  %96 = constant <i32: 0> : tile<i32>
  %97 = make_tensor_view %a10, shape = [16, 128], strides = [128, 1] : tensor_view<16x128xf32, strides=[128,1]>
  %98 = make_partition_view %97 : partition_view<tile=(16x128), tensor_view<16x128xf32, strides=[128,1]>>
  %99 = store_view_tko weak %57, %98[%95, %96] : tile<16x128xf32>, partition_view<tile=(16x128), tensor_view<16x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
