// grid: 1,1,1
// arg: buffer f32 256 whole -4 4 seed 1
// arg: buffer f32 1024 whole 7 7 seed 0
entry @main(%a0: tile<ptr<f32>>, %a1: tile<ptr<f32>>) {
  %0 = iota : tile<512xi32>
  %1 = trunci %0 : tile<512xi32> -> tile<512xi8>
  %2 = exti %1 unsigned : tile<512xi8> -> tile<512xi32>
  %3 = reshape %a0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %4 = broadcast %3 : tile<1xptr<f32>> -> tile<512xptr<f32>>
  %5 = offset %4, %2 : tile<512xptr<f32>>, tile<512xi32> -> tile<512xptr<f32>>
  %6, %7 = load_ptr_tko weak %5 : tile<512xptr<f32>> -> tile<512xf32>, token
  %8 = constant <i32: 128> : tile<i32>
  %9 = offset %a0, %8 : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %10 = reshape %9 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %11 = broadcast %10 : tile<1xptr<f32>> -> tile<512xptr<f32>>
  %12 = offset %11, %1 : tile<512xptr<f32>>, tile<512xi8> -> tile<512xptr<f32>>
  %13 = constant <i8: 0> : tile<512xi8>
  %14 = cmpi less_than %1, %13, signed : tile<512xi8> -> tile<512xi1>
  %15 = constant <f32: 0.5> : tile<512xf32>
  %16, %17 = load_ptr_tko weak %12, %14, %15 : tile<512xptr<f32>>, tile<512xi1>, tile<512xf32> -> tile<512xf32>, token
  %18 = make_tensor_view %a1, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %19 = make_partition_view %18 : partition_view<tile=(512), tensor_view<1024xf32, strides=[1]>>
  %20 = constant <i32: 0> : tile<i32>
  %21 = constant <i32: 1> : tile<i32>
  %22 = store_view_tko weak %6, %19[%20] : tile<512xf32>, partition_view<tile=(512), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> token
  %23 = store_view_tko weak %16, %19[%21] : tile<512xf32>, partition_view<tile=(512), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> token
  return
}
