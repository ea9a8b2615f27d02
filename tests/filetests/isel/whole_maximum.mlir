// A tile's largest element: each thread has one number for its lanes and warps, whatever rows they share.
// run: compile --gpu-name sm_80
// show: shfl | bar. | shared
entry @k(%p: tile<ptr<f32>>, %o: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %xa = assume div_by<16>, %p : tile<ptr<f32>>
  %xt = make_tensor_view %xa, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf32, strides=[128,1]>
  %xv = make_partition_view %xt : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>
  %w, %t1 = load_view_tko weak %xv[%0, %0] : partition_view<tile=(128x128), tensor_view<128x128xf32, strides=[128,1]>>, tile<i32> -> tile<128x128xf32>, token
  %r = reduce %w dim=0 identities=[0xFF800000 : f32] : tile<128x128xf32> -> tile<128xf32>
  (%a: tile<f32>, %b: tile<f32>) {
    %c = maxf %a, %b : tile<f32>
    yield %c : tile<f32>
  }
  %m = reduce %r dim=0 identities=[0xFF800000 : f32] : tile<128xf32> -> tile<f32>
  (%a: tile<f32>, %b: tile<f32>) {
    %c = maxf %a, %b : tile<f32>
    yield %c : tile<f32>
  }
  %t2 = store_ptr_tko weak %o, %m : tile<ptr<f32>>, tile<f32> -> token
  return
}
