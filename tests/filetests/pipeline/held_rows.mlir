// A row that is reduced and then read again stays in shared memory where the cache is too small for the rows of all blocks:
// 32 KiB of f16 on sm_80 and sm_90a; sm_100a's cache has them. What waits for a write is read again, by copies behind a fence.
// run: compile --emit nv_tileas --gpu-name sm_90a
// run: explain --gpu-name sm_80
// run: explain --gpu-name sm_100a
// show: kernel | nv_tileas.func | shared buffer | pipeline of | tiles kept | local_ | "nv_tileas.load" | async.fence
entry @kept(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>) {
  %px = assume div_by<16>, %x : tile<ptr<f16>>
  %py = assume div_by<16>, %y : tile<ptr<f16>>
  %b, %j, %z = get_tile_block_id : tile<i32>
  %m0 = make_token : token
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %w = constant <i32: 2048> : tile<i32>
  %length = constant <i32: 16384> : tile<i32>
  %row = muli %b, %length : tile<i32>
  %lane = iota : tile<2048xi32>
  %zero = constant <f32: 0.0> : tile<2048xf32>
  %x1 = reshape %px : tile<ptr<f16>> -> tile<1xptr<f16>>
  %xs = broadcast %x1 : tile<1xptr<f16>> -> tile<2048xptr<f16>>
  %y1 = reshape %py : tile<ptr<f16>> -> tile<1xptr<f16>>
  %ys = broadcast %y1 : tile<1xptr<f16>> -> tile<2048xptr<f16>>
  %sum = for %k1 in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<2048xf32>) {
    %o1 = muli %k1, %w : tile<i32>
    %p1 = addi %row, %o1 : tile<i32>
    %r1 = reshape %p1 : tile<i32> -> tile<1xi32>
    %s1 = broadcast %r1 : tile<1xi32> -> tile<2048xi32>
    %at1 = addi %s1, %lane : tile<2048xi32>
    %q1 = offset %xs, %at1 : tile<2048xptr<f16>>, tile<2048xi32> -> tile<2048xptr<f16>>
    %v1, %t1 = load_ptr_tko weak %q1 : tile<2048xptr<f16>> -> tile<2048xf16>, token
    %f1 = ftof %v1 : tile<2048xf16> -> tile<2048xf32>
    %a1 = fma %f1, %f1, %acc : tile<2048xf32>
    continue %a1 : tile<2048xf32>
  }
  %all = reduce %sum dim=0 identities=[0.000000e+00 : f32] : tile<2048xf32> -> tile<f32>
  (%e: tile<f32>, %g: tile<f32>) {
    %h = addf %e, %g : tile<f32>
    yield %h : tile<f32>
  }
  %scale = rsqrt %all : tile<f32>
  %scale1 = reshape %scale : tile<f32> -> tile<1xf32>
  %scales = broadcast %scale1 : tile<1xf32> -> tile<2048xf32>
  for %k2 in (%c0 to %n, step %c1) : tile<i32> {
    %o2 = muli %k2, %w : tile<i32>
    %p2 = addi %row, %o2 : tile<i32>
    %r2 = reshape %p2 : tile<i32> -> tile<1xi32>
    %s2 = broadcast %r2 : tile<1xi32> -> tile<2048xi32>
    %at2 = addi %s2, %lane : tile<2048xi32>
    %q2 = offset %xs, %at2 : tile<2048xptr<f16>>, tile<2048xi32> -> tile<2048xptr<f16>>
    %v2, %t2 = load_ptr_tko weak %q2 : tile<2048xptr<f16>> -> tile<2048xf16>, token
    %f2 = ftof %v2 : tile<2048xf16> -> tile<2048xf32>
    %a2 = mulf %f2, %scales : tile<2048xf32>
    %d2 = ftof %a2 : tile<2048xf32> -> tile<2048xf16>
    %u2 = offset %ys, %at2 : tile<2048xptr<f16>>, tile<2048xi32> -> tile<2048xptr<f16>>
    %z2 = store_ptr_tko weak %u2, %d2 : tile<2048xptr<f16>>, tile<2048xf16> -> token
    continue
  }
  return
}
entry @written(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>) {
  %px = assume div_by<16>, %x : tile<ptr<f16>>
  %py = assume div_by<16>, %y : tile<ptr<f16>>
  %b, %j, %z = get_tile_block_id : tile<i32>
  %m0 = make_token : token
  %h0 = constant <f16: 0.0> : tile<f16>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %w = constant <i32: 2048> : tile<i32>
  %length = constant <i32: 16384> : tile<i32>
  %row = muli %b, %length : tile<i32>
  %lane = iota : tile<2048xi32>
  %zero = constant <f32: 0.0> : tile<2048xf32>
  %x1 = reshape %px : tile<ptr<f16>> -> tile<1xptr<f16>>
  %xs = broadcast %x1 : tile<1xptr<f16>> -> tile<2048xptr<f16>>
  %y1 = reshape %py : tile<ptr<f16>> -> tile<1xptr<f16>>
  %ys = broadcast %y1 : tile<1xptr<f16>> -> tile<2048xptr<f16>>
  %sum = for %k1 in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<2048xf32>) {
    %o1 = muli %k1, %w : tile<i32>
    %p1 = addi %row, %o1 : tile<i32>
    %r1 = reshape %p1 : tile<i32> -> tile<1xi32>
    %s1 = broadcast %r1 : tile<1xi32> -> tile<2048xi32>
    %at1 = addi %s1, %lane : tile<2048xi32>
    %q1 = offset %xs, %at1 : tile<2048xptr<f16>>, tile<2048xi32> -> tile<2048xptr<f16>>
    %v1, %t1 = load_ptr_tko weak %q1 : tile<2048xptr<f16>> -> tile<2048xf16>, token
    %f1 = ftof %v1 : tile<2048xf16> -> tile<2048xf32>
    %a1 = fma %f1, %f1, %acc : tile<2048xf32>
    continue %a1 : tile<2048xf32>
  }
  %all = reduce %sum dim=0 identities=[0.000000e+00 : f32] : tile<2048xf32> -> tile<f32>
  (%e: tile<f32>, %g: tile<f32>) {
    %h = addf %e, %g : tile<f32>
    yield %h : tile<f32>
  }
  %w0 = store_ptr_tko weak %px, %h0 token=%m0 : tile<ptr<f16>>, tile<f16> -> token
  %scale = rsqrt %all : tile<f32>
  %scale1 = reshape %scale : tile<f32> -> tile<1xf32>
  %scales = broadcast %scale1 : tile<1xf32> -> tile<2048xf32>
  for %k2 in (%c0 to %n, step %c1) : tile<i32> {
    %o2 = muli %k2, %w : tile<i32>
    %p2 = addi %row, %o2 : tile<i32>
    %r2 = reshape %p2 : tile<i32> -> tile<1xi32>
    %s2 = broadcast %r2 : tile<1xi32> -> tile<2048xi32>
    %at2 = addi %s2, %lane : tile<2048xi32>
    %q2 = offset %xs, %at2 : tile<2048xptr<f16>>, tile<2048xi32> -> tile<2048xptr<f16>>
    %v2, %t2 = load_ptr_tko weak %q2 token=%w0 : tile<2048xptr<f16>> -> tile<2048xf16>, token
    %f2 = ftof %v2 : tile<2048xf16> -> tile<2048xf32>
    %a2 = mulf %f2, %scales : tile<2048xf32>
    %d2 = ftof %a2 : tile<2048xf32> -> tile<2048xf16>
    %u2 = offset %ys, %at2 : tile<2048xptr<f16>>, tile<2048xi32> -> tile<2048xptr<f16>>
    %z2 = store_ptr_tko weak %u2, %d2 : tile<2048xptr<f16>>, tile<2048xf16> -> token
    continue
  }
  return
}
