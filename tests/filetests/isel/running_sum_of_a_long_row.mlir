// A row that goes over lanes, warps and registers is scanned with one barrier: the last lane of each warp writes the totals of
// its runs, a lane of every warp reads one of them, and threads take what precedes their runs from these.
// run: compile --gpu-name sm_80
// show: shfl.sync.up | bar. | shared
entry @k(%p: tile<ptr<f32>>, %o: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %xa = assume div_by<16>, %p : tile<ptr<f32>>
  %xt = make_tensor_view %xa, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
  %xv = make_partition_view %xt : partition_view<tile=(4096), tensor_view<4096xf32, strides=[1]>>
  %ya = assume div_by<16>, %o : tile<ptr<f32>>
  %yt = make_tensor_view %ya, shape = [4096], strides = [1] : tensor_view<4096xf32, strides=[1]>
  %yv = make_partition_view %yt : partition_view<tile=(4096), tensor_view<4096xf32, strides=[1]>>
  %w, %t1 = load_view_tko weak %xv[%0] : partition_view<tile=(4096), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> tile<4096xf32>, token
  %s = scan %w dim=0 reverse=false identities=[0.0 : f32] : tile<4096xf32> -> tile<4096xf32>
  (%a: tile<f32>, %b: tile<f32>) {
    %c = addf %a, %b : tile<f32>
    yield %c : tile<f32>
  }
  %t2 = store_view_tko weak %s, %yv[%0] : tile<4096xf32>, partition_view<tile=(4096), tensor_view<4096xf32, strides=[1]>>, tile<i32> -> token
  return
}
