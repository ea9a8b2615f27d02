// Rows of an operand are gathered by a view. They are loaded through pointers, which threads copy to shared memory ahead of the
// iterations that read them, as in gathered_by_loaded_rows.mlir.
// run: explain --gpu-name sm_80
// run: explain --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | no async | shared buffer | kernel k
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %numbers: tile<ptr<i32>>, %c: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pn = assume div_by<16>, %numbers : tile<ptr<i32>>
  %vn = make_tensor_view %pn, shape = [1024], strides = [1] : tensor_view<1024xi32, strides=[1]>
  %tn = make_partition_view %vn : partition_view<tile=(64), tensor_view<1024xi32, strides=[1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [4096, 1024], strides = [1024, 1] : tensor_view<4096x1024xf16, strides=[1024,1]>
  %tb = make_gather_scatter_view %vb : gather_scatter_view<tile=(64x64), padding_value = zero, tensor_view<4096x1024xf16, strides=[1024,1]>, sparse_dim=0>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
    %rows, %t1 = load_view_tko weak %tn[%k] : partition_view<tile=(64), tensor_view<1024xi32, strides=[1]>>, tile<i32> -> tile<64xi32>, token
    %r, %t2 = load_view_tko weak %tb[%rows, %c0] : gather_scatter_view<tile=(64x64), padding_value = zero, tensor_view<4096x1024xf16, strides=[1024,1]>, sparse_dim=0>, tile<64xi32>, tile<i32> -> tile<64x64xf16>, token
    %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %s : tile<64x64xf32>
  }
  %t3 = store_view_tko weak %sum, %tc[%i, %j] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
