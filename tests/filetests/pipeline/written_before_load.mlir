// A loop that multiplies, and loads what it has stored: the token of a load says which, and this one is waited for where it
// stands; the other one runs ahead.
// run: explain --gpu-name sm_80
// run: compile --emit nv_tileas --gpu-name sm_80
// show: pipeline of | no async | kernel k | async. | .dot" | tiled_load | tiled_store
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %t = make_token : token
  %sum, %end = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero, %last = %t) -> (tile<64x64xf32>, token) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] token = %last : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %m = mmaf %l, %r, %zero : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %p = ftof %m : tile<64x64xf32> -> tile<64x64xf16>
    %s = mmaf %p, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %h = ftof %s : tile<64x64xf32> -> tile<64x64xf16>
    %t2 = store_view_tko weak %h, %ta[%i, %c0] : tile<64x64xf16>, partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> token
    continue %s, %t2 : tile<64x64xf32>, token
  }
  return
}
