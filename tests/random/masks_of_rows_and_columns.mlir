// Masks of attention: places along columns compared with a bound and with a row's place, of numbers around 0 and around the least
// and the largest of 32 bits, where places and bounds wrap; and of places of which it is known that they are few.
// grid: 2,1,1
// arg: buffer i32 96 whole -4 4 seed 0
// arg: buffer f16 4096 whole -2 2 seed 1
// arg: buffer f32 262144 whole 7 7 seed 0
// arg: i32 100
entry @main(%numbers: tile<ptr<i32>>, %a: tile<ptr<f16>>, %out: tile<ptr<f32>>, %n: tile<i32>) {
  %block, %y, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %va = make_tensor_view %a, shape = [32, 16], strides = [16, 1] : tensor_view<32x16xf16, strides=[16,1]>
  %ta = make_partition_view %va : partition_view<tile=(32x16), tensor_view<32x16xf16, strides=[16,1]>>
  %ca = make_tensor_view %a, shape = [16, 256], strides = [256, 1] : tensor_view<16x256xf16, strides=[256,1]>
  %tc = make_partition_view %ca : partition_view<tile=(16x256), tensor_view<16x256xf16, strides=[256,1]>>
  %left, %t0 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(32x16), tensor_view<32x16xf16, strides=[16,1]>>, tile<i32> -> tile<32x16xf16>, token
  %right, %t1 = load_view_tko weak %tc[%c0, %c0] : partition_view<tile=(16x256), tensor_view<16x256xf16, strides=[256,1]>>, tile<i32> -> tile<16x256xf16>, token
  %zero = constant <f32: 0.0> : tile<32x256xf32>
  %sum = mmaf %left, %right, %zero : tile<32x16xf16>, tile<16x256xf16>, tile<32x256xf32>
  %vo = make_tensor_view %out, shape = [1024, 256], strides = [256, 1] : tensor_view<1024x256xf32, strides=[256,1]>
  %to = make_partition_view %vo : partition_view<tile=(32x256), tensor_view<1024x256xf32, strides=[256,1]>>
  %iota = iota : tile<256xi32>
  %iota32 = iota : tile<32xi32>
  %sixteen = constant <i32: 16> : tile<i32>
  %first = muli %block, %sixteen : tile<i32>
  %three = constant <i32: 3> : tile<i32>
  %large = constant <i32: 536870912> : tile<i32>
  %c256 = constant <i32: 256> : tile<i32>
  %outside = constant <f32: -3.0> : tile<32x256xf32>
  for %i in (%c0 to %sixteen, step %c1) : tile<i32> {
    %at0 = addi %first, %i : tile<i32>
    %at = muli %at0, %three : tile<i32>
    %ck0 = constant <i32: 0> : tile<i32>
    %atbound = addi %at, %ck0 : tile<i32>
    %pbound = offset %numbers, %atbound : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %vbound, %tbound = load_ptr_tko weak %pbound : tile<ptr<i32>> -> tile<i32>, token
    %bigbound = muli %vbound, %large : tile<i32>
    %bound = addi %bigbound, %c0 : tile<i32>
    %ck1 = constant <i32: 1> : tile<i32>
    %atrow = addi %at, %ck1 : tile<i32>
    %prow = offset %numbers, %atrow : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %vrow, %trow = load_ptr_tko weak %prow : tile<ptr<i32>> -> tile<i32>, token
    %bigrow = muli %vrow, %large : tile<i32>
    %row = addi %bigrow, %vrow : tile<i32>
    %ck2 = constant <i32: 2> : tile<i32>
    %atcolumn = addi %at, %ck2 : tile<i32>
    %pcolumn = offset %numbers, %atcolumn : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %vcolumn, %tcolumn = load_ptr_tko weak %pcolumn : tile<ptr<i32>> -> tile<i32>, token
    %bigcolumn = muli %vcolumn, %large : tile<i32>
    %wide = muli %vrow, %c256 : tile<i32>
    %column = addi %bigcolumn, %wide : tile<i32>
    %few = muli %i, %c256 : tile<i32>
    %r1 = reshape %row : tile<i32> -> tile<1xi32>
    %r32 = broadcast %r1 : tile<1xi32> -> tile<32xi32>
    %rows1 = addi %r32, %iota32 : tile<32xi32>
    %rowsT = reshape %rows1 : tile<32xi32> -> tile<32x1xi32>
    %rows = broadcast %rowsT : tile<32x1xi32> -> tile<32x256xi32>
    %column1 = reshape %column : tile<i32> -> tile<1xi32>
    %column64 = broadcast %column1 : tile<1xi32> -> tile<256xi32>
    %columns1 = addi %column64, %iota : tile<256xi32>
    %columnsT = reshape %columns1 : tile<256xi32> -> tile<1x256xi32>
    %columns = broadcast %columnsT : tile<1x256xi32> -> tile<32x256xi32>
    %few1 = reshape %few : tile<i32> -> tile<1xi32>
    %few64 = broadcast %few1 : tile<1xi32> -> tile<256xi32>
    %fews1 = addi %few64, %iota : tile<256xi32>
    %fewsT = reshape %fews1 : tile<256xi32> -> tile<1x256xi32>
    %fews = broadcast %fewsT : tile<1x256xi32> -> tile<32x256xi32>
    %bound1 = reshape %bound : tile<i32> -> tile<1x1xi32>
    %bounds = broadcast %bound1 : tile<1x1xi32> -> tile<32x256xi32>
    %n1 = reshape %n : tile<i32> -> tile<1x1xi32>
    %ns = broadcast %n1 : tile<1x1xi32> -> tile<32x256xi32>
    %fixed = constant <i32: 5000> : tile<32x256xi32>
    %f0 = cmpi less_than %columns, %bounds, signed : tile<32x256xi32> -> tile<32x256xi1>
    %s0 = cmpi less_than_or_equal %columns, %rows, signed : tile<32x256xi32> -> tile<32x256xi1>
    %m0 = andi %f0, %s0 : tile<32x256xi1>
    %x0 = select %m0, %sum, %outside : tile<32x256xi1>, tile<32x256xf32>
    %f1 = cmpi less_than %fews, %fixed, signed : tile<32x256xi32> -> tile<32x256xi1>
    %s1 = cmpi greater_than_or_equal %rows, %fews, signed : tile<32x256xi32> -> tile<32x256xi1>
    %m1 = andi %f1, %s1 : tile<32x256xi1>
    %x1 = select %m1, %sum, %outside : tile<32x256xi1>, tile<32x256xf32>
    %f2 = cmpi less_than %fews, %ns, signed : tile<32x256xi32> -> tile<32x256xi1>
    %s2 = cmpi less_than_or_equal %fews, %rows, signed : tile<32x256xi32> -> tile<32x256xi1>
    %m2 = andi %f2, %s2 : tile<32x256xi1>
    %x2 = select %m2, %sum, %outside : tile<32x256xi1>, tile<32x256xf32>
    %f3 = cmpi less_than %fews, %rows, signed : tile<32x256xi32> -> tile<32x256xi1>
    %x3 = select %f3, %sum, %outside : tile<32x256xi1>, tile<32x256xf32>
    %f4 = cmpi greater_than %columns, %rows, signed : tile<32x256xi32> -> tile<32x256xi1>
    %x4 = select %f4, %sum, %outside : tile<32x256xi1>, tile<32x256xf32>
    %f5 = cmpi greater_than %rows, %columns, signed : tile<32x256xi32> -> tile<32x256xi1>
    %x5 = select %f5, %sum, %outside : tile<32x256xi1>, tile<32x256xf32>
    %f6 = cmpi less_than_or_equal %rows, %fews, signed : tile<32x256xi32> -> tile<32x256xi1>
    %x6 = select %f6, %sum, %outside : tile<32x256xi1>, tile<32x256xf32>
    %f7 = cmpi greater_than_or_equal %fews, %rows, signed : tile<32x256xi32> -> tile<32x256xi1>
    %s7 = cmpi less_than %columns, %bounds, signed : tile<32x256xi32> -> tile<32x256xi1>
    %m7 = andi %f7, %s7 : tile<32x256xi1>
    %x7 = select %m7, %sum, %outside : tile<32x256xi1>, tile<32x256xf32>
    %f8 = cmpi less_than %columns, %rows, unsigned : tile<32x256xi32> -> tile<32x256xi1>
    %s8 = cmpi greater_than_or_equal %columns, %rows, signed : tile<32x256xi32> -> tile<32x256xi1>
    %m8 = andi %f8, %s8 : tile<32x256xi1>
    %x8 = select %m8, %sum, %outside : tile<32x256xi1>, tile<32x256xf32>
    %w1 = constant <f32: 2.0> : tile<32x256xf32>
    %p1 = mulf %x1, %w1 : tile<32x256xf32>
    %y1 = addf %x0, %p1 : tile<32x256xf32>
    %w2 = constant <f32: 4.0> : tile<32x256xf32>
    %p2 = mulf %x2, %w2 : tile<32x256xf32>
    %y2 = addf %y1, %p2 : tile<32x256xf32>
    %w3 = constant <f32: 8.0> : tile<32x256xf32>
    %p3 = mulf %x3, %w3 : tile<32x256xf32>
    %y3 = addf %y2, %p3 : tile<32x256xf32>
    %w4 = constant <f32: 16.0> : tile<32x256xf32>
    %p4 = mulf %x4, %w4 : tile<32x256xf32>
    %y4 = addf %y3, %p4 : tile<32x256xf32>
    %w5 = constant <f32: 32.0> : tile<32x256xf32>
    %p5 = mulf %x5, %w5 : tile<32x256xf32>
    %y5 = addf %y4, %p5 : tile<32x256xf32>
    %w6 = constant <f32: 64.0> : tile<32x256xf32>
    %p6 = mulf %x6, %w6 : tile<32x256xf32>
    %y6 = addf %y5, %p6 : tile<32x256xf32>
    %w7 = constant <f32: 128.0> : tile<32x256xf32>
    %p7 = mulf %x7, %w7 : tile<32x256xf32>
    %y7 = addf %y6, %p7 : tile<32x256xf32>
    %w8 = constant <f32: 256.0> : tile<32x256xf32>
    %p8 = mulf %x8, %w8 : tile<32x256xf32>
    %y8 = addf %y7, %p8 : tile<32x256xf32>
    %place0 = muli %block, %sixteen : tile<i32>
    %place = addi %place0, %i : tile<i32>
    %ts = store_view_tko weak %y8, %to[%place, %c0] : tile<32x256xf32>, partition_view<tile=(32x256), tensor_view<1024x256xf32, strides=[256,1]>>, tile<i32> -> token
    continue
  }
  return
}
