// Two tiles that a loop carries fill the registers of a thread. The distances between the rows that it loads are not kept
// beside them from iteration to iteration: each is computed again where its row is loaded.
// run: compile --gpu-name sm_80
// run: compile --gpu-name sm_80 --without recompute
// show: loop | mul.wide
entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %stride: tile<i32>, %n: tile<i32>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<32x1024xf32>
  %vx = make_tensor_view %x, shape = [4096, 1024], strides = [%stride, 1] : tile<i32> -> tensor_view<4096x1024xf32, strides=[?,1]>
  %tx = make_partition_view %vx : partition_view<tile=(32x1024), tensor_view<4096x1024xf32, strides=[?,1]>>
  %vy = make_tensor_view %y, shape = [32, 1024], strides = [1024, 1] : tensor_view<32x1024xf32, strides=[1024,1]>
  %ty = make_partition_view %vy : partition_view<tile=(32x1024), tensor_view<32x1024xf32, strides=[1024,1]>>
  %sum:2 = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero, %most = %zero) -> (tile<32x1024xf32>, tile<32x1024xf32>) {
    %a, %t = load_view_tko weak %tx[%i, %c0] : partition_view<tile=(32x1024), tensor_view<4096x1024xf32, strides=[?,1]>>, tile<i32> -> tile<32x1024xf32>, token
    %s = addf %acc, %a : tile<32x1024xf32>
    %m = maxf %most, %a : tile<32x1024xf32>
    continue %s, %m : tile<32x1024xf32>, tile<32x1024xf32>
  }
  %both = mulf %sum#0, %sum#1 : tile<32x1024xf32>
  %t1 = store_view_tko weak %both, %ty[%c0, %c0] : tile<32x1024xf32>, partition_view<tile=(32x1024), tensor_view<32x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
