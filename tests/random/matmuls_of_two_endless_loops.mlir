// grid: 1,1,1
// arg: buffer f16 1024 uniform -1 1 seed 0
// arg: buffer f16 256 uniform -1 1 seed 0
// arg: buffer f64 256 uniform -1 1 seed 0
// arg: buffer f64 256 uniform -1 1 seed 0
// arg: buffer f64 256 whole 7 7 seed 0 within 2.8421709430404007e-13
entry @main(%a0: tile<ptr<f16>>, %a1: tile<ptr<f16>>, %a2: tile<ptr<f64>>, %a3: tile<ptr<f64>>, %a4: tile<ptr<f64>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %1 = constant <f32: 0.0> : tile<64x16xf32>
  %2 = constant <i32: 0> : tile<i32>
  %3 = constant <i32: 1> : tile<i32>
  %6:2 = loop iter_values(%4 = %2, %5 = %1) : tile<i32>, tile<64x16xf32> -> tile<i32>, tile<64x16xf32> {
    %7a = cmpi greater_than_or_equal %4, %3, signed : tile<i32> -> tile<i1>
    %7 = ori %7a, %7a : tile<i1>
    if %7 {
      break %4, %5 : tile<i32>, tile<64x16xf32>
    } else {
    }
    %8 = make_tensor_view %a0, shape = [64, 16], strides = [16, 1] : tensor_view<64x16xf16, strides=[16,1]>
    %9 = make_partition_view %8 : partition_view<tile=(64x16), padding_value = zero, tensor_view<64x16xf16, strides=[16,1]>>
    %10, %11 = load_view_tko weak %9[%bx, %4] : partition_view<tile=(64x16), padding_value = zero, tensor_view<64x16xf16, strides=[16,1]>>, tile<i32> -> tile<64x16xf16>, token
    %12 = constant <i32: 0> : tile<i32>
    %13 = make_tensor_view %a1, shape = [1, 16, 16], strides = [256, 16, 1] : tensor_view<1x16x16xf16, strides=[256,16,1]>
    %14 = make_partition_view %13 : partition_view<tile=(1x16x16), padding_value = zero, tensor_view<1x16x16xf16, strides=[256,16,1]>>
    %15, %16 = load_view_tko weak %14[%12, %4, %by] : partition_view<tile=(1x16x16), padding_value = zero, tensor_view<1x16x16xf16, strides=[256,16,1]>>, tile<i32> -> tile<1x16x16xf16>, token
    %17 = reshape %15 : tile<1x16x16xf16> -> tile<16x16xf16>
    %18 = constant <f32: 0.0> : tile<1xf32>
    %19 = mmaf %10, %17, %5 : tile<64x16xf16>, tile<16x16xf16>, tile<64x16xf32>
    %20 = constant <i32: 1> : tile<i32>
    %21 = addi %4, %20 : tile<i32>
    continue %21, %19 : tile<i32>, tile<64x16xf32>
  }
  %22 = constant <f64: 0.0> : tile<16x16xf64>
  %23 = constant <i32: 0> : tile<i32>
  %24 = constant <i32: 1> : tile<i32>
  %27:2 = loop iter_values(%25 = %23, %26 = %22) : tile<i32>, tile<16x16xf64> -> tile<i32>, tile<16x16xf64> {
    %28a = cmpi greater_than_or_equal %25, %24, signed : tile<i32> -> tile<i1>
    %28 = ori %28a, %28a : tile<i1>
    if %28 {
      break %25, %26 : tile<i32>, tile<16x16xf64>
    } else {
    }
    %29 = assume div_by<16>, %a2 : tile<ptr<f64>>
    %30 = make_tensor_view %29, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf64, strides=[16,1]>
    %31 = make_partition_view %30 : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf64, strides=[16,1]>>
    %32, %33 = load_view_tko weak %31[%bx, %25] : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf64, strides=[16,1]>>, tile<i32> -> tile<16x16xf64>, token
    %34 = make_tensor_view %a3, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf64, strides=[16,1]>
    %35 = make_partition_view %34 : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf64, strides=[16,1]>>
    %36, %37 = load_view_tko weak %35[%25, %by] : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x16xf64, strides=[16,1]>>, tile<i32> -> tile<16x16xf64>, token
    %38 = mmaf %32, %36, %26 : tile<16x16xf64>, tile<16x16xf64>, tile<16x16xf64>
    %39 = constant <i32: 1> : tile<i32>
    %40 = addi %25, %39 : tile<i32>
    continue %40, %38 : tile<i32>, tile<16x16xf64>
  }
  %41 = constant <i32: 0> : tile<i32>
  %42 = constant <i32: 0> : tile<i32>
  %43 = make_tensor_view %a4, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xf64, strides=[16,1]>
  %44 = make_partition_view %43 : partition_view<tile=(16x16), tensor_view<16x16xf64, strides=[16,1]>>
  %45 = store_view_tko weak %27#1, %44[%41, %42] : tile<16x16xf64>, partition_view<tile=(16x16), tensor_view<16x16xf64, strides=[16,1]>>, tile<i32> -> token
  return
}
