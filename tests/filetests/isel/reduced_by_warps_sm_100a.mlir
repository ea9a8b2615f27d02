// The lanes of a warp reduce integers, and the extremes of f32, by one instruction; sums of f32 go by shuffles.
// run: compile --gpu-name sm_100a
// show: redux | shfl
entry @main(%in: tile<ptr<f32>>, %numbers: tile<ptr<i32>>, %out: tile<ptr<f32>>, %counts: tile<ptr<i32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %it = make_tensor_view %in, shape = [256], strides = [1] : tensor_view<256xf32, strides=[1]>
  %ip = make_partition_view %it : partition_view<tile=(256), tensor_view<256xf32, strides=[1]>>
  %nt = make_tensor_view %numbers, shape = [256], strides = [1] : tensor_view<256xi32, strides=[1]>
  %np = make_partition_view %nt : partition_view<tile=(256), tensor_view<256xi32, strides=[1]>>
  %x, %t0 = load_view_tko weak %ip[%0] : partition_view<tile=(256), tensor_view<256xf32, strides=[1]>>, tile<i32> -> tile<256xf32>, token
  %n, %t1 = load_view_tko weak %np[%0] : partition_view<tile=(256), tensor_view<256xi32, strides=[1]>>, tile<i32> -> tile<256xi32>, token
  %max = reduce %x dim=0 identities=[0xff800000 : f32] : tile<256xf32> -> tile<f32>
  (%a: tile<f32>, %b: tile<f32>) {
    %m = maxf %a, %b propagate_nan : tile<f32>
    yield %m : tile<f32>
  }
  %sum = reduce %x dim=0 identities=[0.0 : f32] : tile<256xf32> -> tile<f32>
  (%a: tile<f32>, %b: tile<f32>) {
    %s = addf %a, %b : tile<f32>
    yield %s : tile<f32>
  }
  %least = reduce %n dim=0 identities=[-1 : i32] : tile<256xi32> -> tile<i32>
  (%a: tile<i32>, %b: tile<i32>) {
    %m = mini %a, %b unsigned : tile<i32>
    yield %m : tile<i32>
  }
  %product = mulf %max, %sum : tile<f32>
  %t2 = store_ptr_tko weak %out, %product : tile<ptr<f32>>, tile<f32> -> token
  %t3 = store_ptr_tko weak %counts, %least : tile<ptr<i32>>, tile<i32> -> token
  return
}
