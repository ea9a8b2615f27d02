// Sums of 8-bit floats: the instructions of sm_90a (warpgroups) and sm_89 (warps) add with 13 bits, so that each K tile's
// product starts from zero and is added in f32; 128 columns at a time where 256 find no registers. Not where the program
// asks for fast accumulation, nor on sm_120a, whose instruction adds in full.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// run: explain --gpu-name sm_89
// run: explain --gpu-name sm_120a
// show: kernel | K tile | async.dot | cuda_tile.addf
entry @beside(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1, 1024] : tensor_view<1024x1024xf8E4M3FN, strides=[1,1024]>
  %tb = make_partition_view %vb : partition_view<tile=(128x128), tensor_view<1024x1024xf8E4M3FN, strides=[1,1024]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<128x128xf8E4M3FN>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(128x128), tensor_view<1024x1024xf8E4M3FN, strides=[1,1024]>>, tile<i32> -> tile<128x128xf8E4M3FN>, token
    %s = mmaf %l, %r, %acc : tile<128x128xf8E4M3FN>, tile<128x128xf8E4M3FN>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @parts(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1, 1024] : tensor_view<1024x1024xf8E4M3FN, strides=[1,1024]>
  %tb = make_partition_view %vb : partition_view<tile=(128x256), tensor_view<1024x1024xf8E4M3FN, strides=[1,1024]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x256), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x256xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x256xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<128x128xf8E4M3FN>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(128x256), tensor_view<1024x1024xf8E4M3FN, strides=[1,1024]>>, tile<i32> -> tile<128x256xf8E4M3FN>, token
    %s = mmaf %l, %r, %acc : tile<128x128xf8E4M3FN>, tile<128x256xf8E4M3FN>, tile<128x256xf32>
    continue %s : tile<128x256xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x256xf32>, partition_view<tile=(128x256), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @fast(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1, 1024] : tensor_view<1024x1024xf8E4M3FN, strides=[1,1024]>
  %tb = make_partition_view %vb : partition_view<tile=(128x256), tensor_view<1024x1024xf8E4M3FN, strides=[1,1024]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x256), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x256xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x256xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<128x128xf8E4M3FN>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(128x256), tensor_view<1024x1024xf8E4M3FN, strides=[1,1024]>>, tile<i32> -> tile<128x256xf8E4M3FN>, token
    %s = mmaf %l, %r, %acc fast_acc : tile<128x128xf8E4M3FN>, tile<128x256xf8E4M3FN>, tile<128x256xf32>
    continue %s : tile<128x256xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x256xf32>, partition_view<tile=(128x256), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
