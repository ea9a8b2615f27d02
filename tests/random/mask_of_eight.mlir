// A constant true mask of eight elements, splat, was read as eight packed bits.
// grid: 1,1,1
// arg: buffer f32 1 uniform -2 2 seed 0
// arg: buffer f32 1024 whole 7 7 seed 0
entry @main(%a0: tile<ptr<f32>>, %a1: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %1 = constant <i32: 0> : tile<i32>
  %2 = constant <i32: 0> : tile<1024xi32>
  %3 = constant <i32: 1> : tile<1024xi32>
  %4 = andi %2, %3 : tile<1024xi32>
  %5 = constant <i32: 1> : tile<1024xi32>
  %6 = cmpi less_than %4, %5, signed : tile<1024xi32> -> tile<1024xi1>
  %7 = reshape %a0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %8 = broadcast %7 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %9 = offset %8, %4 : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %12 = constant <f32: 0.0> : tile<1024xf32>
  %10, %11 = load_ptr_tko weak %9, %6, %12 : tile<1024xptr<f32>>, tile<1024xi1>, tile<1024xf32> -> tile<1024xf32>, token
  %13 = addf %10, %10 : tile<1024xf32>
  %14 = constant <i32: 0> : tile<i32>
  %15 = make_tensor_view %a1, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %16 = make_partition_view %15 : partition_view<tile=(1024), tensor_view<1024xf32, strides=[1]>>
  %17 = store_view_tko weak %13, %16[%14] : tile<1024xf32>, partition_view<tile=(1024), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> token
  return
}
