// Rows of bf16, of bytes and of f32 in one computation: each is accessed in the layout in which it is computed with, in one
// or two accesses of four bytes at least. Nothing goes through shared memory for wider ones.
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: num_warps | tiled_load | convert_layout | tiled_store
// run: compile --gpu-name sm_90a
// show: ld.global | st.global
entry @main(%x: tile<ptr<bf16>>, %y: tile<ptr<f32>>, %sums: tile<ptr<f32>>, %g: tile<ptr<f32>>, %m: tile<ptr<i8>>, %h: tile<ptr<bf16>>) {
  %x16 = assume div_by<16>, %x : tile<ptr<bf16>>
  %xt = make_tensor_view %x16, shape = [2, 1024], strides = [1024, 1] : tensor_view<2x1024xbf16, strides=[1024,1]>
  %xp = make_partition_view %xt : partition_view<tile=(1x1024), tensor_view<2x1024xbf16, strides=[1024,1]>>
  %y16 = assume div_by<16>, %y : tile<ptr<f32>>
  %yt = make_tensor_view %y16, shape = [2, 1024], strides = [1024, 1] : tensor_view<2x1024xf32, strides=[1024,1]>
  %yp = make_partition_view %yt : partition_view<tile=(1x1024), tensor_view<2x1024xf32, strides=[1024,1]>>
  %sums16 = assume div_by<16>, %sums : tile<ptr<f32>>
  %sumst = make_tensor_view %sums16, shape = [1, 1024], strides = [1024, 1] : tensor_view<1x1024xf32, strides=[1024,1]>
  %sumsp = make_partition_view %sumst : partition_view<tile=(1x1024), tensor_view<1x1024xf32, strides=[1024,1]>>
  %g16 = assume div_by<16>, %g : tile<ptr<f32>>
  %m16 = assume div_by<16>, %m : tile<ptr<i8>>
  %mt = make_tensor_view %m16, shape = [2, 1024], strides = [1024, 1] : tensor_view<2x1024xi8, strides=[1024,1]>
  %mp = make_partition_view %mt : partition_view<tile=(1x1024), tensor_view<2x1024xi8, strides=[1024,1]>>
  %h16 = assume div_by<16>, %h : tile<ptr<bf16>>
  %ht = make_tensor_view %h16, shape = [2, 1024], strides = [1024, 1] : tensor_view<2x1024xbf16, strides=[1024,1]>
  %hp = make_partition_view %ht : partition_view<tile=(1x1024), tensor_view<2x1024xbf16, strides=[1024,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %acc0 = constant <f32: 0.0> : tile<1x1024xf32>
  %gt = make_tensor_view %g16, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %gp = make_partition_view %gt : partition_view<tile=(1024), tensor_view<1024xf32, strides=[1]>>
  %weight, %gt0 = load_view_tko weak %gp[%c0] : partition_view<tile=(1024), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> tile<1024xf32>, token
  %i0 = constant <i32: 0> : tile<i32>
  %n0, %lt0 = load_view_tko weak %xp[%i0, %c0] : partition_view<tile=(1x1024), tensor_view<2x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<1x1024xbf16>, token
  %rv0 = ftof %n0 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %rw0 = reshape %rv0 : tile<1x1024xf32> -> tile<1024xf32>
  %rg0 = mulf %rw0, %weight : tile<1024xf32>
  %r0 = reshape %rg0 : tile<1024xf32> -> tile<1x1024xf32>
  %s0 = reduce %r0 dim=1 identities=[0.0 : f32] : tile<1x1024xf32> -> tile<1xf32>
  (%p0: tile<f32>, %q0: tile<f32>) {
    %pq0 = addf %p0, %q0 : tile<f32>
    yield %pq0 : tile<f32>
  }
  %t0 = reshape %s0 : tile<1xf32> -> tile<1x1xf32>
  %b0 = broadcast %t0 : tile<1x1xf32> -> tile<1x1024xf32>
  %y0 = mulf %r0, %b0 : tile<1x1024xf32>
  %w0 = store_view_tko weak %y0, %yp[%i0, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<2x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  %k0, %kt0 = load_view_tko weak %mp[%i0, %c0] : partition_view<tile=(1x1024), tensor_view<2x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<1x1024xi8>, token
  %kf0 = itof %k0 unsigned : tile<1x1024xi8> -> tile<1x1024xf32>
  %kv0 = reshape %kf0 : tile<1x1024xf32> -> tile<1024xf32>
  %yv0 = reshape %y0 : tile<1x1024xf32> -> tile<1024xf32>
  %zv0 = mulf %kv0, %yv0 : tile<1024xf32>
  %z0 = reshape %zv0 : tile<1024xf32> -> tile<1x1024xf32>
  %zh0 = ftof %z0 : tile<1x1024xf32> -> tile<1x1024xbf16>
  %v0 = store_view_tko weak %zh0, %hp[%i0, %c0] : tile<1x1024xbf16>, partition_view<tile=(1x1024), tensor_view<2x1024xbf16, strides=[1024,1]>>, tile<i32> -> token
  %zf0 = ftof %zh0 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %acc1 = addf %acc0, %zf0 : tile<1x1024xf32>
  %i1 = constant <i32: 1> : tile<i32>
  %n1, %lt1 = load_view_tko weak %xp[%i1, %c0] : partition_view<tile=(1x1024), tensor_view<2x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<1x1024xbf16>, token
  %rv1 = ftof %n1 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %rw1 = reshape %rv1 : tile<1x1024xf32> -> tile<1024xf32>
  %rg1 = mulf %rw1, %weight : tile<1024xf32>
  %r1 = reshape %rg1 : tile<1024xf32> -> tile<1x1024xf32>
  %s1 = reduce %r1 dim=1 identities=[0.0 : f32] : tile<1x1024xf32> -> tile<1xf32>
  (%p1: tile<f32>, %q1: tile<f32>) {
    %pq1 = addf %p1, %q1 : tile<f32>
    yield %pq1 : tile<f32>
  }
  %t1 = reshape %s1 : tile<1xf32> -> tile<1x1xf32>
  %b1 = broadcast %t1 : tile<1x1xf32> -> tile<1x1024xf32>
  %y1 = mulf %r1, %b1 : tile<1x1024xf32>
  %w1 = store_view_tko weak %y1, %yp[%i1, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<2x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  %k1, %kt1 = load_view_tko weak %mp[%i1, %c0] : partition_view<tile=(1x1024), tensor_view<2x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<1x1024xi8>, token
  %kf1 = itof %k1 unsigned : tile<1x1024xi8> -> tile<1x1024xf32>
  %kv1 = reshape %kf1 : tile<1x1024xf32> -> tile<1024xf32>
  %yv1 = reshape %y1 : tile<1x1024xf32> -> tile<1024xf32>
  %zv1 = mulf %kv1, %yv1 : tile<1024xf32>
  %z1 = reshape %zv1 : tile<1024xf32> -> tile<1x1024xf32>
  %zh1 = ftof %z1 : tile<1x1024xf32> -> tile<1x1024xbf16>
  %v1 = store_view_tko weak %zh1, %hp[%i1, %c0] : tile<1x1024xbf16>, partition_view<tile=(1x1024), tensor_view<2x1024xbf16, strides=[1024,1]>>, tile<i32> -> token
  %zf1 = ftof %zh1 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %acc2 = addf %acc1, %zf1 : tile<1x1024xf32>
  %wt = store_view_tko weak %acc2, %sumsp[%c0, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<1x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
