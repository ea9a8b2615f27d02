// What a matmul reads that stands beside a loop in another one is copied in front of that loop, and waited for behind it, in a stage
// of its own; it is filled again behind the barrier of the drain. The bias, read through a pointer for each element of the tile,
// is a vector, which is loaded in front of the loop, too.
// run: compile --emit nv_tileas --gpu-name sm_80
// run: explain --gpu-name sm_80
// show: async. | local_load | tiled_load | .load" | "cuda_tile.for | async copies | asynchronous copies | neighbours
entry @k(%x: tile<ptr<f16>>, %w: tile<ptr<f16>>, %b: tile<ptr<f16>>, %u: tile<ptr<f16>>, %n: tile<i32>, %o: tile<ptr<f32>>) {
  %px = assume div_by<16>, %x : tile<ptr<f16>>
  %pw = assume div_by<16>, %w : tile<ptr<f16>>
  %pu = assume div_by<16>, %u : tile<ptr<f16>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %vx = make_tensor_view %px, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf16, strides=[64,1]>
  %tx = make_partition_view %vx : partition_view<tile=(128x16), tensor_view<256x64xf16, strides=[64,1]>>
  %vw = make_tensor_view %pw, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf16, strides=[128,1]>
  %tw = make_partition_view %vw : partition_view<tile=(16x32), tensor_view<64x128xf16, strides=[128,1]>>
  %vu = make_tensor_view %pu, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %tu = make_partition_view %vu : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>
  %vo = make_tensor_view %po, shape = [256, 64], strides = [64, 1] : tensor_view<256x64xf32, strides=[64,1]>
  %to = make_partition_view %vo : partition_view<tile=(128x64), tensor_view<256x64xf32, strides=[64,1]>>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %4 = constant <i32: 4> : tile<i32>
  %32 = constant <i32: 32> : tile<i32>
  %none = constant <f32: 0.0> : tile<128x32xf32>
  %most = constant <f32: 3.0> : tile<128x32xf32>
  %zero = constant <f32: 0.0> : tile<128x64xf32>
  %four = constant <f32: 4.0> : tile<128x64xf32>
  %b0 = reshape %b : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %b1 = broadcast %b0 : tile<1x1xptr<f16>> -> tile<128x32xptr<f16>>
  %c0 = iota : tile<32xi32>
  %c1 = reshape %c0 : tile<32xi32> -> tile<1x32xi32>
  %c2 = broadcast %c1 : tile<1x32xi32> -> tile<128x32xi32>
  %sum = for %h in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x64xf32>) {
    %hidden = for %k in (%0 to %4, step %1) : tile<i32> iter_values(%part = %none) -> (tile<128x32xf32>) {
      %a, %t0 = load_view_tko weak %tx[%bx, %k] : partition_view<tile=(128x16), tensor_view<256x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x16xf16>, token
      %c, %t1 = load_view_tko weak %tw[%k, %h] : partition_view<tile=(16x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<16x32xf16>, token
      %d = mmaf %a, %c, %part : tile<128x16xf16>, tile<16x32xf16>, tile<128x32xf32>
      continue %d : tile<128x32xf32>
    }
    %first = muli %h, %32 : tile<i32>
    %f0 = reshape %first : tile<i32> -> tile<1x1xi32>
    %f1 = broadcast %f0 : tile<1x1xi32> -> tile<128x32xi32>
    %column = addi %f1, %c2 : tile<128x32xi32>
    %pb = offset %b1, %column : tile<128x32xptr<f16>>, tile<128x32xi32> -> tile<128x32xptr<f16>>
    %bias, %t2 = load_ptr_tko weak %pb : tile<128x32xptr<f16>> -> tile<128x32xf16>, token
    %wide = ftof %bias : tile<128x32xf16> -> tile<128x32xf32>
    %added = addf %hidden, %wide : tile<128x32xf32>
    %low = maxf %added, %none : tile<128x32xf32>
    %high = minf %low, %most : tile<128x32xf32>
    %half = ftof %high : tile<128x32xf32> -> tile<128x32xf16>
    %e, %t3 = load_view_tko weak %tu[%h, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
    %next = mmaf %half, %e, %acc : tile<128x32xf16>, tile<32x64xf16>, tile<128x64xf32>
    continue %next : tile<128x64xf32>
  }
  %scaled = divf %sum, %four : tile<128x64xf32>
  %t4 = store_view_tko weak %scaled, %to[%bx, %0] : tile<128x64xf32>, partition_view<tile=(128x64), tensor_view<256x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
