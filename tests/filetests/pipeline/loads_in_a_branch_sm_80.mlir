// Blocks of the left matrix that are zero are left out: loads and matmul stand in a branch of the loop, whose condition is
// loaded and combined of two. The copies of later iterations are made where their own condition holds.
// run: explain --gpu-name sm_80
// run: compile --emit nv_tileas --gpu-name sm_80
// show: pipeline of | cp.async | no async | kernel k | "cuda_tile.if" | cmpi | andi | async. | .dot" | tiled_load
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %f: tile<ptr<i32>>, %m: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf16, strides=[1024,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xf32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>
  %vf = make_tensor_view %f, shape = [16, 16], strides = [16, 1] : tensor_view<16x16xi32, strides=[16,1]>
  %tf = make_partition_view %vf : partition_view<tile=(1x1), tensor_view<16x16xi32, strides=[16,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 16> : tile<i32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %g, %t3 = load_view_tko weak %tf[%i, %k] : partition_view<tile=(1x1), tensor_view<16x16xi32, strides=[16,1]>>, tile<i32> -> tile<1x1xi32>, token
    %flag = reshape %g : tile<1x1xi32> -> tile<i32>
    %there = cmpi not_equal %flag, %c0, signed : tile<i32> -> tile<i1>
    %both = if %there -> (tile<i1>) {
      %near = cmpi less_than %k, %m, signed : tile<i32> -> tile<i1>
      yield %near : tile<i1>
    } else {
      yield %there : tile<i1>
    }
    %next = if %both -> (tile<64x64xf32>) {
      %l, %t0 = load_view_tko weak %ta[%i, %k] : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
      %r, %t1 = load_view_tko weak %tb[%k, %j] : partition_view<tile=(64x64), tensor_view<1024x1024xf16, strides=[1024,1]>>, tile<i32> -> tile<64x64xf16>, token
      %s = mmaf %l, %r, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
      yield %s : tile<64x64xf32>
    } else {
      yield %acc : tile<64x64xf32>
    }
    continue %next : tile<64x64xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %j] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<1024x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
