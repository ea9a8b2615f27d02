// Tiles of pointers that loops carry and move on, as Triton writes them: by a constant and by a parameter, through two
// loops one in the other and two one after the other, with a stride, in a loop that does not run, and used behind it.
// grid: 2,1,1
// arg: buffer i32 4096 whole -9 9 seed 1
// arg: buffer i32 2048 whole 0 0 seed 0
// arg: i32 3
// arg: i32 7
// arg: i32 0
entry @main(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>, %n: tile<i32>, %step: tile<i32>, %none: tile<i32>) {
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c2 = constant <i32: 2> : tile<i32>
  %c5 = constant <i32: 5> : tile<i32>
  %c1000 = constant <i32: 1000> : tile<i32>
  %i = iota : tile<64xi32>
  %zero = constant <i32: 0> : tile<64xi32>
  %far = muli %b, %c1000 : tile<i32>
  %xb = offset %x, %far : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %x1 = reshape %xb : tile<ptr<i32>> -> tile<1xptr<i32>>
  %x2 = broadcast %x1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %px = offset %x2, %i : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
  %yb = offset %y, %far : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %y1 = reshape %yb : tile<ptr<i32>> -> tile<1xptr<i32>>
  %y2 = broadcast %y1 : tile<1xptr<i32>> -> tile<64xptr<i32>>
  %py = offset %y2, %i : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
  %fixed = constant <i32: 8> : tile<64xi32>
  %s0, %p0, %q0, %k0 = for %o in (%c0 to %n, step %c1) : tile<i32> iter_values(%a0 = %zero, %p = %px, %q = %py, %k = %i) -> (tile<64xi32>, tile<64xptr<i32>>, tile<64xptr<i32>>, tile<64xi32>) {
    %a1, %p1, %k1 = for %j in (%c1 to %c5, step %c2) : tile<i32> iter_values(%a2 = %a0, %p2 = %p, %k2 = %k) -> (tile<64xi32>, tile<64xptr<i32>>, tile<64xi32>) {
      %v, %t0 = load_ptr_tko weak %p2 : tile<64xptr<i32>> -> tile<64xi32>, token
      %w = muli %v, %k2 : tile<64xi32>
      %a3 = addi %a2, %w : tile<64xi32>
      %by1 = reshape %step : tile<i32> -> tile<1xi32>
      %by64 = broadcast %by1 : tile<1xi32> -> tile<64xi32>
      %p3 = offset %p2, %by64 : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
      %p4 = offset %p3, %fixed : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
      %k3 = addi %by64, %k2 : tile<64xi32>
      continue %a3, %p4, %k3 : tile<64xi32>, tile<64xptr<i32>>, tile<64xi32>
    }
    %t1 = store_ptr_tko weak %q, %a1 : tile<64xptr<i32>>, tile<64xi32> -> token
    %apart = constant <i32: 64> : tile<64xi32>
    %q1 = offset %q, %apart : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    %p5 = offset %p1, %fixed : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    continue %a1, %p5, %q1, %k1 : tile<64xi32>, tile<64xptr<i32>>, tile<64xptr<i32>>, tile<64xi32>
  }
  %back = constant <i32: -3> : tile<64xi32>
  %s1, %p6 = for %j in (%c0 to %c5, step %c2) : tile<i32> iter_values(%a4 = %s0, %p7 = %p0) -> (tile<64xi32>, tile<64xptr<i32>>) {
    %v, %t2 = load_ptr_tko weak %p7 : tile<64xptr<i32>> -> tile<64xi32>, token
    %a5 = addi %a4, %v : tile<64xi32>
    %p8 = offset %p7, %back : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    continue %a5, %p8 : tile<64xi32>, tile<64xptr<i32>>
  }
  %p9 = for %j in (%c5 to %none, step %c1) : tile<i32> iter_values(%p10 = %p6) -> (tile<64xptr<i32>>) {
    %p11 = offset %p10, %fixed : tile<64xptr<i32>>, tile<64xi32> -> tile<64xptr<i32>>
    continue %p11 : tile<64xptr<i32>>
  }
  %last, %t3 = load_ptr_tko weak %p9 : tile<64xptr<i32>> -> tile<64xi32>, token
  %sum0 = addi %s1, %last : tile<64xi32>
  %sum = addi %sum0, %k0 : tile<64xi32>
  %t4 = store_ptr_tko weak %q0, %sum : tile<64xptr<i32>>, tile<64xi32> -> token
  return
}
