// A left operand of zeros that wgmma reads in registers: they are written before the fence.
// grid: 1,1,1
// arg: buffer f16 256 uniform -1 1 seed 0
// arg: buffer f32 1024 whole 7 7 seed 0
entry @main(%a0: tile<ptr<f16>>, %a1: tile<ptr<f32>>) {
  %65 = constant <f16: 0.0> : tile<64x16xf16>
  %66 = constant <i32: 0> : tile<i32>
  %67 = constant <i32: 0> : tile<i32>
  %68 = make_tensor_view %a0, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf16, strides=[16,1]>
  %69 = make_partition_view %68 : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf16, strides=[16,1]>>
  %70, %71 = load_view_tko weak %69[%66, %67] : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
  %72 = constant <f32: 0.0> : tile<64x16xf32>
  %73 = mmaf %65, %70, %72 : tile<64x16xf16>, tile<16x16xf16>, tile<64x16xf32>
  %74 = constant <i32: 0> : tile<i32>
  %75 = constant <i32: 0> : tile<i32>
  %76 = make_tensor_view %a1, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf32, strides=[16,1]>
  %77 = make_partition_view %76 : partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>
  %78 = store_view_tko weak %73, %77[%74, %75] : tile<64x16xf32>, partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>, tile<i32> -> token
  return
}
