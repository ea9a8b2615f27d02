// A row of a list says where a tensor lies: its numbers are loaded one by one, and the producer makes a tensor map of them
// whenever they change.
// run: explain --gpu-name sm_90a
// run: compile --emit ptx --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | kernel | tensor map | bulk.tensor | tensormap | atom. | .global .align
entry @k(%list: tile<ptr<i64>>, %n: tile<i32>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %pl = make_tensor_view %list, shape = [%n, 5], strides = [5, 1] : tile<i32> -> tensor_view<?x5xi64, strides=[5,1]>
  %tl = make_partition_view %pl : partition_view<tile=(1x8), tensor_view<?x5xi64, strides=[5,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 128], strides = [128, 1] : tensor_view<1024x128xf16, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<1024x128xf16, strides=[128,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [%n, 128, 128], strides = [16384, 128, 1] : tile<i32> -> tensor_view<?x128x128xf32, strides=[16384,128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(1x128x128), tensor_view<?x128x128xf32, strides=[16384,128,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c3 = constant <i32: 3> : tile<i32>
  %k16 = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  for %g in (%c0 to %n, step %c1) : tile<i32> {
    %row, %t = load_view_tko weak %tl[%g, %c0] : partition_view<tile=(1x8), tensor_view<?x5xi64, strides=[5,1]>>, tile<i32> -> tile<1x8xi64>, token
    %a1 = extract %row[%c0, %c0] : tile<1x8xi64> -> tile<1x1xi64>
    %a = reshape %a1 : tile<1x1xi64> -> tile<i64>
    %m1 = extract %row[%c0, %c1] : tile<1x8xi64> -> tile<1x1xi64>
    %m64 = reshape %m1 : tile<1x1xi64> -> tile<i64>
    %m = trunci %m64 : tile<i64> -> tile<i32>
    %s1 = extract %row[%c0, %c3] : tile<1x8xi64> -> tile<1x1xi64>
    %s64 = reshape %s1 : tile<1x1xi64> -> tile<i64>
    %s32 = trunci %s64 : tile<i64> -> tile<i32>
    %s = assume div_by<8>, %s32 : tile<i32>
    %p0 = int_to_ptr %a : tile<i64> -> tile<ptr<f16>>
    %p = assume div_by<16>, %p0 : tile<ptr<f16>>
    %va = make_tensor_view %p, shape = [%m, 1024], strides = [%s, 1] : tile<i32> -> tensor_view<?x1024xf16, strides=[?,1]>
    %ta = make_partition_view %va : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x1024xf16, strides=[?,1]>>
    %sum = for %k in (%c0 to %k16, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
      %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x1024xf16, strides=[?,1]>>, tile<i32> -> tile<128x64xf16>, token
      %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(64x128), tensor_view<1024x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
      %q = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
      continue %q : tile<128x128xf32>
    }
    %sums = reshape %sum : tile<128x128xf32> -> tile<1x128x128xf32>
    %t2 = store_view_tko weak %sums, %tc[%g, %c0, %c0] : tile<1x128x128xf32>, partition_view<tile=(1x128x128), tensor_view<?x128x128xf32, strides=[16384,128,1]>>, tile<i32> -> token
    continue
  }
  return
}
