// Multicast addresses take multimem instructions: wide ones where the whole tile is inside; at the edge of a matrix
// halves are accessed as parts of their words.
// run: compile --gpu-name sm_90a
// run: compile --gpu-name sm_80
// show: multimem. | error
entry @k(%p: tile<ptr<f16, <multicast>>>, %rows: tile<i32>, %columns: tile<i32>) {
  %a = assume div_by<16>, %p : tile<ptr<f16, <multicast>>>
  %whole = make_tensor_view %a, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf16, strides=[128,1], #cuda_tile.ptr_attr<multicast>>
  %tiles = make_partition_view %whole : partition_view<tile=(16x64), tensor_view<64x128xf16, strides=[128,1], #cuda_tile.ptr_attr<multicast>>>
  %c0 = constant <i32: 0> : tile<i32>
  %x, %t = multimem_load_reduce_view_tko acquire sys %tiles[%c0, %c0] : partition_view<tile=(16x64), tensor_view<64x128xf16, strides=[128,1], #cuda_tile.ptr_attr<multicast>>>, tile<i32> -> tile<16x64xf16>, token
  %part = make_tensor_view %a, shape = [%rows, %columns], strides = [128, 1] : tile<i32> -> tensor_view<?x?xf16, strides=[128,1], #cuda_tile.ptr_attr<multicast>>
  %edge = make_partition_view %part : partition_view<tile=(16x64), tensor_view<?x?xf16, strides=[128,1], #cuda_tile.ptr_attr<multicast>>>
  %r = multimem_reduce_view_tko release sys %edge, %x[%c0, %c0] token=%t : partition_view<tile=(16x64), tensor_view<?x?xf16, strides=[128,1], #cuda_tile.ptr_attr<multicast>>>, tile<16x64xf16>, tile<i32>, token -> token
  %s = multimem_store_view_tko weak %edge, %x[%c0, %c0] token=%r : partition_view<tile=(16x64), tensor_view<?x?xf16, strides=[128,1], #cuda_tile.ptr_attr<multicast>>>, tile<16x64xf16>, tile<i32>, token -> token
  return
}
