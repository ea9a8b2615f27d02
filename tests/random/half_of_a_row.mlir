// Eight columns of a right operand of 16 for each warpgroup: half of a swizzled row, which no descriptor names.
// grid: 1,1,1
// arg: buffer f16 2048 uniform -1 1 seed 0
// arg: buffer f16 256 uniform -1 1 seed 0
// arg: buffer f16 1024 uniform -1 1 seed 0
// arg: buffer f16 256 uniform -1 1 seed 0
// arg: buffer f32 2048 whole 7 7 seed 0 within 1.52587890625e-4
// arg: buffer f32 1024 whole 7 7 seed 0 within 1.52587890625e-4
entry @main(%a2: tile<ptr<f16>>, %a3: tile<ptr<f16>>, %a6: tile<ptr<f16>>, %a7: tile<ptr<f16>>, %a9: tile<ptr<f32>>, %a8: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %15 = constant <f32: 0.0> : tile<128x16xf32>
  %16 = constant <i32: 0> : tile<i32>
  %17 = constant <i32: 1> : tile<i32>
  %18 = constant <i32: 1> : tile<i32>
  %21 = for %19 in (%16 to %17, step %18) : tile<i32> iter_values(%20 = %15) -> (tile<128x16xf32>) {
    %22 = make_tensor_view %a2, shape = [128, 16], strides = [16, 1] : tensor_view<128x16xf16, strides=[16,1]>
    %23 = make_partition_view %22 : partition_view<tile=(128x16), padding_value = zero, tensor_view<128x16xf16, strides=[16,1]>>
    %24, %25 = load_view_tko weak %23[%bx, %19] : partition_view<tile=(128x16), padding_value = zero, tensor_view<128x16xf16, strides=[16,1]>>, tile<i32> -> tile<128x16xf16>, token
    %26 = make_tensor_view %a3, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf16, strides=[16,1]>
    %27 = make_partition_view %26 : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf16, strides=[16,1]>>
    %28, %29 = load_view_tko weak %27[%19, %by] : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
    %30 = mmaf %24, %28, %20 : tile<128x16xf16>, tile<16x16xf16>, tile<128x16xf32>
    continue %30 : tile<128x16xf32>
  }
  %70 = make_tensor_view %a9, shape = [128, 16], strides = [16, 1] : tensor_view<128x16xf32, strides=[16,1]>
  %71 = make_partition_view %70 : partition_view<tile=(128x16), tensor_view<128x16xf32, strides=[16,1]>>
  %72 = store_view_tko weak %21, %71[%16, %16] : tile<128x16xf32>, partition_view<tile=(128x16), tensor_view<128x16xf32, strides=[16,1]>>, tile<i32> -> token
  %47 = constant <f32: 0.0> : tile<64x16xf32>
  %48 = constant <i32: 0> : tile<i32>
  %49 = constant <i32: 1> : tile<i32>
  %50 = constant <i32: 1> : tile<i32>
  %53 = for %51 in (%48 to %49, step %50) : tile<i32> iter_values(%52 = %47) -> (tile<64x16xf32>) {
    %54 = make_tensor_view %a6, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf16, strides=[16,1]>
    %55 = make_partition_view %54 : partition_view<tile=(64x16), padding_value = zero, tensor_view<64x16xf16, strides=[16,1]>>
    %56, %57 = load_view_tko weak %55[%bx, %51] : partition_view<tile=(64x16), padding_value = zero, tensor_view<64x16xf16, strides=[16,1]>>, tile<i32> -> tile<64x16xf16>, token
    %58 = make_tensor_view %a7, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf16, strides=[16,1]>
    %59 = make_partition_view %58 : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf16, strides=[16,1]>>
    %60, %61 = load_view_tko weak %59[%51, %by] : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
    %62 = mmaf %56, %60, %52 : tile<64x16xf16>, tile<16x16xf16>, tile<64x16xf32>
    continue %62 : tile<64x16xf32>
  }
  %63 = constant <i32: 0> : tile<i32>
  %64 = constant <i32: 0> : tile<i32>
  %65 = make_tensor_view %a8, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf32, strides=[16,1]>
  %66 = make_partition_view %65 : partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>
  %67 = store_view_tko weak %53, %66[%63, %64] : tile<64x16xf32>, partition_view<tile=(64x16), tensor_view<64x16xf32, strides=[16,1]>>, tile<i32> -> token
  return
}
