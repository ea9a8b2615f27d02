// One of several matrices behind each other, one head's columns of rows that hold those of all, and columns that may not end
// inside of their head: of these the kernel makes the map. A tensor that each iteration chooses has none.
// run: explain --gpu-name sm_90a
// show: pipeline of | no tensor copies | kernel | tensor map
entry @behind_and_beside(%a: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %i, %z, %y = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %heads = constant <i32: 8> : tile<i32>
  %batch = divi %z, %heads signed : tile<i32>
  %head = remi %z, %heads signed : tile<i32>
  %z64 = exti %z signed : tile<i32> -> tile<i64>
  %b64 = exti %batch signed : tile<i32> -> tile<i64>
  %h64 = exti %head signed : tile<i32> -> tile<i64>
  %size = constant <i64: 131072> : tile<i64>
  %o1 = muli %z64, %size : tile<i64>
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %p1 = offset %pa, %o1 : tile<ptr<f16>>, tile<i64> -> tile<ptr<f16>>
  %v1 = make_tensor_view %p1, shape = [1000, 128], strides = [128, 1] : tensor_view<1000x128xf16, strides=[128,1]>
  %t1 = make_partition_view %v1 : partition_view<tile=(128x128), padding_value = zero, tensor_view<1000x128xf16, strides=[128,1]>>
  %rows = constant <i64: 1000> : tile<i64>
  %all = constant <i64: 1024> : tile<i64>
  %wide = constant <i64: 128> : tile<i64>
  %o2 = muli %b64, %rows : tile<i64>
  %o3 = muli %o2, %all : tile<i64>
  %o4 = muli %h64, %wide : tile<i64>
  %o5 = addi %o3, %o4 : tile<i64>
  %p2 = offset %pa, %o5 : tile<ptr<f16>>, tile<i64> -> tile<ptr<f16>>
  %v2 = make_tensor_view %p2, shape = [1000, 128], strides = [1024, 1] : tensor_view<1000x128xf16, strides=[1024,1]>
  %t2 = make_partition_view %v2 : partition_view<tile=(128x128), padding_value = zero, tensor_view<1000x128xf16, strides=[1024,1]>>
  %t3 = make_partition_view %v2 : partition_view<tile=(128x64), padding_value = zero, tensor_view<1000x128xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %k1 = load_view_tko weak %t1[%k, %c0] : partition_view<tile=(128x128), padding_value = zero, tensor_view<1000x128xf16, strides=[128,1]>>, tile<i32> -> tile<128x128xf16>, token
    %r, %k2 = load_view_tko weak %t2[%k, %c0] : partition_view<tile=(128x128), padding_value = zero, tensor_view<1000x128xf16, strides=[1024,1]>>, tile<i32> -> tile<128x128xf16>, token
    %s = mmaf %l, %r, %acc : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %again = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %sum) -> (tile<128x128xf32>) {
    %l, %k1 = load_view_tko weak %t3[%c0, %k] : partition_view<tile=(128x64), padding_value = zero, tensor_view<1000x128xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
    %lt = permute %l [1, 0] : tile<128x64xf16> -> tile<64x128xf16>
    %s = mmaf %l, %lt, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %w = store_view_tko weak %again, %tc[%i, %c0] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @chosen_in_the_loop(%a: tile<ptr<i64>>, %c: tile<ptr<f32>>) {
  %i, %z, %y = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %at = offset %a, %k : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
    %number, %k0 = load_ptr_tko weak %at : tile<ptr<i64>> -> tile<i64>, token
    %p = int_to_ptr %number : tile<i64> -> tile<ptr<f16>>
    %pa = assume div_by<16>, %p : tile<ptr<f16>>
    %va = make_tensor_view %pa, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf16, strides=[128,1]>
    %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<128x128xf16, strides=[128,1]>>
    %l, %k1 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(128x64), tensor_view<128x128xf16, strides=[128,1]>>, tile<i32> -> tile<128x64xf16>, token
    %lt = permute %l [1, 0] : tile<128x64xf16> -> tile<64x128xf16>
    %s = mmaf %l, %lt, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %w = store_view_tko weak %sum, %tc[%i, %c0] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
