// Rows written out, of three widths: each is reduced, scaled, masked and stored twice, and all are added up. What is added is
// computed where the row is made, in front of the next reduction.
// grid: 1,1,1
// arg: buffer bf16 8192 whole -4 4 seed 0
// arg: buffer f32 8192 whole 0 0 seed 1
// arg: buffer f32 1024 whole 0 0 seed 2
// arg: buffer f32 1024 whole -2 2 seed 3
// arg: buffer i8 8192 whole 0 1 seed 4
// arg: buffer bf16 8192 whole 0 0 seed 5
entry @main(%x: tile<ptr<bf16>>, %y: tile<ptr<f32>>, %sums: tile<ptr<f32>>, %g: tile<ptr<f32>>, %m: tile<ptr<i8>>, %h: tile<ptr<bf16>>) {
  %x16 = assume div_by<16>, %x : tile<ptr<bf16>>
  %xt = make_tensor_view %x16, shape = [8, 1024], strides = [1024, 1] : tensor_view<8x1024xbf16, strides=[1024,1]>
  %xp = make_partition_view %xt : partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>
  %y16 = assume div_by<16>, %y : tile<ptr<f32>>
  %yt = make_tensor_view %y16, shape = [8, 1024], strides = [1024, 1] : tensor_view<8x1024xf32, strides=[1024,1]>
  %yp = make_partition_view %yt : partition_view<tile=(1x1024), tensor_view<8x1024xf32, strides=[1024,1]>>
  %sums16 = assume div_by<16>, %sums : tile<ptr<f32>>
  %sumst = make_tensor_view %sums16, shape = [1, 1024], strides = [1024, 1] : tensor_view<1x1024xf32, strides=[1024,1]>
  %sumsp = make_partition_view %sumst : partition_view<tile=(1x1024), tensor_view<1x1024xf32, strides=[1024,1]>>
  %g16 = assume div_by<16>, %g : tile<ptr<f32>>
  %m16 = assume div_by<16>, %m : tile<ptr<i8>>
  %mt = make_tensor_view %m16, shape = [8, 1024], strides = [1024, 1] : tensor_view<8x1024xi8, strides=[1024,1]>
  %mp = make_partition_view %mt : partition_view<tile=(1x1024), tensor_view<8x1024xi8, strides=[1024,1]>>
  %h16 = assume div_by<16>, %h : tile<ptr<bf16>>
  %ht = make_tensor_view %h16, shape = [8, 1024], strides = [1024, 1] : tensor_view<8x1024xbf16, strides=[1024,1]>
  %hp = make_partition_view %ht : partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %acc0 = constant <f32: 0.0> : tile<1x1024xf32>
  %gt = make_tensor_view %g16, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %gp = make_partition_view %gt : partition_view<tile=(1024), tensor_view<1024xf32, strides=[1]>>
  %weight, %gt0 = load_view_tko weak %gp[%c0] : partition_view<tile=(1024), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> tile<1024xf32>, token
  %i0 = constant <i32: 0> : tile<i32>
  %n0, %lt0 = load_view_tko weak %xp[%i0, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<1x1024xbf16>, token
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
  %w0 = store_view_tko weak %y0, %yp[%i0, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<8x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  %k0, %kt0 = load_view_tko weak %mp[%i0, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<1x1024xi8>, token
  %kf0 = itof %k0 unsigned : tile<1x1024xi8> -> tile<1x1024xf32>
  %kv0 = reshape %kf0 : tile<1x1024xf32> -> tile<1024xf32>
  %yv0 = reshape %y0 : tile<1x1024xf32> -> tile<1024xf32>
  %zv0 = mulf %kv0, %yv0 : tile<1024xf32>
  %z0 = reshape %zv0 : tile<1024xf32> -> tile<1x1024xf32>
  %zh0 = ftof %z0 : tile<1x1024xf32> -> tile<1x1024xbf16>
  %v0 = store_view_tko weak %zh0, %hp[%i0, %c0] : tile<1x1024xbf16>, partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> token
  %zf0 = ftof %zh0 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %acc1 = addf %acc0, %zf0 : tile<1x1024xf32>
  %i1 = constant <i32: 1> : tile<i32>
  %n1, %lt1 = load_view_tko weak %xp[%i1, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<1x1024xbf16>, token
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
  %w1 = store_view_tko weak %y1, %yp[%i1, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<8x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  %k1, %kt1 = load_view_tko weak %mp[%i1, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<1x1024xi8>, token
  %kf1 = itof %k1 unsigned : tile<1x1024xi8> -> tile<1x1024xf32>
  %kv1 = reshape %kf1 : tile<1x1024xf32> -> tile<1024xf32>
  %yv1 = reshape %y1 : tile<1x1024xf32> -> tile<1024xf32>
  %zv1 = mulf %kv1, %yv1 : tile<1024xf32>
  %z1 = reshape %zv1 : tile<1024xf32> -> tile<1x1024xf32>
  %zh1 = ftof %z1 : tile<1x1024xf32> -> tile<1x1024xbf16>
  %v1 = store_view_tko weak %zh1, %hp[%i1, %c0] : tile<1x1024xbf16>, partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> token
  %zf1 = ftof %zh1 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %acc2 = addf %acc1, %zf1 : tile<1x1024xf32>
  %i2 = constant <i32: 2> : tile<i32>
  %n2, %lt2 = load_view_tko weak %xp[%i2, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<1x1024xbf16>, token
  %rv2 = ftof %n2 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %rw2 = reshape %rv2 : tile<1x1024xf32> -> tile<1024xf32>
  %rg2 = mulf %rw2, %weight : tile<1024xf32>
  %r2 = reshape %rg2 : tile<1024xf32> -> tile<1x1024xf32>
  %s2 = reduce %r2 dim=1 identities=[0.0 : f32] : tile<1x1024xf32> -> tile<1xf32>
  (%p2: tile<f32>, %q2: tile<f32>) {
    %pq2 = addf %p2, %q2 : tile<f32>
    yield %pq2 : tile<f32>
  }
  %t2 = reshape %s2 : tile<1xf32> -> tile<1x1xf32>
  %b2 = broadcast %t2 : tile<1x1xf32> -> tile<1x1024xf32>
  %y2 = mulf %r2, %b2 : tile<1x1024xf32>
  %w2 = store_view_tko weak %y2, %yp[%i2, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<8x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  %k2, %kt2 = load_view_tko weak %mp[%i2, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<1x1024xi8>, token
  %kf2 = itof %k2 unsigned : tile<1x1024xi8> -> tile<1x1024xf32>
  %kv2 = reshape %kf2 : tile<1x1024xf32> -> tile<1024xf32>
  %yv2 = reshape %y2 : tile<1x1024xf32> -> tile<1024xf32>
  %zv2 = mulf %kv2, %yv2 : tile<1024xf32>
  %z2 = reshape %zv2 : tile<1024xf32> -> tile<1x1024xf32>
  %zh2 = ftof %z2 : tile<1x1024xf32> -> tile<1x1024xbf16>
  %v2 = store_view_tko weak %zh2, %hp[%i2, %c0] : tile<1x1024xbf16>, partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> token
  %zf2 = ftof %zh2 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %acc3 = addf %acc2, %zf2 : tile<1x1024xf32>
  %i3 = constant <i32: 3> : tile<i32>
  %n3, %lt3 = load_view_tko weak %xp[%i3, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<1x1024xbf16>, token
  %rv3 = ftof %n3 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %rw3 = reshape %rv3 : tile<1x1024xf32> -> tile<1024xf32>
  %rg3 = mulf %rw3, %weight : tile<1024xf32>
  %r3 = reshape %rg3 : tile<1024xf32> -> tile<1x1024xf32>
  %s3 = reduce %r3 dim=1 identities=[0.0 : f32] : tile<1x1024xf32> -> tile<1xf32>
  (%p3: tile<f32>, %q3: tile<f32>) {
    %pq3 = addf %p3, %q3 : tile<f32>
    yield %pq3 : tile<f32>
  }
  %t3 = reshape %s3 : tile<1xf32> -> tile<1x1xf32>
  %b3 = broadcast %t3 : tile<1x1xf32> -> tile<1x1024xf32>
  %y3 = mulf %r3, %b3 : tile<1x1024xf32>
  %w3 = store_view_tko weak %y3, %yp[%i3, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<8x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  %k3, %kt3 = load_view_tko weak %mp[%i3, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<1x1024xi8>, token
  %kf3 = itof %k3 unsigned : tile<1x1024xi8> -> tile<1x1024xf32>
  %kv3 = reshape %kf3 : tile<1x1024xf32> -> tile<1024xf32>
  %yv3 = reshape %y3 : tile<1x1024xf32> -> tile<1024xf32>
  %zv3 = mulf %kv3, %yv3 : tile<1024xf32>
  %z3 = reshape %zv3 : tile<1024xf32> -> tile<1x1024xf32>
  %zh3 = ftof %z3 : tile<1x1024xf32> -> tile<1x1024xbf16>
  %v3 = store_view_tko weak %zh3, %hp[%i3, %c0] : tile<1x1024xbf16>, partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> token
  %zf3 = ftof %zh3 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %acc4 = addf %acc3, %zf3 : tile<1x1024xf32>
  %i4 = constant <i32: 4> : tile<i32>
  %n4, %lt4 = load_view_tko weak %xp[%i4, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<1x1024xbf16>, token
  %rv4 = ftof %n4 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %rw4 = reshape %rv4 : tile<1x1024xf32> -> tile<1024xf32>
  %rg4 = mulf %rw4, %weight : tile<1024xf32>
  %r4 = reshape %rg4 : tile<1024xf32> -> tile<1x1024xf32>
  %s4 = reduce %r4 dim=1 identities=[0.0 : f32] : tile<1x1024xf32> -> tile<1xf32>
  (%p4: tile<f32>, %q4: tile<f32>) {
    %pq4 = addf %p4, %q4 : tile<f32>
    yield %pq4 : tile<f32>
  }
  %t4 = reshape %s4 : tile<1xf32> -> tile<1x1xf32>
  %b4 = broadcast %t4 : tile<1x1xf32> -> tile<1x1024xf32>
  %y4 = mulf %r4, %b4 : tile<1x1024xf32>
  %w4 = store_view_tko weak %y4, %yp[%i4, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<8x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  %k4, %kt4 = load_view_tko weak %mp[%i4, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<1x1024xi8>, token
  %kf4 = itof %k4 unsigned : tile<1x1024xi8> -> tile<1x1024xf32>
  %kv4 = reshape %kf4 : tile<1x1024xf32> -> tile<1024xf32>
  %yv4 = reshape %y4 : tile<1x1024xf32> -> tile<1024xf32>
  %zv4 = mulf %kv4, %yv4 : tile<1024xf32>
  %z4 = reshape %zv4 : tile<1024xf32> -> tile<1x1024xf32>
  %zh4 = ftof %z4 : tile<1x1024xf32> -> tile<1x1024xbf16>
  %v4 = store_view_tko weak %zh4, %hp[%i4, %c0] : tile<1x1024xbf16>, partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> token
  %zf4 = ftof %zh4 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %acc5 = addf %acc4, %zf4 : tile<1x1024xf32>
  %i5 = constant <i32: 5> : tile<i32>
  %n5, %lt5 = load_view_tko weak %xp[%i5, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<1x1024xbf16>, token
  %rv5 = ftof %n5 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %rw5 = reshape %rv5 : tile<1x1024xf32> -> tile<1024xf32>
  %rg5 = mulf %rw5, %weight : tile<1024xf32>
  %r5 = reshape %rg5 : tile<1024xf32> -> tile<1x1024xf32>
  %s5 = reduce %r5 dim=1 identities=[0.0 : f32] : tile<1x1024xf32> -> tile<1xf32>
  (%p5: tile<f32>, %q5: tile<f32>) {
    %pq5 = addf %p5, %q5 : tile<f32>
    yield %pq5 : tile<f32>
  }
  %t5 = reshape %s5 : tile<1xf32> -> tile<1x1xf32>
  %b5 = broadcast %t5 : tile<1x1xf32> -> tile<1x1024xf32>
  %y5 = mulf %r5, %b5 : tile<1x1024xf32>
  %w5 = store_view_tko weak %y5, %yp[%i5, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<8x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  %k5, %kt5 = load_view_tko weak %mp[%i5, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<1x1024xi8>, token
  %kf5 = itof %k5 unsigned : tile<1x1024xi8> -> tile<1x1024xf32>
  %kv5 = reshape %kf5 : tile<1x1024xf32> -> tile<1024xf32>
  %yv5 = reshape %y5 : tile<1x1024xf32> -> tile<1024xf32>
  %zv5 = mulf %kv5, %yv5 : tile<1024xf32>
  %z5 = reshape %zv5 : tile<1024xf32> -> tile<1x1024xf32>
  %zh5 = ftof %z5 : tile<1x1024xf32> -> tile<1x1024xbf16>
  %v5 = store_view_tko weak %zh5, %hp[%i5, %c0] : tile<1x1024xbf16>, partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> token
  %zf5 = ftof %zh5 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %acc6 = addf %acc5, %zf5 : tile<1x1024xf32>
  %i6 = constant <i32: 6> : tile<i32>
  %n6, %lt6 = load_view_tko weak %xp[%i6, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<1x1024xbf16>, token
  %rv6 = ftof %n6 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %rw6 = reshape %rv6 : tile<1x1024xf32> -> tile<1024xf32>
  %rg6 = mulf %rw6, %weight : tile<1024xf32>
  %r6 = reshape %rg6 : tile<1024xf32> -> tile<1x1024xf32>
  %s6 = reduce %r6 dim=1 identities=[0.0 : f32] : tile<1x1024xf32> -> tile<1xf32>
  (%p6: tile<f32>, %q6: tile<f32>) {
    %pq6 = addf %p6, %q6 : tile<f32>
    yield %pq6 : tile<f32>
  }
  %t6 = reshape %s6 : tile<1xf32> -> tile<1x1xf32>
  %b6 = broadcast %t6 : tile<1x1xf32> -> tile<1x1024xf32>
  %y6 = mulf %r6, %b6 : tile<1x1024xf32>
  %w6 = store_view_tko weak %y6, %yp[%i6, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<8x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  %k6, %kt6 = load_view_tko weak %mp[%i6, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<1x1024xi8>, token
  %kf6 = itof %k6 unsigned : tile<1x1024xi8> -> tile<1x1024xf32>
  %kv6 = reshape %kf6 : tile<1x1024xf32> -> tile<1024xf32>
  %yv6 = reshape %y6 : tile<1x1024xf32> -> tile<1024xf32>
  %zv6 = mulf %kv6, %yv6 : tile<1024xf32>
  %z6 = reshape %zv6 : tile<1024xf32> -> tile<1x1024xf32>
  %zh6 = ftof %z6 : tile<1x1024xf32> -> tile<1x1024xbf16>
  %v6 = store_view_tko weak %zh6, %hp[%i6, %c0] : tile<1x1024xbf16>, partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> token
  %zf6 = ftof %zh6 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %acc7 = addf %acc6, %zf6 : tile<1x1024xf32>
  %i7 = constant <i32: 7> : tile<i32>
  %n7, %lt7 = load_view_tko weak %xp[%i7, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> tile<1x1024xbf16>, token
  %rv7 = ftof %n7 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %rw7 = reshape %rv7 : tile<1x1024xf32> -> tile<1024xf32>
  %rg7 = mulf %rw7, %weight : tile<1024xf32>
  %r7 = reshape %rg7 : tile<1024xf32> -> tile<1x1024xf32>
  %s7 = reduce %r7 dim=1 identities=[0.0 : f32] : tile<1x1024xf32> -> tile<1xf32>
  (%p7: tile<f32>, %q7: tile<f32>) {
    %pq7 = addf %p7, %q7 : tile<f32>
    yield %pq7 : tile<f32>
  }
  %t7 = reshape %s7 : tile<1xf32> -> tile<1x1xf32>
  %b7 = broadcast %t7 : tile<1x1xf32> -> tile<1x1024xf32>
  %y7 = mulf %r7, %b7 : tile<1x1024xf32>
  %w7 = store_view_tko weak %y7, %yp[%i7, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<8x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  %k7, %kt7 = load_view_tko weak %mp[%i7, %c0] : partition_view<tile=(1x1024), tensor_view<8x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<1x1024xi8>, token
  %kf7 = itof %k7 unsigned : tile<1x1024xi8> -> tile<1x1024xf32>
  %kv7 = reshape %kf7 : tile<1x1024xf32> -> tile<1024xf32>
  %yv7 = reshape %y7 : tile<1x1024xf32> -> tile<1024xf32>
  %zv7 = mulf %kv7, %yv7 : tile<1024xf32>
  %z7 = reshape %zv7 : tile<1024xf32> -> tile<1x1024xf32>
  %zh7 = ftof %z7 : tile<1x1024xf32> -> tile<1x1024xbf16>
  %v7 = store_view_tko weak %zh7, %hp[%i7, %c0] : tile<1x1024xbf16>, partition_view<tile=(1x1024), tensor_view<8x1024xbf16, strides=[1024,1]>>, tile<i32> -> token
  %zf7 = ftof %zh7 : tile<1x1024xbf16> -> tile<1x1024xf32>
  %acc8 = addf %acc7, %zf7 : tile<1x1024xf32>
  %wt = store_view_tko weak %acc8, %sumsp[%c0, %c0] : tile<1x1024xf32>, partition_view<tile=(1x1024), tensor_view<1x1024xf32, strides=[1024,1]>>, tile<i32> -> token
  return
}
