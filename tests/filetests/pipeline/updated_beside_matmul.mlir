// Relaxed and released atomic updates let loads of later iterations pass; one that acquires does not, if what it found is used.
// run: explain --gpu-name sm_80
// show: pipeline of | no async | kernel
entry @relaxed(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %count: tile<ptr<i32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %m = mmaf %l, %l, %zero : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %p = ftof %m : tile<64x64xf32> -> tile<64x64xf16>
    %s = mmaf %p, %l, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %old, %t3 = atomic_rmw_tko relaxed device %count, add, %c1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    continue %s : tile<64x64xf32>
  }
  %h = ftof %sum : tile<64x64xf32> -> tile<64x64xf16>
  %t2 = store_view_tko weak %h, %tb[%i, %j] : tile<64x64xf16>, partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @acquired(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %count: tile<ptr<i32>>, %found: tile<ptr<i32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %m = mmaf %l, %l, %zero : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %p = ftof %m : tile<64x64xf32> -> tile<64x64xf16>
    %s = mmaf %p, %l, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %old, %t3 = atomic_rmw_tko acq_rel device %count, add, %c1 : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %t4 = store_ptr_tko weak %found, %old : tile<ptr<i32>>, tile<i32> -> token
    continue %s : tile<64x64xf32>
  }
  %h = ftof %sum : tile<64x64xf32> -> tile<64x64xf16>
  %t2 = store_view_tko weak %h, %tb[%i, %j] : tile<64x64xf16>, partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  return
}
