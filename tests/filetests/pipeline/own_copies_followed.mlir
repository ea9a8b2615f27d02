// As own_copies.mlir, but each store is ordered behind the load: other threads' copies may read what it writes.
// run: compile --emit nvvm --gpu-name sm_80
// show: nvvm.for | nvvm.cp_async | nvvm.bar | "nvvm.ld" | "nvvm.st" | nvvm.continue
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) optimization_hints=<default = {occupancy = 1}> {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x1024), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(1x1024), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 1024> : tile<i32>
  for %i in (%c0 to %n, step %c1) : tile<i32> {
    %x, %t1 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(1x1024), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<1x1024xf32>, token
    %y = exp2 %x : tile<1x1024xf32>
    %t2 = store_view_tko weak %y, %tb[%i, %c0] token = %t1 : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
    continue
  }
  return
}
