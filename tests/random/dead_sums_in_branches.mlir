// grid: 1,1,1
// arg: buffer f32 512 uniform -1 1 seed 1
// arg: i32 1
// arg: buffer f32 512 whole 7 7 seed 0
entry @main(%a0: tile<ptr<f32>>, %n: tile<i32>, %a1: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = make_tensor_view %a0, shape = [64, 8], strides = [8, 1] : tensor_view<64x8xf32, strides=[8,1]>
  %2 = make_partition_view %1 : partition_view<tile=(64x8), tensor_view<64x8xf32, strides=[8,1]>>
  %3, %4 = load_view_tko weak %2[%0, %0] : partition_view<tile=(64x8), tensor_view<64x8xf32, strides=[8,1]>>, tile<i32> -> tile<64x8xf32>, token
  %5 = reduce %3 dim=1 identities=[-0.0 : f32] : tile<64x8xf32> -> tile<64xf32>
  (%6: tile<f32>, %7: tile<f32>) {
    %8 = addf %6, %7 : tile<f32>
    yield %8 : tile<f32>
  }
  %9 = constant <f32: 0.125> : tile<64xf32>
  %10 = mulf %5, %9 : tile<64xf32>
  %11 = reshape %10 : tile<64xf32> -> tile<64x1xf32>
  %12 = broadcast %11 : tile<64x1xf32> -> tile<64x8xf32>
  %13 = subf %3, %12 : tile<64x8xf32>
  %14 = cmpi less_than %0, %n, signed : tile<i32> -> tile<i1>
  %15 = if %14 -> (tile<64x8xf32>) {
    %16 = reduce %13 dim=1 identities=[-0.0 : f32] : tile<64x8xf32> -> tile<64xf32>
    (%17: tile<f32>, %18: tile<f32>) {
      %19 = addf %17, %18 : tile<f32>
      yield %19 : tile<f32>
    }
    yield %3 : tile<64x8xf32>
  } else {
    %20 = reduce %13 dim=1 identities=[-0.0 : f32] : tile<64x8xf32> -> tile<64xf32>
    (%21: tile<f32>, %22: tile<f32>) {
      %23 = addf %21, %22 : tile<f32>
      yield %23 : tile<f32>
    }
    %24 = negf %3 : tile<64x8xf32>
    yield %24 : tile<64x8xf32>
  }
  %25 = make_tensor_view %a1, shape = [64, 8], strides = [8, 1] : tensor_view<64x8xf32, strides=[8,1]>
  %26 = make_partition_view %25 : partition_view<tile=(64x8), tensor_view<64x8xf32, strides=[8,1]>>
  %27 = store_view_tko weak %15, %26[%0, %0] : tile<64x8xf32>, partition_view<tile=(64x8), tensor_view<64x8xf32, strides=[8,1]>>, tile<i32> -> token
  return
}
