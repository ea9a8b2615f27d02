// Sixteen registers of a thread are reduced to their largest: where one instruction finds the largest of three, eight partial
// results take the others in, one behind the other; elsewhere halves are combined.
// run: compile --gpu-name sm_100a
// run: compile --gpu-name sm_90a
// show: max.f32
entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
  %px = assume div_by<16>, %x : tile<ptr<f32>>
  %v = make_tensor_view %px, shape = [2048], strides = [1] : tensor_view<2048xf32, strides=[1]>
  %t = make_partition_view %v : partition_view<tile=(2048), tensor_view<2048xf32, strides=[1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %a, %l = load_view_tko weak %t[%c0] : partition_view<tile=(2048), tensor_view<2048xf32, strides=[1]>>, tile<i32> -> tile<2048xf32>, token
  %m = reduce %a dim=0 identities=[0xFF800000 : f32] : tile<2048xf32> -> tile<f32>
  (%p: tile<f32>, %q: tile<f32>) {
    %r = maxf %p, %q : tile<f32>
    yield %r : tile<f32>
  }
  %s = store_ptr_tko weak %y, %m token=%l : tile<ptr<f32>>, tile<f32> -> token
  return
}
