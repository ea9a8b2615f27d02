// Copied along K and stored along columns, with masks of the same column numbers.
// grid: 2,2,1
// arg: buffer bf16 16384 whole -3 3 seed 5
// arg: buffer bf16 24576 whole -3 3 seed 6
// arg: buffer bf16 19200 zero seed 0
// arg: i32 128
// arg: i32 128
// arg: i32 112
// arg: i32 150
// arg: i32 192
entry @main(%x: tile<ptr<bf16>>, %w: tile<ptr<bf16>>, %y: tile<ptr<bf16>>, %columns: tile<i32>, %depth: tile<i32>, %limit: tile<i32>, %height: tile<i32>, %pitch: tile<i32>) {
  %px = assume div_by<16>, %x : tile<ptr<bf16>>
  %pw = assume div_by<16>, %w : tile<ptr<bf16>>
  %py = assume div_by<16>, %y : tile<ptr<bf16>>
  %n = assume div_by<16>, %columns : tile<i32>
  %k = assume div_by<16>, %depth : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c64 = constant <i32: 64> : tile<i32>
  %number = iota : tile<64xi32>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %first = muli %bx, %c64 : tile<i32>
  %first1 = reshape %first : tile<i32> -> tile<1xi32>
  %firsts = broadcast %first1 : tile<1xi32> -> tile<64xi32>
  %top = muli %by, %c64 : tile<i32>
  %top1 = reshape %top : tile<i32> -> tile<1xi32>
  %tops = broadcast %top1 : tile<1xi32> -> tile<64xi32>
  %row = addi %tops, %number : tile<64xi32>
  %deep_down_ = reshape %number : tile<64xi32> -> tile<64x1xi32>
  %deep_down = exti %deep_down_ signed : tile<64x1xi32> -> tile<64x1xi64>
  %depths_down = broadcast %deep_down : tile<64x1xi64> -> tile<64x64xi64>
  %later = addi %row, %tops : tile<64xi32>
  %later1 = reshape %later : tile<64xi32> -> tile<64x1xi32>
  %later2 = exti %later1 signed : tile<64x1xi32> -> tile<64x1xi64>
  %places = broadcast %later2 : tile<64x1xi64> -> tile<64x64xi64>
  %column = addi %firsts, %number : tile<64xi32>
  %deep_ = reshape %number : tile<64xi32> -> tile<1x64xi32>
  %deep = exti %deep_ signed : tile<1x64xi32> -> tile<1x64xi64>
  %depths = broadcast %deep : tile<1x64xi64> -> tile<64x64xi64>
  %down_ = reshape %row : tile<64xi32> -> tile<64x1xi32>
  %down = exti %down_ signed : tile<64x1xi32> -> tile<64x1xi64>
  %across_ = reshape %column : tile<64xi32> -> tile<1x64xi32>
  %across = exti %across_ signed : tile<1x64xi32> -> tile<1x64xi64>
  %rows = broadcast %down : tile<64x1xi64> -> tile<64x64xi64>
  %cols = broadcast %across : tile<1x64xi64> -> tile<64x64xi64>
  %n1_ = reshape %n : tile<i32> -> tile<1x1xi32>
  %n1 = exti %n1_ signed : tile<1x1xi32> -> tile<1x1xi64>
  %ns = broadcast %n1 : tile<1x1xi64> -> tile<64x64xi64>
  %k1_ = reshape %k : tile<i32> -> tile<1x1xi32>
  %k1 = exti %k1_ signed : tile<1x1xi32> -> tile<1x1xi64>
  %ks = broadcast %k1 : tile<1x1xi64> -> tile<64x64xi64>
  %far = assume div_by<16>, %pitch : tile<i32>
  %far1 = reshape %far : tile<i32> -> tile<1x1xi32>
  %far2 = exti %far1 signed : tile<1x1xi32> -> tile<1x1xi64>
  %fars = broadcast %far2 : tile<1x1xi64> -> tile<64x64xi64>
  %inside = cmpi less_than %cols, %ns, unsigned : tile<64x64xi64> -> tile<64x64xi1>
  %lim = assume div_by<16>, %limit : tile<i32>
  %m1_ = reshape %height : tile<i32> -> tile<1x1xi32>
  %m1 = exti %m1_ signed : tile<1x1xi32> -> tile<1x1xi64>
  %ms = broadcast %m1 : tile<1x1xi64> -> tile<64x64xi64>
  %above = cmpi less_than %places, %ms, unsigned : tile<64x64xi64> -> tile<64x64xi1>
  %l1_ = reshape %lim : tile<i32> -> tile<1x1xi32>
  %l1 = exti %l1_ signed : tile<1x1xi32> -> tile<1x1xi64>
  %ls = broadcast %l1 : tile<1x1xi64> -> tile<64x64xi64>
  %wanted = cmpi less_than %cols, %ls, unsigned : tile<64x64xi64> -> tile<64x64xi1>
  %stored = andi %above, %wanted : tile<64x64xi1>
  %rx = muli %rows, %ks : tile<64x64xi64>
  %rw = muli %cols, %fars : tile<64x64xi64>
  %x1 = reshape %px : tile<ptr<bf16>> -> tile<1x1xptr<bf16>>
  %x2 = broadcast %x1 : tile<1x1xptr<bf16>> -> tile<64x64xptr<bf16>>
  %w1 = reshape %pw : tile<ptr<bf16>> -> tile<1x1xptr<bf16>>
  %w2 = broadcast %w1 : tile<1x1xptr<bf16>> -> tile<64x64xptr<bf16>>
  %none = constant <bf16: 0.0> : tile<64x64xbf16>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %steps = divi %k, %c64 signed : tile<i32>
  %sum = for %i in (%c0 to %steps, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %at = muli %i, %c64 : tile<i32>
    %at1_ = reshape %at : tile<i32> -> tile<1x1xi32>
    %at1 = exti %at1_ signed : tile<1x1xi32> -> tile<1x1xi64>
    %ats = broadcast %at1 : tile<1x1xi64> -> tile<64x64xi64>
    %ahead = addi %i, %c1 : tile<i32>
    %down_ahead = muli %ahead, %c64 : tile<i32>
    %down_at_ = reshape %down_ahead : tile<i32> -> tile<1x1xi32>
    %down_at = exti %down_at_ signed : tile<1x1xi32> -> tile<1x1xi64>
    %kx = addi %depths, %ats : tile<64x64xi64>
    %ix = addi %rx, %kx : tile<64x64xi64>
    %qx = offset %x2, %ix : tile<64x64xptr<bf16>>, tile<64x64xi64> -> tile<64x64xptr<bf16>>
    %l, %t0 = load_ptr_tko weak %qx : tile<64x64xptr<bf16>> -> tile<64x64xbf16>, token
    %at2 = broadcast %down_at : tile<1x1xi64> -> tile<64x64xi64>
    %kw = addi %depths_down, %at2 : tile<64x64xi64>
    %iw = addi %rw, %kw : tile<64x64xi64>
    %qw = offset %w2, %iw : tile<64x64xptr<bf16>>, tile<64x64xi64> -> tile<64x64xptr<bf16>>
    %deeper = cmpi less_than %kw, %fars, unsigned : tile<64x64xi64> -> tile<64x64xi1>
    %copied = andi %inside, %deeper : tile<64x64xi1>
    %r, %t1 = load_ptr_tko weak %qw, %copied, %none : tile<64x64xptr<bf16>>, tile<64x64xi1>, tile<64x64xbf16> -> tile<64x64xbf16>, token
    %next = mmaf %l, %r, %acc : tile<64x64xbf16>, tile<64x64xbf16>, tile<64x64xf32>
    continue %next : tile<64x64xf32>
  }
  %result = ftof %sum : tile<64x64xf32> -> tile<64x64xbf16>
  %ry = muli %places, %ns : tile<64x64xi64>
  %iy = addi %ry, %cols : tile<64x64xi64>
  %y1 = reshape %py : tile<ptr<bf16>> -> tile<1x1xptr<bf16>>
  %y2 = broadcast %y1 : tile<1x1xptr<bf16>> -> tile<64x64xptr<bf16>>
  %qy = offset %y2, %iy : tile<64x64xptr<bf16>>, tile<64x64xi64> -> tile<64x64xptr<bf16>>
  %t2 = store_ptr_tko weak %qy, %result, %stored : tile<64x64xptr<bf16>>, tile<64x64xbf16>, tile<64x64xi1> -> token
  return
}
