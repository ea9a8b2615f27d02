// Tiles of one element in a thread: they are loaded as they are used, without a conversion in each iteration, and of four rows
// that load the same word each does.
// run: compile --emit nv_tileas --gpu-name sm_80
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: .load" | _copy" | local_load" | convert | .reduce
entry @k(%x: tile<ptr<f32>>, %w: tile<ptr<i32>>, %o: tile<ptr<f32>>, %steps: tile<i32>) {
  %px = assume div_by<16>, %x : tile<ptr<f32>>
  %pw = assume div_by<16>, %w : tile<ptr<i32>>
  %po = assume div_by<16>, %o : tile<ptr<f32>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c2 = constant <i32: 2> : tile<i32>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %i64 = iota : tile<64xi32>
  %four = constant <i32: 4> : tile<64xi32>
  %word = divi %i64, %four signed : tile<64xi32>
  %eight = constant <i32: 8> : tile<64xi32>
  %wrow = muli %word, %eight : tile<64xi32>
  %wr = reshape %wrow : tile<64xi32> -> tile<64x1xi32>
  %wr2 = broadcast %wr : tile<64x1xi32> -> tile<64x2xi32>
  %col0 = muli %bx, %c2 : tile<i32>
  %col1 = reshape %col0 : tile<i32> -> tile<1xi32>
  %col2 = broadcast %col1 : tile<1xi32> -> tile<2xi32>
  %i2 = iota : tile<2xi32>
  %col = addi %col2, %i2 : tile<2xi32>
  %c = reshape %col : tile<2xi32> -> tile<1x2xi32>
  %c64 = broadcast %c : tile<1x2xi32> -> tile<64x2xi32>
  %at = addi %wr2, %c64 : tile<64x2xi32>
  %w1 = reshape %pw : tile<ptr<i32>> -> tile<1x1xptr<i32>>
  %w64 = broadcast %w1 : tile<1x1xptr<i32>> -> tile<64x2xptr<i32>>
  %wp = offset %w64, %at : tile<64x2xptr<i32>>, tile<64x2xi32> -> tile<64x2xptr<i32>>
  %x1 = reshape %px : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %x64 = broadcast %x1 : tile<1x1xptr<f32>> -> tile<1x64xptr<f32>>
  %ix = reshape %i64 : tile<64xi32> -> tile<1x64xi32>
  %xp = offset %x64, %ix : tile<1x64xptr<f32>>, tile<1x64xi32> -> tile<1x64xptr<f32>>
  %rest = remi %i64, %four signed : tile<64xi32>
  %bits = muli %rest, %eight : tile<64xi32>
  %b1 = reshape %bits : tile<64xi32> -> tile<64x1xi32>
  %shift = broadcast %b1 : tile<64x1xi32> -> tile<64x2xi32>
  %mask = constant <i32: 255> : tile<64x2xi32>
  %xstep = constant <i32: 64> : tile<1x64xi32>
  %wstep = constant <i32: 128> : tile<64x2xi32>
  %zero = constant <f32: 0.0> : tile<64x2xf32>
  %sum, %lx, %lw = for %k in (%c0 to %steps, step %c1) : tile<i32> iter_values(%acc = %zero, %p = %xp, %q = %wp) -> (tile<64x2xf32>, tile<1x64xptr<f32>>, tile<64x2xptr<i32>>) {
    %xs, %t0 = load_ptr_tko weak %p : tile<1x64xptr<f32>> -> tile<1x64xf32>, token
    %ws, %t1 = load_ptr_tko weak %q : tile<64x2xptr<i32>> -> tile<64x2xi32>, token
    %sh = shri %ws, %shift unsigned : tile<64x2xi32>
    %byte = andi %sh, %mask : tile<64x2xi32>
    %f = itof %byte signed : tile<64x2xi32> -> tile<64x2xf32>
    %xt = reshape %xs : tile<1x64xf32> -> tile<64x1xf32>
    %xb = broadcast %xt : tile<64x1xf32> -> tile<64x2xf32>
    %prod = mulf %xb, %f rounding<nearest_even> : tile<64x2xf32>
    %s = addf %acc, %prod rounding<nearest_even> : tile<64x2xf32>
    %pn = offset %p, %xstep : tile<1x64xptr<f32>>, tile<1x64xi32> -> tile<1x64xptr<f32>>
    %qn = offset %q, %wstep : tile<64x2xptr<i32>>, tile<64x2xi32> -> tile<64x2xptr<i32>>
    continue %s, %pn, %qn : tile<64x2xf32>, tile<1x64xptr<f32>>, tile<64x2xptr<i32>>
  }
  %all = reduce %sum dim=0 identities=[0.0 : f32] : tile<64x2xf32> -> tile<2xf32>
    (%e: tile<f32>, %a: tile<f32>) {
      %added = addf %e, %a rounding<nearest_even> : tile<f32>
      yield %added : tile<f32>
    }
  %o1 = reshape %po : tile<ptr<f32>> -> tile<1xptr<f32>>
  %o2 = broadcast %o1 : tile<1xptr<f32>> -> tile<2xptr<f32>>
  %op = offset %o2, %col : tile<2xptr<f32>>, tile<2xi32> -> tile<2xptr<f32>>
  %t2 = store_ptr_tko weak %op, %all : tile<2xptr<f32>>, tile<2xf32> -> token
  return
}
