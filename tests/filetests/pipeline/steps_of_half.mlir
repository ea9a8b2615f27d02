// Two stages of 128x128 and 128x128 do not fit in 99 KB of shared memory: the loop takes steps of 64 along K where it took
// 128. It counts by two from the block's number, and the right operand is gathered: its row numbers are the part's.
// run: explain --gpu-name sm_89
// run: compile --emit nv_tileas --gpu-name sm_89
// show: pipeline of | shorter steps | no async | kernel k | "cuda_tile.for" | "cuda_tile.divi | "cuda_tile.remi | iota | tiled_copy | pointer_copy | .dot"
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vc = make_tensor_view %c, shape = [1024, 128], strides = [128, 1] : tensor_view<1024x128xf32, strides=[128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(128x128), tensor_view<1024x128xf32, strides=[128,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %two = constant <i32: 2> : tile<i32>
  %length = constant <i32: 128> : tile<i32>
  %rows = iota : tile<128xi32>
  %width = constant <i32: 128> : tile<128x128xi32>
  %base1 = reshape %pb : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %base = broadcast %base1 : tile<1x1xptr<f16>> -> tile<128x128xptr<f16>>
  %columns1 = reshape %rows : tile<128xi32> -> tile<1x128xi32>
  %columns = broadcast %columns1 : tile<1x128xi32> -> tile<128x128xi32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%j to %n, step %two) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(128x128), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<128x128xf16>, token
    %from = muli %k, %length : tile<i32>
    %from1 = reshape %from : tile<i32> -> tile<1xi32>
    %from2 = broadcast %from1 : tile<1xi32> -> tile<128xi32>
    %depth = addi %from2, %rows : tile<128xi32>
    %depth1 = reshape %depth : tile<128xi32> -> tile<128x1xi32>
    %depth2 = broadcast %depth1 : tile<128x1xi32> -> tile<128x128xi32>
    %row = muli %depth2, %width : tile<128x128xi32>
    %at = addi %row, %columns : tile<128x128xi32>
    %p = offset %base, %at : tile<128x128xptr<f16>>, tile<128x128xi32> -> tile<128x128xptr<f16>>
    %r, %t1 = load_ptr_tko weak %p : tile<128x128xptr<f16>> -> tile<128x128xf16>, token
    %s = mmaf %l, %r, %acc : tile<128x128xf16>, tile<128x128xf16>, tile<128x128xf32>
    continue %s : tile<128x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<128x128xf32>, partition_view<tile=(128x128), tensor_view<1024x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
