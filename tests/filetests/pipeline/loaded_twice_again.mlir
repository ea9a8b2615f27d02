// A tile that three matmuls are far apart from each other use is loaded again for the second and the third one: each waits
// for what the first load waits for, and nothing that is loaded earlier waits for the later ones.
// run: compile --verify --emit nv_tileas --gpu-name sm_90a
// show: "cuda_tile.for" | tiled_load | nv_tileas.dot | join_tokens | "cuda_tile.continue" | error
entry @k(%q: tile<ptr<f32>>, %k: tile<ptr<f32>>, %o: tile<ptr<f32>>, %s: tile<f32>, %n: tile<i32>) {
  %pq = assume div_by<16>, %q : tile<ptr<f32>>
  %vq = make_tensor_view %pq, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf32, strides=[256,1]>
  %tq = make_partition_view %vq : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>
  %pk = assume div_by<16>, %k : tile<ptr<f32>>
  %vk = make_tensor_view %pk, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf32, strides=[256,1]>
  %tk = make_partition_view %vk : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %start = make_token : token
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %first = constant <f32: 0.0> : tile<256x128xf32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %wide = constant <f32: 0.0> : tile<64x128xf32>
  %sb1 = reshape %s : tile<f32> -> tile<1x1xf32>
  %sb = broadcast %sb1 : tile<1x1xf32> -> tile<64x256xf32>
  %vw = make_tensor_view %po, shape = [4096, 128], strides = [128, 1] : tensor_view<4096x128xf32, strides=[128,1]>
  %tw = make_partition_view %vw : partition_view<tile=(64x128), tensor_view<4096x128xf32, strides=[128,1]>>
  %tf = make_partition_view %vw : partition_view<tile=(256x128), tensor_view<4096x128xf32, strides=[128,1]>>
  %last = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%h = %first) -> (tile<256x128xf32>) {
    %x, %l0 = load_view_tko weak %tq[%i, %c0] : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>, tile<i32> -> tile<64x256xf32>, token
    %y, %l1 = load_view_tko weak %tk[%i, %c0] token = %start : partition_view<tile=(64x256), tensor_view<4096x256xf32, strides=[256,1]>>, tile<i32> -> tile<64x256xf32>, token
    %yt = permute %y [1, 0] : tile<64x256xf32> -> tile<256x64xf32>
    %p = mmaf %x, %yt, %zero : tile<64x256xf32>, tile<256x64xf32>, tile<64x64xf32>
    %u, %l2 = load_view_tko weak %tw[%i, %c0] : partition_view<tile=(64x128), tensor_view<4096x128xf32, strides=[128,1]>>, tile<i32> -> tile<64x128xf32>, token
    %a = mmaf %p, %u, %wide : tile<64x64xf32>, tile<64x128xf32>, tile<64x128xf32>
    %z = mulf %x, %sb rounding<nearest_even> : tile<64x256xf32>
    %b = mmaf %z, %h, %a : tile<64x256xf32>, tile<256x128xf32>, tile<64x128xf32>
    %v = mulf %y, %sb rounding<nearest_even> : tile<64x256xf32>
    %d = mmaf %v, %h, %b : tile<64x256xf32>, tile<256x128xf32>, tile<64x128xf32>
    %w = subf %y, %sb rounding<nearest_even> : tile<64x256xf32>
    %wt = permute %w [1, 0] : tile<64x256xf32> -> tile<256x64xf32>
    %g = mmaf %wt, %d, %h : tile<256x64xf32>, tile<64x128xf32>, tile<256x128xf32>
    continue %g : tile<256x128xf32>
  }
  %t = store_view_tko weak %last, %tf[%c0, %c0] : tile<256x128xf32>, partition_view<tile=(256x128), tensor_view<4096x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
