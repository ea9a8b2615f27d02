// What is assumed of an address behind a parameter holds for the parameter, where the elements between them are known to be a
// multiple of that, and where the kernel gets there in any case: a tensor map starts at the parameter. Otherwise the producer makes
// a map that starts at the address.
// run: explain --gpu-name sm_90a
// show: no tensor | tensor map in | made | warp roles | shared memory | kernel k
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %start: tile<i32>) {
  %i, %j, %h = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %matrix = constant <i32: 65536> : tile<i32>
  %behind = muli %h, %matrix : tile<i32>
  %ah = offset %a, %behind : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %pa = assume div_by<16>, %ah : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [64, 1024], strides = [1024, 1] : tensor_view<64x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<64x1024xf16, strides=[1024,1]>>
  %bh = offset %b, %start : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %pb = assume div_by<16>, %bh : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t0 = load_view_tko weak %ta[%c0, %k] : partition_view<tile=(64x64), tensor_view<64x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(64x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%c0, %c0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
