// A row of 65,536 numbers whose exponentials are added up, less the row's maximum: all of the row has to be there before the first of
// them, so that its parts cannot be taken one behind the other.
// run: explain --gpu-name sm_90a
// show: in strips
entry @main(%x: tile<ptr<f32>>, %sums: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %0 = constant <i32: 0> : tile<i32>
  %x16 = assume div_by<16>, %x : tile<ptr<f32>>
  %xt = make_tensor_view %x16, shape = [2, 65536], strides = [65536, 1] : tensor_view<2x65536xf32, strides=[65536,1]>
  %xp = make_partition_view %xt : partition_view<tile=(1x65536), tensor_view<2x65536xf32, strides=[65536,1]>>
  %a, %t0 = load_view_tko weak %xp[%bx, %0] : partition_view<tile=(1x65536), tensor_view<2x65536xf32, strides=[65536,1]>>, tile<i32> -> tile<1x65536xf32>, token
  %most = reduce %a dim=1 identities=[0xFF800000 : f32] : tile<1x65536xf32> -> tile<1xf32>
  (%v: tile<f32>, %w: tile<f32>) {
    %u = maxf %v, %w : tile<f32>
    yield %u : tile<f32>
  }
  %most1 = reshape %most : tile<1xf32> -> tile<1x1xf32>
  %all = broadcast %most1 : tile<1x1xf32> -> tile<1x65536xf32>
  %less = subf %a, %all : tile<1x65536xf32>
  %e = exp %less : tile<1x65536xf32>
  %sum = reduce %e dim=1 identities=[0.0 : f32] : tile<1x65536xf32> -> tile<1xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %r = addf %p, %q : tile<f32>
    yield %r : tile<f32>
  }
  %st = make_tensor_view %sums, shape = [2], strides = [1] : tensor_view<2xf32, strides=[1]>
  %sp = make_partition_view %st : partition_view<tile=(1), tensor_view<2xf32, strides=[1]>>
  %t2 = store_view_tko weak %sum, %sp[%bx] : tile<1xf32>, partition_view<tile=(1), tensor_view<2xf32, strides=[1]>>, tile<i32> -> token
  return
}
