// The right operand's columns are contiguous in memory and K is wanted. Where the target transposes bytes as it reads
// them from shared memory, one instruction brings two matrices of 16×16; elsewhere each byte is read by itself.
// run: compile --gpu-name sm_120a
// run: compile --gpu-name sm_120
// show: ldmatrix | ld.shared
entry @k(%a: tile<ptr<f8E4M3FN>>, %b: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(32x64), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f8E4M3FN>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x32), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(32x32), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<32x32xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<32x32xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(32x64), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<32x64xf8E4M3FN>, token
    %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x32), tensor_view<1024x1024xf8E4M3FN, strides=[1024,1]>>, tile<i32> -> tile<64x32xf8E4M3FN>, token
    %s = mmaf %l, %r, %acc : tile<32x64xf8E4M3FN>, tile<64x32xf8E4M3FN>, tile<32x32xf32>
    continue %s : tile<32x32xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<32x32xf32>, partition_view<tile=(32x32), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
