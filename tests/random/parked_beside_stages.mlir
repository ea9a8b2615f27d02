// grid: 1,1,1
// arg: buffer bf16 279 uniform -1 1 seed 0
// arg: buffer bf16 8192 uniform -1 1 seed 0
// arg: buffer f32 512 whole 7 7 seed 0 within 8.056640625e-3
// arg: buffer i32 128 any seed 0
// arg: buffer f32 1 whole -4 4 seed 0
// arg: buffer f32 6144 uniform -1 1 seed 0
// arg: buffer f32 6144 uniform -1 1 seed 0
// arg: buffer f32 24576 uniform -1 1 seed 0
// arg: buffer f32 24576 uniform -1 1 seed 0
// arg: buffer f32 8192 whole 7 7 seed 0 within 1e-2
// arg: buffer f32 8192 whole 7 7 seed 0 within 1e-2
entry @main(%a1: tile<ptr<bf16>>, %a2: tile<ptr<bf16>>, %a3: tile<ptr<f32>>, %a6: tile<ptr<i32>>, %a7: tile<ptr<f32>>, %a10: tile<ptr<f32>>, %a11: tile<ptr<f32>>, %a12: tile<ptr<f32>>, %a15: tile<ptr<f32>>, %o1: tile<ptr<f32>>, %o2: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %8 = constant <f32: 0.0> : tile<8x64xf32>
  %9 = constant <i32: 0> : tile<i32>
  %10 = constant <i32: 0> : tile<i32>
  %11 = make_tensor_view %a1, shape = [3, 93], strides = [93, 1] : tensor_view<3x93xbf16, strides=[93,1]>
  %12 = make_partition_view %11 : partition_view<tile=(8x128), padding_value = zero, tensor_view<3x93xbf16, strides=[93,1]>>
  %13, %14 = load_view_tko weak %12[%9, %10] : partition_view<tile=(8x128), padding_value = zero, tensor_view<3x93xbf16, strides=[93,1]>>, tile<i32> -> tile<8x128xbf16>, token
  %15 = constant <i32: 0> : tile<i32>
  %16 = constant <i32: 0> : tile<i32>
  %17 = make_tensor_view %a2, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xbf16, strides=[64,1]>
  %18 = make_partition_view %17 : partition_view<tile=(128x64), padding_value = zero, tensor_view<128x64xbf16, strides=[64,1]>>
  %19, %20 = load_view_tko weak %18[%15, %16] : partition_view<tile=(128x64), padding_value = zero, tensor_view<128x64xbf16, strides=[64,1]>>, tile<i32> -> tile<128x64xbf16>, token
  %21 = mmaf %13, %19, %8 : tile<8x128xbf16>, tile<128x64xbf16>, tile<8x64xf32>
  %22 = constant <i32: 0> : tile<i32>
  %23 = constant <i32: 0> : tile<i32>
  %24 = make_tensor_view %a3, shape = [8, 64], strides = [64, 1] : tensor_view<8x64xf32, strides=[64,1]>
  %25 = make_partition_view %24 : partition_view<tile=(8x64), tensor_view<8x64xf32, strides=[64,1]>>
  %26 = store_view_tko weak %21, %25[%22, %23] : tile<8x64xf32>, partition_view<tile=(8x64), tensor_view<8x64xf32, strides=[64,1]>>, tile<i32> -> token
  %35 = constant <f32: 0.0> : tile<f32>
  %36 = constant <f32: 0.0> : tile<f32>
  %37 = cmpf greater_than_or_equal ordered %35, %36 : tile<f32> -> tile<i1>
  %39 = make_tensor_view %a6, shape = [128], strides = [1] : tensor_view<128xi32, strides=[1]>
  %40 = make_partition_view %39 : partition_view<tile=(128), padding_value = zero, tensor_view<128xi32, strides=[1]>>
  %41, %42 = load_view_tko weak %40[%bx] : partition_view<tile=(128), padding_value = zero, tensor_view<128xi32, strides=[1]>>, tile<i32> -> tile<128xi32>, token
  %43 = constant <i32: 0> : tile<128xi32>
  %44 = andi %41, %43 : tile<128xi32>
  %45 = reshape %a7 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %46 = broadcast %45 : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %47 = offset %46, %44 : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %48, %49 = load_ptr_tko weak %47 : tile<128xptr<f32>> -> tile<128xf32>, token
  %50 = if %37 -> (tile<128xf32>) {
    %61 = constant <f32: 0.0> : tile<64x128xf32>
    %62 = constant <f32: 0.0> : tile<128x64xf32>
    %69 = constant <i32: 0> : tile<i32>
    %70 = constant <i32: 3> : tile<i32>
    %74 = constant <i32: 1> : tile<i32>
    %75:2 = for %71 in (%69 to %70, step %74) : tile<i32> iter_values(%72 = %61, %73 = %62) -> (tile<64x128xf32>, tile<128x64xf32>) {
      %76 = constant <f32: 0.0> : tile<64x64xf32>
      %77 = constant <i32: 0> : tile<i32>
      %78 = make_tensor_view %a10, shape = [1, 192, 32], strides = [6144, 32, 1] : tensor_view<1x192x32xf32, strides=[6144,32,1]>
      %79 = make_partition_view %78 : partition_view<tile=(1x64x32), padding_value = zero, tensor_view<1x192x32xf32, strides=[6144,32,1]>>
      %80, %81 = load_view_tko weak %79[%77, %71, %bx] : partition_view<tile=(1x64x32), padding_value = zero, tensor_view<1x192x32xf32, strides=[6144,32,1]>>, tile<i32> -> tile<1x64x32xf32>, token
      %82 = reshape %80 : tile<1x64x32xf32> -> tile<64x32xf32>
      %83 = make_tensor_view %a11, shape = [96, 64], strides = [64, 1] : tensor_view<96x64xf32, strides=[64,1]>
      %84 = make_partition_view %83 : partition_view<tile=(32x64), padding_value = neg_zero, tensor_view<96x64xf32, strides=[64,1]>>
      %85, %86 = load_view_tko weak %84[%71, %bx] : partition_view<tile=(32x64), padding_value = neg_zero, tensor_view<96x64xf32, strides=[64,1]>>, tile<i32> -> tile<32x64xf32>, token
      %87 = mmaf %82, %85, %76 : tile<64x32xf32>, tile<32x64xf32>, tile<64x64xf32>
      %88 = constant <f32: -2.0> : tile<64x64xf32>
      %89 = constant <f32: 2.0> : tile<64x64xf32>
      %90 = maxf %87, %88 : tile<64x64xf32>
      %91 = minf %90, %89 : tile<64x64xf32>
      %92 = make_tensor_view %a12, shape = [192, 128], strides = [128, 1] : tensor_view<192x128xf32, strides=[128,1]>
      %93 = make_partition_view %92 : partition_view<tile=(64x128), padding_value = zero, tensor_view<192x128xf32, strides=[128,1]>>
      %94, %95 = load_view_tko weak %93[%71, %bx] : partition_view<tile=(64x128), padding_value = zero, tensor_view<192x128xf32, strides=[128,1]>>, tile<i32> -> tile<64x128xf32>, token
      %96 = mmaf %91, %94, %72 : tile<64x64xf32>, tile<64x128xf32>, tile<64x128xf32>
      %107 = make_tensor_view %a15, shape = [384, 64], strides = [64, 1] : tensor_view<384x64xf32, strides=[64,1]>
      %108 = make_partition_view %107 : partition_view<tile=(128x64), padding_value = pos_inf, tensor_view<384x64xf32, strides=[64,1]>>
      %109, %110 = load_view_tko weak %108[%71, %bx] : partition_view<tile=(128x64), padding_value = pos_inf, tensor_view<384x64xf32, strides=[64,1]>>, tile<i32> -> tile<128x64xf32>, token
      %111 = constant <f32: -2.0> : tile<128x64xf32>
      %112 = constant <f32: 2.0> : tile<128x64xf32>
      %113 = maxf %109, %111 : tile<128x64xf32>
      %114 = minf %113, %112 : tile<128x64xf32>
      %115 = mmaf %114, %91, %73 : tile<128x64xf32>, tile<64x64xf32>, tile<128x64xf32>
      continue %96, %115 : tile<64x128xf32>, tile<128x64xf32>
    }
    %z0 = constant <i32: 0> : tile<i32>
    %v1 = make_tensor_view %o1, shape = [64,128], strides = [128, 1] : tensor_view<64x128xf32, strides=[128,1]>
    %p1 = make_partition_view %v1 : partition_view<tile=(64x128), tensor_view<64x128xf32, strides=[128,1]>>
    %s1 = store_view_tko weak %75#0, %p1[%z0, %z0] : tile<64x128xf32>, partition_view<tile=(64x128), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> token
    %v2 = make_tensor_view %o2, shape = [128,64], strides = [64, 1] : tensor_view<128x64xf32, strides=[64,1]>
    %p2 = make_partition_view %v2 : partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>
    %s2 = store_view_tko weak %75#1, %p2[%z0, %z0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<128x64xf32, strides=[64,1]>>, tile<i32> -> token
    yield %48 : tile<128xf32>
  } else {
    yield %48 : tile<128xf32>
  }
  return
}
