// Rows of a tensor from one that the kernel loads to another: the tensor map is of the whole tensor with two more
// dimensions, and coordinates say where the slice begins and ends. The second operand's number of rows is loaded, too.
// run: explain --gpu-name sm_90a
// run: compile --emit ptx --gpu-name sm_90a
// run: compile --emit manifest --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | kernel k | tensor map | bulk.tensor.4d | 1073741824 | 2147418112 | 17179867136 | "sub"
entry @k(%a: tile<ptr<f16>>, %m: tile<i32>, %sa: tile<i32>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %ends: tile<ptr<i32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %s = assume div_by<8>, %sa : tile<i32>
  %first, %tf = load_ptr_tko weak %ends : tile<ptr<i32>> -> tile<i32>, token
  %c1 = constant <i32: 1> : tile<i32>
  %pe = offset %ends, %c1 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %end, %te = load_ptr_tko weak %pe : tile<ptr<i32>> -> tile<i32>, token
  %rows = subi %end, %first : tile<i32>
  %first64 = exti %first signed : tile<i32> -> tile<i64>
  %s64 = exti %s signed : tile<i32> -> tile<i64>
  %o = muli %first64, %s64 : tile<i64>
  %pr = offset %pa, %o : tile<ptr<f16>>, tile<i64> -> tile<ptr<f16>>
  %va = make_tensor_view %pr, shape = [%rows, 1024], strides = [%s, 1] : tile<i32> -> tensor_view<?x1024xf16, strides=[?,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x1024xf16, strides=[?,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [%end, 1024], strides = [1024, 1] : tile<i32> -> tensor_view<?x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %c1024 = constant <i32: 1024> : tile<i32>
  %oc = muli %first, %c1024 : tile<i32>
  %prc = offset %pc, %oc : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %vc = make_tensor_view %prc, shape = [%rows, 1024], strides = [1024, 1] : tile<i32> -> tensor_view<?x1024xf16, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<?x1024xf16, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x64), padding_value = zero, tensor_view<?x1024xf16, strides=[?,1]>>, tile<i32> -> tile<128x64xf16>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x128), padding_value = zero, tensor_view<?x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x128xf16>, token
    %p = mmaf %l, %r, %acc : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
    continue %p : tile<128x128xf32>
  }
  %h = ftof %sum rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
  %t2 = store_view_tko weak %h, %tc[%i, %j] : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<?x1024xf16, strides=[1024,1]>>, tile<i32> -> token
  return
}
