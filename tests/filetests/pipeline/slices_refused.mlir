// A tensor whose tensor map no launcher can make: a slice of columns; rows behind an address that may be no row's; tiles that
// may begin in front of the slice and end inside. Where tensor maps can be made by a kernel (sm_90a), this one makes them;
// elsewhere (sm_90) tensor copies are refused.
// run: explain --gpu-name sm_90a
// run: explain --gpu-name sm_90
// show: pipeline of | no tensor copies | kernel
entry @columns(%a: tile<ptr<f16>>, %c: tile<ptr<f32>>, %ends: tile<ptr<i32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %e, %te = load_ptr_tko weak %ends : tile<ptr<i32>> -> tile<i32>, token
  %end = assume div_by<8>, %e : tile<i32>
  %va = make_tensor_view %pa, shape = [1024, %end], strides = [1024, 1] : tile<i32> -> tensor_view<1024x?xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), padding_value = zero, tensor_view<1024x?xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), padding_value = zero, tensor_view<1024x?xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
    %lt = permute %l [1, 0] : tile<128x64xf16> -> tile<64x128xf16>
    %s = mmaf %l, %lt, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @any_address(%a: tile<ptr<f16>>, %c: tile<ptr<f32>>, %ends: tile<ptr<i32>>) {
  %e, %te = load_ptr_tko weak %ends : tile<ptr<i32>> -> tile<i32>, token
  %o = offset %a, %e : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %pa = assume div_by<16>, %o : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), padding_value = zero, tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), padding_value = zero, tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
    %lt = permute %l [1, 0] : tile<128x64xf16> -> tile<64x128xf16>
    %s = mmaf %l, %lt, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
entry @overlapping(%a: tile<ptr<f16>>, %c: tile<ptr<f32>>, %rows: tile<ptr<i32>>, %from: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %e, %te = load_ptr_tko weak %rows : tile<ptr<i32>> -> tile<i32>, token
  %va = make_tensor_view %pa, shape = [%e, 1024], strides = [1024, 1] : tile<i32> -> tensor_view<?x1024xf16, strides=[1024,1]>
  %ta = make_strided_view %va : strided_view<tile=(128x64), traversal_strides=[32,64], padding_value = zero, tensor_view<?x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%from, %k] : strided_view<tile=(128x64), traversal_strides=[32,64], padding_value = zero, tensor_view<?x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
    %lt = permute %l [1, 0] : tile<128x64xf16> -> tile<64x128xf16>
    %s = mmaf %l, %lt, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
