// Two tiles of 128 KB each for two matmuls of an iteration: shared memory has room for one of them at a time. They take
// turns in one ring of one stage; the second one's load starts when the first has been multiplied, and the first
// one's of the next iteration when the second has been.
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: pipeline.create | alloc_tensor | shared_view | "cuda_tile.for" | async. | "cuda_tile.continue"
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %d: tile<ptr<f32>>) {
  %pq = assume div_by<16>, %a : tile<ptr<f16>>
  %vq = make_tensor_view %pq, shape = [512, 16], strides = [16, 1] : tensor_view<512x16xf16, strides=[16,1]>
  %tq = make_partition_view %vq : partition_view<tile=(512x16), tensor_view<512x16xf16, strides=[16,1]>>
  %pk = assume div_by<16>, %b : tile<ptr<f16>>
  %vk = make_tensor_view %pk, shape = [512, 512], strides = [512, 1] : tensor_view<512x512xf16, strides=[512,1]>
  %tk = make_partition_view %vk : partition_view<tile=(128x512), tensor_view<512x512xf16, strides=[512,1]>>
  %pv = assume div_by<16>, %c : tile<ptr<f16>>
  %vv = make_tensor_view %pv, shape = [512, 512], strides = [512, 1] : tensor_view<512x512xf16, strides=[512,1]>
  %tv = make_partition_view %vv : partition_view<tile=(128x512), tensor_view<512x512xf16, strides=[512,1]>>
  %po = assume div_by<16>, %d : tile<ptr<f32>>
  %vo = make_tensor_view %po, shape = [512, 16], strides = [16, 1] : tensor_view<512x16xf32, strides=[16,1]>
  %to = make_partition_view %vo : partition_view<tile=(512x16), tensor_view<512x16xf32, strides=[16,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 4> : tile<i32>
  %none = constant <f32: 0.0> : tile<128x16xf32>
  %zero = constant <f32: 0.0> : tile<512x16xf32>
  %q, %t0 = load_view_tko weak %tq[%c0, %c0] : partition_view<tile=(512x16), tensor_view<512x16xf16, strides=[16,1]>>, tile<i32> -> tile<512x16xf16>, token
  %sum = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<512x16xf32>) {
    %k, %t1 = load_view_tko weak %tk[%i, %c0] : partition_view<tile=(128x512), tensor_view<512x512xf16, strides=[512,1]>>, tile<i32> -> tile<128x512xf16>, token
    %s = mmaf %k, %q, %none : tile<128x512xf16>, tile<512x16xf16>, tile<128x16xf32>
    %p = ftof %s rounding<nearest_even> : tile<128x16xf32> -> tile<128x16xf16>
    %v, %t2 = load_view_tko weak %tv[%i, %c0] : partition_view<tile=(128x512), tensor_view<512x512xf16, strides=[512,1]>>, tile<i32> -> tile<128x512xf16>, token
    %vt = permute %v [1, 0] : tile<128x512xf16> -> tile<512x128xf16>
    %o = mmaf %vt, %p, %acc : tile<512x128xf16>, tile<128x16xf16>, tile<512x16xf32>
    continue %o : tile<512x16xf32>
  }
  %t3 = store_view_tko weak %sum, %to[%c0, %c0] : tile<512x16xf32>, partition_view<tile=(512x16), tensor_view<512x16xf32, strides=[16,1]>>, tile<i32> -> token
  return
}
