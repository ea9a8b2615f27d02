// Rows written out: each is reduced, scaled by its sum and stored, and all are added up for one more store at the end.
// A row is added where it is made: at the end, all sixteen would be in registers still, and take more warps.
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: num_warps | tiled_load | "cuda_tile.reduce" | tiled_store | "cuda_tile.addf"
// run: compile --gpu-name sm_90a
// show: reqntid | maxnreg
entry @main(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %sums: tile<ptr<f32>>) {
  %x16 = assume div_by<16>, %x : tile<ptr<f32>>
  %xt = make_tensor_view %x16, shape = [16, 2048], strides = [2048, 1] : tensor_view<16x2048xf32, strides=[2048,1]>
  %xp = make_partition_view %xt : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>
  %y16 = assume div_by<16>, %y : tile<ptr<f32>>
  %yt = make_tensor_view %y16, shape = [16, 2048], strides = [2048, 1] : tensor_view<16x2048xf32, strides=[2048,1]>
  %yp = make_partition_view %yt : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>
  %sums16 = assume div_by<16>, %sums : tile<ptr<f32>>
  %sumst = make_tensor_view %sums16, shape = [1, 2048], strides = [2048, 1] : tensor_view<1x2048xf32, strides=[2048,1]>
  %sumsp = make_partition_view %sumst : partition_view<tile=(1x2048), tensor_view<1x2048xf32, strides=[2048,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %acc0 = constant <f32: 0.0> : tile<1x2048xf32>
  %i0 = constant <i32: 0> : tile<i32>
  %r0, %lt0 = load_view_tko weak %xp[%i0, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s0 = reduce %r0 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p0: tile<f32>, %q0: tile<f32>) {
    %pq0 = addf %p0, %q0 : tile<f32>
    yield %pq0 : tile<f32>
  }
  %t0 = reshape %s0 : tile<1xf32> -> tile<1x1xf32>
  %b0 = broadcast %t0 : tile<1x1xf32> -> tile<1x2048xf32>
  %y0 = mulf %r0, %b0 : tile<1x2048xf32>
  %w0 = store_view_tko weak %y0, %yp[%i0, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc1 = addf %acc0, %y0 : tile<1x2048xf32>
  %i1 = constant <i32: 1> : tile<i32>
  %r1, %lt1 = load_view_tko weak %xp[%i1, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s1 = reduce %r1 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p1: tile<f32>, %q1: tile<f32>) {
    %pq1 = addf %p1, %q1 : tile<f32>
    yield %pq1 : tile<f32>
  }
  %t1 = reshape %s1 : tile<1xf32> -> tile<1x1xf32>
  %b1 = broadcast %t1 : tile<1x1xf32> -> tile<1x2048xf32>
  %y1 = mulf %r1, %b1 : tile<1x2048xf32>
  %w1 = store_view_tko weak %y1, %yp[%i1, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc2 = addf %acc1, %y1 : tile<1x2048xf32>
  %i2 = constant <i32: 2> : tile<i32>
  %r2, %lt2 = load_view_tko weak %xp[%i2, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s2 = reduce %r2 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p2: tile<f32>, %q2: tile<f32>) {
    %pq2 = addf %p2, %q2 : tile<f32>
    yield %pq2 : tile<f32>
  }
  %t2 = reshape %s2 : tile<1xf32> -> tile<1x1xf32>
  %b2 = broadcast %t2 : tile<1x1xf32> -> tile<1x2048xf32>
  %y2 = mulf %r2, %b2 : tile<1x2048xf32>
  %w2 = store_view_tko weak %y2, %yp[%i2, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc3 = addf %acc2, %y2 : tile<1x2048xf32>
  %i3 = constant <i32: 3> : tile<i32>
  %r3, %lt3 = load_view_tko weak %xp[%i3, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s3 = reduce %r3 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p3: tile<f32>, %q3: tile<f32>) {
    %pq3 = addf %p3, %q3 : tile<f32>
    yield %pq3 : tile<f32>
  }
  %t3 = reshape %s3 : tile<1xf32> -> tile<1x1xf32>
  %b3 = broadcast %t3 : tile<1x1xf32> -> tile<1x2048xf32>
  %y3 = mulf %r3, %b3 : tile<1x2048xf32>
  %w3 = store_view_tko weak %y3, %yp[%i3, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc4 = addf %acc3, %y3 : tile<1x2048xf32>
  %i4 = constant <i32: 4> : tile<i32>
  %r4, %lt4 = load_view_tko weak %xp[%i4, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s4 = reduce %r4 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p4: tile<f32>, %q4: tile<f32>) {
    %pq4 = addf %p4, %q4 : tile<f32>
    yield %pq4 : tile<f32>
  }
  %t4 = reshape %s4 : tile<1xf32> -> tile<1x1xf32>
  %b4 = broadcast %t4 : tile<1x1xf32> -> tile<1x2048xf32>
  %y4 = mulf %r4, %b4 : tile<1x2048xf32>
  %w4 = store_view_tko weak %y4, %yp[%i4, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc5 = addf %acc4, %y4 : tile<1x2048xf32>
  %i5 = constant <i32: 5> : tile<i32>
  %r5, %lt5 = load_view_tko weak %xp[%i5, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s5 = reduce %r5 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p5: tile<f32>, %q5: tile<f32>) {
    %pq5 = addf %p5, %q5 : tile<f32>
    yield %pq5 : tile<f32>
  }
  %t5 = reshape %s5 : tile<1xf32> -> tile<1x1xf32>
  %b5 = broadcast %t5 : tile<1x1xf32> -> tile<1x2048xf32>
  %y5 = mulf %r5, %b5 : tile<1x2048xf32>
  %w5 = store_view_tko weak %y5, %yp[%i5, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc6 = addf %acc5, %y5 : tile<1x2048xf32>
  %i6 = constant <i32: 6> : tile<i32>
  %r6, %lt6 = load_view_tko weak %xp[%i6, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s6 = reduce %r6 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p6: tile<f32>, %q6: tile<f32>) {
    %pq6 = addf %p6, %q6 : tile<f32>
    yield %pq6 : tile<f32>
  }
  %t6 = reshape %s6 : tile<1xf32> -> tile<1x1xf32>
  %b6 = broadcast %t6 : tile<1x1xf32> -> tile<1x2048xf32>
  %y6 = mulf %r6, %b6 : tile<1x2048xf32>
  %w6 = store_view_tko weak %y6, %yp[%i6, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc7 = addf %acc6, %y6 : tile<1x2048xf32>
  %i7 = constant <i32: 7> : tile<i32>
  %r7, %lt7 = load_view_tko weak %xp[%i7, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s7 = reduce %r7 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p7: tile<f32>, %q7: tile<f32>) {
    %pq7 = addf %p7, %q7 : tile<f32>
    yield %pq7 : tile<f32>
  }
  %t7 = reshape %s7 : tile<1xf32> -> tile<1x1xf32>
  %b7 = broadcast %t7 : tile<1x1xf32> -> tile<1x2048xf32>
  %y7 = mulf %r7, %b7 : tile<1x2048xf32>
  %w7 = store_view_tko weak %y7, %yp[%i7, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc8 = addf %acc7, %y7 : tile<1x2048xf32>
  %i8 = constant <i32: 8> : tile<i32>
  %r8, %lt8 = load_view_tko weak %xp[%i8, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s8 = reduce %r8 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p8: tile<f32>, %q8: tile<f32>) {
    %pq8 = addf %p8, %q8 : tile<f32>
    yield %pq8 : tile<f32>
  }
  %t8 = reshape %s8 : tile<1xf32> -> tile<1x1xf32>
  %b8 = broadcast %t8 : tile<1x1xf32> -> tile<1x2048xf32>
  %y8 = mulf %r8, %b8 : tile<1x2048xf32>
  %w8 = store_view_tko weak %y8, %yp[%i8, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc9 = addf %acc8, %y8 : tile<1x2048xf32>
  %i9 = constant <i32: 9> : tile<i32>
  %r9, %lt9 = load_view_tko weak %xp[%i9, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s9 = reduce %r9 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p9: tile<f32>, %q9: tile<f32>) {
    %pq9 = addf %p9, %q9 : tile<f32>
    yield %pq9 : tile<f32>
  }
  %t9 = reshape %s9 : tile<1xf32> -> tile<1x1xf32>
  %b9 = broadcast %t9 : tile<1x1xf32> -> tile<1x2048xf32>
  %y9 = mulf %r9, %b9 : tile<1x2048xf32>
  %w9 = store_view_tko weak %y9, %yp[%i9, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc10 = addf %acc9, %y9 : tile<1x2048xf32>
  %i10 = constant <i32: 10> : tile<i32>
  %r10, %lt10 = load_view_tko weak %xp[%i10, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s10 = reduce %r10 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p10: tile<f32>, %q10: tile<f32>) {
    %pq10 = addf %p10, %q10 : tile<f32>
    yield %pq10 : tile<f32>
  }
  %t10 = reshape %s10 : tile<1xf32> -> tile<1x1xf32>
  %b10 = broadcast %t10 : tile<1x1xf32> -> tile<1x2048xf32>
  %y10 = mulf %r10, %b10 : tile<1x2048xf32>
  %w10 = store_view_tko weak %y10, %yp[%i10, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc11 = addf %acc10, %y10 : tile<1x2048xf32>
  %i11 = constant <i32: 11> : tile<i32>
  %r11, %lt11 = load_view_tko weak %xp[%i11, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s11 = reduce %r11 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p11: tile<f32>, %q11: tile<f32>) {
    %pq11 = addf %p11, %q11 : tile<f32>
    yield %pq11 : tile<f32>
  }
  %t11 = reshape %s11 : tile<1xf32> -> tile<1x1xf32>
  %b11 = broadcast %t11 : tile<1x1xf32> -> tile<1x2048xf32>
  %y11 = mulf %r11, %b11 : tile<1x2048xf32>
  %w11 = store_view_tko weak %y11, %yp[%i11, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc12 = addf %acc11, %y11 : tile<1x2048xf32>
  %i12 = constant <i32: 12> : tile<i32>
  %r12, %lt12 = load_view_tko weak %xp[%i12, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s12 = reduce %r12 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p12: tile<f32>, %q12: tile<f32>) {
    %pq12 = addf %p12, %q12 : tile<f32>
    yield %pq12 : tile<f32>
  }
  %t12 = reshape %s12 : tile<1xf32> -> tile<1x1xf32>
  %b12 = broadcast %t12 : tile<1x1xf32> -> tile<1x2048xf32>
  %y12 = mulf %r12, %b12 : tile<1x2048xf32>
  %w12 = store_view_tko weak %y12, %yp[%i12, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc13 = addf %acc12, %y12 : tile<1x2048xf32>
  %i13 = constant <i32: 13> : tile<i32>
  %r13, %lt13 = load_view_tko weak %xp[%i13, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s13 = reduce %r13 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p13: tile<f32>, %q13: tile<f32>) {
    %pq13 = addf %p13, %q13 : tile<f32>
    yield %pq13 : tile<f32>
  }
  %t13 = reshape %s13 : tile<1xf32> -> tile<1x1xf32>
  %b13 = broadcast %t13 : tile<1x1xf32> -> tile<1x2048xf32>
  %y13 = mulf %r13, %b13 : tile<1x2048xf32>
  %w13 = store_view_tko weak %y13, %yp[%i13, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc14 = addf %acc13, %y13 : tile<1x2048xf32>
  %i14 = constant <i32: 14> : tile<i32>
  %r14, %lt14 = load_view_tko weak %xp[%i14, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s14 = reduce %r14 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p14: tile<f32>, %q14: tile<f32>) {
    %pq14 = addf %p14, %q14 : tile<f32>
    yield %pq14 : tile<f32>
  }
  %t14 = reshape %s14 : tile<1xf32> -> tile<1x1xf32>
  %b14 = broadcast %t14 : tile<1x1xf32> -> tile<1x2048xf32>
  %y14 = mulf %r14, %b14 : tile<1x2048xf32>
  %w14 = store_view_tko weak %y14, %yp[%i14, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc15 = addf %acc14, %y14 : tile<1x2048xf32>
  %i15 = constant <i32: 15> : tile<i32>
  %r15, %lt15 = load_view_tko weak %xp[%i15, %c0] : partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<1x2048xf32>, token
  %s15 = reduce %r15 dim=1 identities=[0.0 : f32] : tile<1x2048xf32> -> tile<1xf32>
  (%p15: tile<f32>, %q15: tile<f32>) {
    %pq15 = addf %p15, %q15 : tile<f32>
    yield %pq15 : tile<f32>
  }
  %t15 = reshape %s15 : tile<1xf32> -> tile<1x1xf32>
  %b15 = broadcast %t15 : tile<1x1xf32> -> tile<1x2048xf32>
  %y15 = mulf %r15, %b15 : tile<1x2048xf32>
  %w15 = store_view_tko weak %y15, %yp[%i15, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %acc16 = addf %acc15, %y15 : tile<1x2048xf32>
  %wt = store_view_tko weak %acc16, %sumsp[%c0, %c0] : tile<1x2048xf32>, partition_view<tile=(1x2048), tensor_view<1x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  return
}
