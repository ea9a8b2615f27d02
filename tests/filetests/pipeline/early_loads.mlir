// What follows from nothing slow is loaded in front of the first reduction, whose barrier the assembler moves no load
// over: the weights, and the second row, which the program loads behind the store of the first. What waits for the
// store stays.
// run: compile --emit nv_tileas --gpu-name sm_80
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: tiled_load | tiled_store | "cuda_tile.reduce"
// run: explain --gpu-name sm_90a
// show: no pipeline
entry @k(%a: tile<ptr<f32>>, %w: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [128, 1024], strides = [1024, 1] : tensor_view<128x1024xf32, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x1024), tensor_view<128x1024xf32, strides=[1024,1]>>
  %pw = assume div_by<16>, %w : tile<ptr<f32>>
  %vw = make_tensor_view %pw, shape = [1, 1024], strides = [1024, 1] : tensor_view<1x1024xf32, strides=[1024,1]>
  %tw = make_partition_view %vw : partition_view<tile=(1x1024), tensor_view<1x1024xf32, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [128, 1024], strides = [1024, 1] : tensor_view<128x1024xf32, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(1x1024), tensor_view<128x1024xf32, strides=[1024,1]>>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %x, %t0 = load_view_tko weak %ta[%i, %zero] : partition_view<tile=(1x1024), tensor_view<128x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<1x1024xf32>, token
  %s = reduce %x dim=1 identities=[0.000000e+00 : f32] : tile<1x1024xf32> -> tile<1xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %m = addf %p, %q : tile<f32>
    yield %m : tile<f32>
  }
  %s1 = reshape %s : tile<1xf32> -> tile<1x1xf32>
  %s2 = broadcast %s1 : tile<1x1xf32> -> tile<1x1024xf32>
  %y, %t1 = load_view_tko weak %tw[%zero, %zero] : partition_view<tile=(1x1024), tensor_view<1x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<1x1024xf32>, token
  %d = mulf %x, %s2 : tile<1x1024xf32>
  %e = mulf %d, %y : tile<1x1024xf32>
  %t2 = store_view_tko weak %e, %tb[%i, %zero] token = %t0 : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<128x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  %next = addi %i, %one : tile<i32>
  %f, %t3 = load_view_tko weak %ta[%next, %zero] : partition_view<tile=(1x1024), tensor_view<128x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<1x1024xf32>, token
  %g, %t4 = load_view_tko weak %tb[%i, %zero] token = %t2 : partition_view<tile=(1x1024), tensor_view<128x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<1x1024xf32>, token
  %h = addf %f, %g : tile<1x1024xf32>
  %t5 = store_view_tko weak %h, %tb[%next, %zero] token = %t4 : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<128x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
