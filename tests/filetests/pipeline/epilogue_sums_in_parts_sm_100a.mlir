// A fused epilogue: of a matmul's result and two loaded matrices three matrices are stored and the rows of a fourth are summed
// up. Numbers of elements serve rows and columns alike. In tensor memory the result stays where it is while a loop works on a
// part of the columns at a time, and what there is of the sums is carried from part to part. No tensor copy stores rows of 264
// bytes.
// run: explain --gpu-name sm_100a
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: epilogue in parts | kernel main | tensor_load | "cuda_tile.for" | "cuda_tile.reduce" | "cuda_tile.continue" | "nv_tileas.tiled_
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %x: tile<ptr<f16>>, %y: tile<ptr<f16>>, %d: tile<ptr<f16>>, %e: tile<ptr<f16>>, %f: tile<ptr<f16>>, %s: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x32), tensor_view<128x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf16, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(32x128), tensor_view<64x128xf16, strides=[128,1]>>
  %px = assume div_by<16>, %x : tile<ptr<f16>>
  %vx = make_tensor_view %px, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf16, strides=[128,1]>
  %tx = make_partition_view %vx : partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[128,1]>>
  %py = assume div_by<16>, %y : tile<ptr<f16>>
  %vy = make_tensor_view %py, shape = [128, 128], strides = [128, 1] : tensor_view<128x128xf16, strides=[128,1]>
  %ty = make_partition_view %vy : partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[128,1]>>
  %pd = assume div_by<8>, %d : tile<ptr<f16>>
  %vd = make_tensor_view %pd, shape = [128, 128], strides = [132, 1] : tensor_view<128x128xf16, strides=[132,1]>
  %td = make_partition_view %vd : partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[132,1]>>
  %pe = assume div_by<8>, %e : tile<ptr<f16>>
  %ve = make_tensor_view %pe, shape = [128, 128], strides = [132, 1] : tensor_view<128x128xf16, strides=[132,1]>
  %te = make_partition_view %ve : partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[132,1]>>
  %pf = assume div_by<8>, %f : tile<ptr<f16>>
  %vf = make_tensor_view %pf, shape = [128, 128], strides = [132, 1] : tensor_view<128x128xf16, strides=[132,1]>
  %tf = make_partition_view %vf : partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[132,1]>>
  %ps = assume div_by<16>, %s : tile<ptr<f32>>
  %vs = make_tensor_view %ps, shape = [128], strides = [1] : tensor_view<128xf32, strides=[1]>
  %ts = make_partition_view %vs : partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 2> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<128x128xf32>) {
    %l, %u0 = load_view_tko weak %ta[%c0, %k] : partition_view<tile=(128x32), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x32xf16>, token
    %r, %u1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(32x128), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<32x128xf16>, token
    %m = mmaf %l, %r, %acc : tile<128x32xf16>, tile<32x128xf16>, tile<128x128xf32>
    continue %m : tile<128x128xf32>
  }
  %iota = iota : tile<128xi32>
  %rows1 = reshape %iota : tile<128xi32> -> tile<128x1xi32>
  %rows = broadcast %rows1 : tile<128x1xi32> -> tile<128x128xi32>
  %columns1 = reshape %iota : tile<128xi32> -> tile<1x128xi32>
  %columns = broadcast %columns1 : tile<1x128xi32> -> tile<128x128xi32>
  %most = constant <i32: 200> : tile<128x128xi32>
  %both = addi %rows, %columns : tile<128x128xi32>
  %inside = cmpi less_than %both, %most, signed : tile<128x128xi32> -> tile<128x128xi1>
  %dy = select %inside, %sum, %zero : tile<128x128xi1>, tile<128x128xf32>
  %xh, %u2 = load_view_tko weak %tx[%c0, %c0] : partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[128,1]>>, tile<i32> -> tile<128x128xf16>, token
  %yh, %u3 = load_view_tko weak %ty[%c0, %c0] : partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[128,1]>>, tile<i32> -> tile<128x128xf16>, token
  %xf = ftof %xh : tile<128x128xf16> -> tile<128x128xf32>
  %yf = ftof %yh : tile<128x128xf16> -> tile<128x128xf32>
  %xy = mulf %xf, %yf : tile<128x128xf32>
  %all = mulf %dy, %xy : tile<128x128xf32>
  %row = reduce %all dim=1 identities=[0.0 : f32] : tile<128x128xf32> -> tile<128xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %w = addf %p, %q : tile<f32>
    yield %w : tile<f32>
  }
  %dx = mulf %dy, %yf : tile<128x128xf32>
  %hd = ftof %dx rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
  %ud = store_view_tko weak %hd, %td[%c0, %c0] : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[132,1]>>, tile<i32> -> token
  %dyy = mulf %dy, %xf : tile<128x128xf32>
  %he = ftof %dyy rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
  %ue = store_view_tko weak %he, %te[%c0, %c0] : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[132,1]>>, tile<i32> -> token
  %hf = ftof %xy rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
  %uf = store_view_tko weak %hf, %tf[%c0, %c0] : tile<128x128xf16>, partition_view<tile=(128x128), tensor_view<128x128xf16, strides=[132,1]>>, tile<i32> -> token
  %us = store_view_tko weak %row, %ts[%c0] : tile<128xf32>, partition_view<tile=(128), tensor_view<128xf32, strides=[1]>>, tile<i32> -> token
  return
}
