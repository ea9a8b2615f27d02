// Matmuls in three steps along K, through pointers: straight code, of which all operands are on their way at once.
// grid: 2,1,1
// arg: buffer f16 12288 whole -2 2 seed 0
// arg: buffer f16 12288 whole -2 2 seed 1
// arg: buffer f32 8192 whole 7 7 seed 0
// arg: i32 100
entry @main(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>, %o: tile<ptr<f32>>, %rows: tile<i32>) {
  %px = assume div_by<16>, %x : tile<ptr<f16>>
  %py = assume div_by<16>, %y : tile<ptr<f16>>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %c3 = constant <i32: 3> : tile<i32>
  %c32 = constant <i32: 32> : tile<i32>
  %c64 = constant <i32: 64> : tile<i32>
  %c96 = constant <i32: 96> : tile<i32>
  %width = constant <i32: 96> : tile<64x1xi32>
  %wide = constant <i32: 64> : tile<64x1xi32>
  %half = constant <f32: 0.5> : tile<64x64xf32>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %none = constant <f16: 0.0> : tile<64x32xf16>
  %nothing = constant <f16: 0.0> : tile<32x64xf16>
  %i64 = iota : tile<64xi32>
  %i32 = iota : tile<32xi32>
  %first = muli %bx, %c64 : tile<i32>
  %first1 = reshape %first : tile<i32> -> tile<1x1xi32>
  %first64 = broadcast %first1 : tile<1x1xi32> -> tile<64x1xi32>
  %r = reshape %i64 : tile<64xi32> -> tile<64x1xi32>
  %row = addi %first64, %r : tile<64x1xi32>
  %rows1 = reshape %rows : tile<i32> -> tile<1x1xi32>
  %rows64 = broadcast %rows1 : tile<1x1xi32> -> tile<64x1xi32>
  %there = cmpi less_than %row, %rows64, signed : tile<64x1xi32> -> tile<64x1xi1>
  %mask = broadcast %there : tile<64x1xi1> -> tile<64x32xi1>
  %mask_t = permute %mask [1, 0] : tile<64x32xi1> -> tile<32x64xi1>
  %far = muli %row, %width : tile<64x1xi32>
  %far_t = permute %far [1, 0] : tile<64x1xi32> -> tile<1x64xi32>
  %column = reshape %i32 : tile<32xi32> -> tile<1x32xi32>
  %column_t = reshape %i32 : tile<32xi32> -> tile<32x1xi32>
  %px1 = reshape %px : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %px2 = broadcast %px1 : tile<1x1xptr<f16>> -> tile<64x1xptr<f16>>
  %xr = offset %px2, %far : tile<64x1xptr<f16>>, tile<64x1xi32> -> tile<64x1xptr<f16>>
  %xa = broadcast %xr : tile<64x1xptr<f16>> -> tile<64x32xptr<f16>>
  %py1 = reshape %py : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %py2 = broadcast %py1 : tile<1x1xptr<f16>> -> tile<1x64xptr<f16>>
  %yr = offset %py2, %far_t : tile<1x64xptr<f16>>, tile<1x64xi32> -> tile<1x64xptr<f16>>
  %ya = broadcast %yr : tile<1x64xptr<f16>> -> tile<32x64xptr<f16>>
  %sum, %scaled = for %k in (%0 to %c3, step %1) : tile<i32> iter_values(%a = %zero, %b = %zero) -> (tile<64x64xf32>, tile<64x64xf32>) {
    %k32 = muli %k, %c32 : tile<i32>
    %k1 = reshape %k32 : tile<i32> -> tile<1x1xi32>
    %kr = broadcast %k1 : tile<1x1xi32> -> tile<1x32xi32>
    %kc = addi %kr, %column : tile<1x32xi32>
    %kx = broadcast %kc : tile<1x32xi32> -> tile<64x32xi32>
    %xp = offset %xa, %kx : tile<64x32xptr<f16>>, tile<64x32xi32> -> tile<64x32xptr<f16>>
    %l, %t0 = load_ptr_tko weak %xp, %mask, %none : tile<64x32xptr<f16>>, tile<64x32xi1>, tile<64x32xf16> -> tile<64x32xf16>, token
    %kq = broadcast %k1 : tile<1x1xi32> -> tile<32x1xi32>
    %kd = addi %kq, %column_t : tile<32x1xi32>
    %ky = broadcast %kd : tile<32x1xi32> -> tile<32x64xi32>
    %yp = offset %ya, %ky : tile<32x64xptr<f16>>, tile<32x64xi32> -> tile<32x64xptr<f16>>
    %g, %t1 = load_ptr_tko weak %yp, %mask_t, %nothing : tile<32x64xptr<f16>>, tile<32x64xi1>, tile<32x64xf16> -> tile<32x64xf16>, token
    %s = mmaf %l, %g, %a : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
    %p = mmaf %l, %g, %zero : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
    %u = fma %p, %half, %b : tile<64x64xf32>
    continue %s, %u : tile<64x64xf32>, tile<64x64xf32>
  }
  %d = addf %sum, %scaled : tile<64x64xf32>
  %out = muli %row, %wide : tile<64x1xi32>
  %po = reshape %o : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %po2 = broadcast %po : tile<1x1xptr<f32>> -> tile<64x1xptr<f32>>
  %or = offset %po2, %out : tile<64x1xptr<f32>>, tile<64x1xi32> -> tile<64x1xptr<f32>>
  %oa = broadcast %or : tile<64x1xptr<f32>> -> tile<64x64xptr<f32>>
  %i = reshape %i64 : tile<64xi32> -> tile<1x64xi32>
  %oi = broadcast %i : tile<1x64xi32> -> tile<64x64xi32>
  %op = offset %oa, %oi : tile<64x64xptr<f32>>, tile<64x64xi32> -> tile<64x64xptr<f32>>
  %om = broadcast %there : tile<64x1xi1> -> tile<64x64xi1>
  %t2 = store_ptr_tko weak %op, %d, %om : tile<64x64xptr<f32>>, tile<64x64xf32>, tile<64x64xi1> -> token
  return
}
