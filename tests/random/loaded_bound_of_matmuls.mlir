// A persistent loop whose matmuls are a warp of their own (on sm_100a): how often that warp multiplies for a tile is loaded.
// grid: 1,1,1
// arg: buffer f16 65536 whole -2 2 seed 0
// arg: buffer f16 32768 whole -2 2 seed 1
// arg: buffer i32 2 whole 0 4 seed 2
// arg: buffer f32 32768 whole 7 7 seed 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %counts: tile<ptr<i32>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [256, 256], strides = [256, 1] : tensor_view<256x256xf16, strides=[256,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<256x256xf16, strides=[256,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [256, 128], strides = [128, 1] : tensor_view<256x128xf16, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<256x128xf16, strides=[128,1]>>
  %vn = make_tensor_view %counts, shape = [2], strides = [1] : tensor_view<2xi32, strides=[1]>
  %tn = make_partition_view %vn : partition_view<tile=(1), tensor_view<2xi32, strides=[1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [256, 128], strides = [128, 1] : tensor_view<256x128xf32, strides=[128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<256x128xf32, strides=[128,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %tiles = constant <i32: 2> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  for %i in (%c0 to %tiles, step %c1) : tile<i32> {
    %count, %t0 = load_view_tko weak %tn[%i] : partition_view<tile=(1), tensor_view<2xi32, strides=[1]>>, tile<i32> -> tile<1xi32>, token
    %n = reshape %count : tile<1xi32> -> tile<i32>
    %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
      %l, %t1 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), tensor_view<256x256xf16, strides=[256,1]>>, tile<i32> -> tile<128x64xf16>, token
      %r, %t2 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(64x128), tensor_view<256x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
      %s = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
      continue %s : tile<128x128xf32>
    }
    %t3 = store_view_tko weak %sum, %tc[%i, %c0] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<256x128xf32, strides=[128,1]>>, tile<i32> -> token
    continue
  }
  return
}
