// What a loop carries is a sum with what it loads: made before the store that stands in between, the sum
// sets the registers of that free.
// run: compile --emit nvvm --gpu-name sm_80
// show: nvvm.for | "nvvm.ld" | nvvm.ex2 | nvvm.fadd | nvvm.st" | nvvm.continue
entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %z: tile<ptr<f32>>) {
  %px = assume div_by<16>, %x : tile<ptr<f32>>
  %vx = make_tensor_view %px, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf32, strides=[1024,1]>
  %tx = make_partition_view %vx : partition_view<tile=(1x1024), tensor_view<64x1024xf32, strides=[1024,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f32>>
  %vy = make_tensor_view %py, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf32, strides=[1024,1]>
  %ty = make_partition_view %vy : partition_view<tile=(1x1024), tensor_view<64x1024xf32, strides=[1024,1]>>
  %pz = assume div_by<16>, %z : tile<ptr<f32>>
  %vz = make_tensor_view %pz, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf32, strides=[1024,1]>
  %tz = make_partition_view %vz : partition_view<tile=(1x1024), tensor_view<64x1024xf32, strides=[1024,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 64> : tile<i32>
  %zero = constant <f32: 0.0> : tile<1x1024xf32>
  %sum = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<1x1024xf32>) {
    %l, %f = load_view_tko weak %tx[%i, %c0] : partition_view<tile=(1x1024), tensor_view<64x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<1x1024xf32>, token
    %h, %g = load_view_tko weak %tz[%i, %c0] : partition_view<tile=(1x1024), tensor_view<64x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<1x1024xf32>, token
    %p = exp2 %l : tile<1x1024xf32>
    %s = store_view_tko weak %p, %ty[%i, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<64x1024xf32, strides=[1024,1]>>, tile<i32> -> token
    %a = addf %acc, %h rounding<nearest_even> : tile<1x1024xf32>
    continue %a : tile<1x1024xf32>
  }
  %s2 = store_view_tko weak %sum, %tz[%c0, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<64x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
