// Tiles that are loaded as integers and multiplied as bf16 are loaded as bf16, through changes of shape, too, and the
// result is stored as what it is: the tensor maps and the buffers are those of bf16.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | no async | no wgmma | kernel k | async. | .dot" | tiled_load | tiled_store | bitcast | ptr_to_ptr
entry @k(%a: tile<ptr<i16>>, %b: tile<ptr<i16>>, %c: tile<ptr<i16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<i16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xi16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x1024xi16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<i16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xi16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(128x64), tensor_view<1024x1024xi16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<i16>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xi16, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xi16, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), tensor_view<1024x1024xi16, strides=[1024,1]>>, tile<i32> -> tile<128x64xi16>, token
    %r, %t1 = load_view_tko weak %tb[%j, %k] : partition_view<tile=(128x64), tensor_view<1024x1024xi16, strides=[1024,1]>>, tile<i32> -> tile<128x64xi16>, token
    %lf = bitcast %l : tile<128x64xi16> -> tile<128x64xbf16>
    %rt = permute %r [1, 0] : tile<128x64xi16> -> tile<64x128xi16>
    %rf = bitcast %rt : tile<64x128xi16> -> tile<64x128xbf16>
    %s = mmaf %lf, %rf, %acc : tile<128x64xbf16>, tile<64x128xbf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %h = ftof %sum : tile<128x128xf32> -> tile<128x128xbf16>
  %bits = bitcast %h : tile<128x128xbf16> -> tile<128x128xi16>
  %t2 = store_view_tko weak %bits, %tc[%i, %j] : tile<128x128xi16>, partition_view<tile=(128x128), tensor_view<1024x1024xi16, strides=[1024,1]>>, tile<i32> -> token
  return
}
