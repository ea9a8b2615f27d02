// What waits in registers for the next iteration takes them from the matmul. A loop is left as it is where a thread has too
// few (`wide`: 128 of a thread's for the sums alone), where what is loaded is converted on its way to the matmul
// (`widened`: 8-bit floats are multiplied as f16), and where multiply-adds want registers of their own (`added`).
// run: explain --gpu-name sm_75
// show: kernel | pipeline through
entry @wide(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(256x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<256x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<256x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(256x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<256x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
    %s = mmaf %l, %r, %acc : tile<256x64xf16>, tile<64x128xf16>, tile<256x128xf32>
    continue %s : tile<256x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<256x128xf32>, partition_view<tile=(256x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @widened(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<128x64xf8E4M3FN>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x128), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<64x128xf8E4M3FN>, token
    %s = mmaf %l, %r, %acc : tile<128x64xf8E4M3FN>, tile<64x128xf8E4M3FN>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @added(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x32), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x32), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<64x32xf32>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(32x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> tile<32x64xf32>, token
    %s = mmaf %l, %r, %acc : tile<64x32xf32>, tile<32x64xf32>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
