// grid: 3,1,1
// arg: buffer f16 4096 uniform -1 1 seed 0
// arg: buffer i32 4608 any seed 0
// arg: buffer f16 4608 whole 0 2 seed 0
// arg: buffer f32 3840 uniform -1 1 seed 0
// arg: buffer f32 1280 uniform -1 1 seed 0
// arg: buffer f32 12288 whole 7 7 seed 0 within 1e-2
entry @main(%a1: tile<ptr<f16>>, %a2: tile<ptr<i32>>, %a3: tile<ptr<f16>>, %a19: tile<ptr<f32>>, %a20: tile<ptr<f32>>, %o0: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %1 = constant <f32: 0.0> : tile<64x64xf32>
  %7 = constant <i32: 0> : tile<i32>
  %8 = constant <i32: 0> : tile<i32>
  %9 = make_tensor_view %a1, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %10 = make_partition_view %9 : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>
  %11, %12 = load_view_tko weak %10[%7, %8] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %13 = constant <i32: 0> : tile<i32>
  %14 = constant <i32: 3> : tile<i32>
  %17 = constant <i32: 1> : tile<i32>
  %18 = for %15 in (%13 to %14, step %17) : tile<i32> iter_values(%16 = %1) -> (tile<64x64xf32>) {
    %19 = make_tensor_view %a2, shape = [24, 192], strides = [192, 1] : tensor_view<24x192xi32, strides=[192,1]>
    %20 = make_partition_view %19 : partition_view<tile=(8x64), padding_value = zero, tensor_view<24x192xi32, strides=[192,1]>>
    %21, %22 = load_view_tko weak %20[%15, %bx] : partition_view<tile=(8x64), padding_value = zero, tensor_view<24x192xi32, strides=[192,1]>>, tile<i32> -> tile<8x64xi32>, token
    %23 = reshape %21 : tile<8x64xi32> -> tile<8x1x64xi32>
    %24 = broadcast %23 : tile<8x1x64xi32> -> tile<8x8x64xi32>
    %25 = iota : tile<8xi32>
    %26 = constant <i32: 4> : tile<8xi32>
    %27 = muli %25, %26 : tile<8xi32>
    %28 = reshape %27 : tile<8xi32> -> tile<1x8x1xi32>
    %29 = broadcast %28 : tile<1x8x1xi32> -> tile<8x8x64xi32>
    %30 = shri %24, %29 unsigned : tile<8x8x64xi32>
    %31 = constant <i32: 15> : tile<8x8x64xi32>
    %32 = andi %30, %31 : tile<8x8x64xi32>
    %33 = reshape %32 : tile<8x8x64xi32> -> tile<64x64xi32>
    %34 = constant <i32: 8> : tile<64x64xi32>
    %35 = subi %33, %34 : tile<64x64xi32>
    %36 = itof %35 signed : tile<64x64xi32> -> tile<64x64xf16>
    %37 = make_tensor_view %a3, shape = [24, 192], strides = [192, 1] : tensor_view<24x192xf16, strides=[192,1]>
    %38 = make_partition_view %37 : partition_view<tile=(8x64), padding_value = zero, tensor_view<24x192xf16, strides=[192,1]>>
    %39, %40 = load_view_tko weak %38[%15, %bx] : partition_view<tile=(8x64), padding_value = zero, tensor_view<24x192xf16, strides=[192,1]>>, tile<i32> -> tile<8x64xf16>, token
    %41 = constant <f16: 0.0> : tile<8x64xf16>
    %42 = constant <f16: 2.0> : tile<8x64xf16>
    %43 = maxf %39, %41 : tile<8x64xf16>
    %44 = minf %43, %42 : tile<8x64xf16>
    %45 = reshape %44 : tile<8x64xf16> -> tile<8x1x64xf16>
    %46 = broadcast %45 : tile<8x1x64xf16> -> tile<8x8x64xf16>
    %47 = reshape %46 : tile<8x8x64xf16> -> tile<64x64xf16>
    %48 = mulf %36, %47 : tile<64x64xf16>
    %49 = mmaf %48, %11, %16 : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %49 : tile<64x64xf32>
  }
  %109 = cmpi less_than_or_equal %bz, %bz, signed : tile<i32> -> tile<i1>
  if %109 {
    %208 = constant <f32: 0.0> : tile<16x16xf32>
    %209 = constant <i32: 0> : tile<i32>
    %210 = constant <i32: 5> : tile<i32>
    %213 = constant <i32: 1> : tile<i32>
    %214 = for %211 in (%209 to %210, step %213) : tile<i32> iter_values(%212 = %208) -> (tile<16x16xf32>) {
      %215 = constant <i32: 3> : tile<i32>
      %216 = cmpi less_than %211, %215, signed : tile<i32> -> tile<i1>
      %217 = if %216 -> (tile<16x16xf32>) {
        %218 = make_tensor_view %a19, shape = [48, 80], strides = [80, 1] : tensor_view<48x80xf32, strides=[80,1]>
        %219 = make_partition_view %218 : partition_view<tile=(16x16), padding_value = zero, tensor_view<48x80xf32, strides=[80,1]>>
        %220, %221 = load_view_tko weak %219[%bx, %211] : partition_view<tile=(16x16), padding_value = zero, tensor_view<48x80xf32, strides=[80,1]>>, tile<i32> -> tile<16x16xf32>, token
        %222 = make_tensor_view %a20, shape = [80, 16], strides = [16, 1] : tensor_view<80x16xf32, strides=[16,1]>
        %223 = make_partition_view %222 : partition_view<tile=(16x16), padding_value = zero, tensor_view<80x16xf32, strides=[16,1]>>
        %224, %225 = load_view_tko weak %223[%211, %by] : partition_view<tile=(16x16), padding_value = zero, tensor_view<80x16xf32, strides=[16,1]>>, tile<i32> -> tile<16x16xf32>, token
        %226 = mmaf %220, %224, %212 : tile<16x16xf32>, tile<16x16xf32>, tile<16x16xf32>
        yield %226 : tile<16x16xf32>
      } else {
        yield %212 : tile<16x16xf32>
      }
      continue %217 : tile<16x16xf32>
    }
  }
  %z0 = constant <i32: 0> : tile<i32>
  %v0 = make_tensor_view %o0, shape = [192, 64], strides = [64, 1] : tensor_view<192x64xf32, strides=[64,1]>
  %p0 = make_partition_view %v0 : partition_view<tile=(64x64), tensor_view<192x64xf32, strides=[64,1]>>
  %s0 = store_view_tko weak %18, %p0[%bx, %z0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<192x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
