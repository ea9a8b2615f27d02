// grid: 1,1,1
// arg: buffer tf32 512 uniform -1 1 seed 0
// arg: buffer tf32 8192 uniform -1 1 seed 0
// arg: buffer f16 256 uniform -1 1 seed 0
// arg: buffer f16 256 uniform -1 1 seed 0
// arg: buffer f16 1024 uniform -1 1 seed 0
// arg: buffer f16 1024 uniform -1 1 seed 0
// arg: buffer f16 256 uniform -1 1 seed 0
// arg: buffer f16 256 uniform -1 1 seed 0
// arg: buffer i1 1 zero seed 0
entry @main(%a0: tile<ptr<tf32>>, %a1: tile<ptr<tf32>>, %a2: tile<ptr<f16>>, %a3: tile<ptr<f16>>, %a5: tile<ptr<f16>>, %a6: tile<ptr<f16>>, %a7: tile<ptr<f16>>, %a8: tile<ptr<f16>>, %a9: tile<ptr<i1>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %1 = constant <f32: 0.0> : tile<f32>
  %2 = constant <f32: 0.0> : tile<f32>
  %3 = cmpf greater_than_or_equal ordered %1, %2 : tile<f32> -> tile<i1>
  if %3 {
    %5 = constant <f32: 0.0> : tile<8x128xf32>
    %6 = constant <i32: 0> : tile<i32>
    %7 = constant <i32: 1> : tile<i32>
    %10 = constant <i32: 1> : tile<i32>
    %11 = for %8 in (%6 to %7, step %10) : tile<i32> iter_values(%9 = %5) -> (tile<8x128xf32>) {
      %12 = make_tensor_view %a0, shape = [8, 64], strides = [64, 1] : tensor_view<8x64xtf32, strides=[64,1]>
      %13 = make_partition_view %12 : partition_view<tile=(8x64), padding_value = zero, tensor_view<8x64xtf32, strides=[64,1]>>
      %14, %15 = load_view_tko weak %13[%bx, %8] : partition_view<tile=(8x64), padding_value = zero, tensor_view<8x64xtf32, strides=[64,1]>>, tile<i32> -> tile<8x64xtf32>, token
      %16 = make_tensor_view %a1, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xtf32, strides=[128,1]>
      %17 = make_partition_view %16 : partition_view<tile=(64x128), padding_value = zero, tensor_view<64x128xtf32, strides=[128,1]>>
      %18, %19 = load_view_tko weak %17[%8, %by] : partition_view<tile=(64x128), padding_value = zero, tensor_view<64x128xtf32, strides=[128,1]>>, tile<i32> -> tile<64x128xtf32>, token
      %20 = mmaf %14, %18, %9 : tile<8x64xtf32>, tile<64x128xtf32>, tile<8x128xf32>
      continue %20 : tile<8x128xf32>
    }
    %21 = constant <f32: 0.0> : tile<16x16xf32>
    %22 = constant <i32: 0> : tile<i32>
    %23 = constant <i32: 1> : tile<i32>
    %26 = constant <i32: 1> : tile<i32>
    %27 = for %24 in (%22 to %23, step %26) : tile<i32> iter_values(%25 = %21) -> (tile<16x16xf32>) {
      %28 = make_tensor_view %a2, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf16, strides=[16,1]>
      %29 = make_partition_view %28 : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf16, strides=[16,1]>>
      %30, %31 = load_view_tko weak %29[%bx, %24] : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
      %32 = constant <i32: 0> : tile<i32>
      %33 = make_tensor_view %a3, shape = [1, 16, 16], strides = [256, 16, 1] : tensor_view<1x16x16xf16, strides=[256,16,1]>
      %34 = make_partition_view %33 : partition_view<tile=(1x16x16), padding_value = zero, tensor_view<1x16x16xf16, strides=[256,16,1]>>
      %35, %36 = load_view_tko weak %34[%32, %24, %by] : partition_view<tile=(1x16x16), padding_value = zero, tensor_view<1x16x16xf16, strides=[256,16,1]>>, tile<i32> -> tile<1x16x16xf16>, token
      %37 = reshape %35 : tile<1x16x16xf16> -> tile<16x16xf16>
      %38 = mmaf %30, %37, %25 : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      continue %38 : tile<16x16xf32>
    }
    %39 = constant <f32: 0.0> : tile<32x32xf32>
    %49 = constant <i32: 0> : tile<i32>
    %50 = constant <i32: 0> : tile<i32>
    %51 = addi %bx, %50 : tile<i32>
    %52 = constant <i32: 1> : tile<i32>
    %53 = mini %51, %52 signed : tile<i32>
    %56 = constant <i32: 1> : tile<i32>
    %57 = for %54 in (%49 to %53, step %56) : tile<i32> iter_values(%55 = %39) -> (tile<32x32xf32>) {
      %58 = assume div_by<16>, %a5 : tile<ptr<f16>>
      %59 = make_tensor_view %58, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf16, strides=[32,1]>
      %60 = make_partition_view %59 : partition_view<tile=(32x32), padding_value = zero, tensor_view<32x32xf16, strides=[32,1]>>
      %61, %62 = load_view_tko weak %60[%54, %bx] : partition_view<tile=(32x32), padding_value = zero, tensor_view<32x32xf16, strides=[32,1]>>, tile<i32> -> tile<32x32xf16>, token
      %63 = make_tensor_view %a6, shape = [32, 32], strides = [32, 1] : tensor_view<32x32xf16, strides=[32,1]>
      %64 = make_partition_view %63 : partition_view<tile=(32x32), padding_value = zero, tensor_view<32x32xf16, strides=[32,1]>>
      %65, %66 = load_view_tko weak %64[%54, %bx] : partition_view<tile=(32x32), padding_value = zero, tensor_view<32x32xf16, strides=[32,1]>>, tile<i32> -> tile<32x32xf16>, token
      %67 = mmaf %61, %65, %55 : tile<32x32xf16>, tile<32x32xf16>, tile<32x32xf32>
      continue %67 : tile<32x32xf32>
    }
    %68 = constant <f32: 0.0> : tile<16x16xf32>
    %69 = constant <i32: 0> : tile<i32>
    %70 = constant <i32: 1> : tile<i32>
    %73 = constant <i32: 1> : tile<i32>
    %74 = for %71 in (%69 to %70, step %73) : tile<i32> iter_values(%72 = %68) -> (tile<16x16xf32>) {
      %75 = make_tensor_view %a7, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf16, strides=[16,1]>
      %76 = make_partition_view %75 : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf16, strides=[16,1]>>
      %77, %78 = load_view_tko weak %76[%bx, %71] : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
      %79 = make_tensor_view %a8, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf16, strides=[16,1]>
      %80 = make_partition_view %79 : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf16, strides=[16,1]>>
      %81, %82 = load_view_tko weak %80[%71, %by] : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf16, strides=[16,1]>>, tile<i32> -> tile<16x16xf16>, token
      %83 = mmaf %77, %81, %72 : tile<16x16xf16>, tile<16x16xf16>, tile<16x16xf32>
      continue %83 : tile<16x16xf32>
    }
  }
  %85 = iota : tile<1xi32>
  %86 = reshape %85 : tile<1xi32> -> tile<i32>
  %90 = offset %a9, %86 : tile<ptr<i1>>, tile<i32> -> tile<ptr<i1>>
  %91 = store_ptr_tko weak %90, %3 : tile<ptr<i1>>, tile<i1> -> token
  return
}
