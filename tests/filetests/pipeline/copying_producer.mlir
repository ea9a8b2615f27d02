// What no tensor map describes is copied by a producer's threads, as many as multiply: here the left operand's address is a
// loaded number and the right one is gathered through pointers. On each mbarrier of a full stage every thread of the producer
// arrives by itself, 256 for eight warps; tensor copies bring nothing, and announce nothing. On sm_100a the kernel makes a tensor
// map of the left operand.
// run: explain --gpu-name sm_90a
// run: explain --gpu-name sm_100a
// run: compile --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | no async | kernel k | mbarrier.init | noinc | expect_tx | setmaxnreg | cp.async.wait | fence.proxy
entry @k(%a: tile<ptr<i64>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>) {
  %where, %t = load_ptr_tko weak %a : tile<ptr<i64>> -> tile<i64>, token
  %start = int_to_ptr %where : tile<i64> -> tile<ptr<f16>>
  %pa = assume div_by<16>, %start : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %b1 = reshape %pb : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %b2 = broadcast %b1 : tile<1x1xptr<f16>> -> tile<64x128xptr<f16>>
  %rows = iota : tile<64xi32>
  %rows1 = reshape %rows : tile<64xi32> -> tile<64x1xi32>
  %pitch = constant <i32: 1024> : tile<64x1xi32>
  %rows2 = muli %rows1, %pitch : tile<64x1xi32>
  %rows3 = broadcast %rows2 : tile<64x1xi32> -> tile<64x128xi32>
  %columns = iota : tile<128xi32>
  %columns1 = reshape %columns : tile<128xi32> -> tile<1x128xi32>
  %columns2 = broadcast %columns1 : tile<1x128xi32> -> tile<64x128xi32>
  %place = addi %rows3, %columns2 : tile<64x128xi32>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %step = constant <i32: 65536> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x64xf16>, token
    %first = muli %k, %step : tile<i32>
    %first1 = reshape %first : tile<i32> -> tile<1x1xi32>
    %first2 = broadcast %first1 : tile<1x1xi32> -> tile<64x128xi32>
    %at = addi %place, %first2 : tile<64x128xi32>
    %pointers = offset %b2, %at : tile<64x128xptr<f16>>, tile<64x128xi32> -> tile<64x128xptr<f16>>
    %r, %t1 = load_ptr_tko weak %pointers : tile<64x128xptr<f16>> -> tile<64x128xf16>, token
    %s = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
