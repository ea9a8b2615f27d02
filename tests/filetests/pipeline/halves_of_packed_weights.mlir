// Both halves of packed weights lie in one byte, and are put beside each other in front of the matmul. They come ahead of their
// use, as the other operand does.
// run: explain --gpu-name sm_80
// run: explain --gpu-name sm_90a
// run: explain --gpu-name sm_100a
// show: pipeline of | warp roles | no tensor | no async | shared buffer | kernel k
entry @k(%a: tile<ptr<f16>>, %w: tile<ptr<i8>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pw = assume div_by<16>, %w : tile<ptr<i8>>
  %vw = make_tensor_view %pw, shape = [512, 1024], strides = [1024, 1] : tensor_view<512x1024xi8, strides=[1024,1]>
  %tw = make_partition_view %vw : partition_view<tile=(32x128), tensor_view<512x1024xi8, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %mask = constant <i8: 15> : tile<32x128xi8>
  %four = constant <i8: 4> : tile<32x128xi8>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
    %q, %t1 = load_view_tko weak %tw[%k, %j] : partition_view<tile=(32x128), tensor_view<512x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<32x128xi8>, token
    %low = andi %q, %mask : tile<32x128xi8>
    %high = shri %q, %four unsigned : tile<32x128xi8>
    %x = itof %low signed : tile<32x128xi8> -> tile<32x128xf16>
    %y = itof %high signed : tile<32x128xi8> -> tile<32x128xf16>
    %r = cat %x, %y dim = 0 : tile<32x128xf16>, tile<32x128xf16> -> tile<64x128xf16>
    %s = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %t3 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
