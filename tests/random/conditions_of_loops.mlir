// The forms of conditions that make a loop a counted one, with three iterations each and with none; what the counters
// are behind the loops counts, too.
// grid: 1,1,1
// arg: buffer f16 8192 whole -2 2 seed 0
// arg: buffer f16 8192 whole -2 2 seed 1
// arg: buffer f32 4096 whole 7 7 seed 0
// arg: i32 3
// arg: i32 0
entry @main(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c0: tile<ptr<f32>>, %n: tile<i32>, %none: tile<i32>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %31 = constant <i32: 31> : tile<i32>
  %32 = constant <i32: 32> : tile<i32>
  %33 = constant <i32: 33> : tile<i32>
  %less = constant <i32: -1> : tile<i32>
  %n_last = subi %n, %1 overflow<no_signed_wrap> : tile<i32>
  %none_last = subi %none, %1 overflow<no_signed_wrap> : tile<i32>
  %a16 = assume div_by<16>, %a : tile<ptr<f16>>
  %b16 = assume div_by<16>, %b : tile<ptr<f16>>
  %c16 = assume div_by<16>, %c0 : tile<ptr<f32>>
  %at = make_tensor_view %a16, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf16, strides=[128,1]>
  %bt = make_tensor_view %b16, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %ct = make_tensor_view %c16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %ap = make_partition_view %at : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>
  %bp = make_partition_view %bt : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>
  %cp = make_partition_view %ct : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %start = constant <f32: 0.0> : tile<64x64xf32>
  %two = constant <f32: 2.0> : tile<64x64xf32>
  %exchanged1, %end1 = loop iter_values(%v = %start, %i = %0) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %c = cmpi greater_than %n, %i, signed : tile<i32> -> tile<i1>
    if %c {
      %j = addi %i, %1 : tile<i32>
      %l, %tl = load_view_tko weak %ap[%0, %i] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %j : tile<64x64xf32>, tile<i32>
    }
    break %v, %i : tile<64x64xf32>, tile<i32>
  }
  %exchanged2, %end2 = loop iter_values(%v = %exchanged1, %i = %0) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %c = cmpi greater_than %none, %i, signed : tile<i32> -> tile<i1>
    if %c {
      %j = addi %i, %1 : tile<i32>
      %l, %tl = load_view_tko weak %ap[%0, %i] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %j : tile<64x64xf32>, tile<i32>
    }
    break %v, %i : tile<64x64xf32>, tile<i32>
  }
  %scaled2 = mulf %exchanged2, %two : tile<64x64xf32>
  %product3, %end3 = loop iter_values(%v = %scaled2, %i = %0) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %m = muli %i, %32 overflow<no_signed_wrap> : tile<i32>
    %d = muli %n, %31 overflow<no_signed_wrap> : tile<i32>
    %c = cmpi less_than %m, %d, signed : tile<i32> -> tile<i1>
    if %c {
      %j = addi %i, %1 : tile<i32>
      %l, %tl = load_view_tko weak %ap[%0, %i] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %j : tile<64x64xf32>, tile<i32>
    }
    break %v, %i : tile<64x64xf32>, tile<i32>
  }
  %product4, %end4 = loop iter_values(%v = %product3, %i = %0) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %m = muli %i, %32 overflow<no_signed_wrap> : tile<i32>
    %d = muli %none, %31 overflow<no_signed_wrap> : tile<i32>
    %c = cmpi less_than %m, %d, signed : tile<i32> -> tile<i1>
    if %c {
      %j = addi %i, %1 : tile<i32>
      %l, %tl = load_view_tko weak %ap[%0, %i] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %j : tile<64x64xf32>, tile<i32>
    }
    break %v, %i : tile<64x64xf32>, tile<i32>
  }
  %scaled4 = mulf %product4, %two : tile<64x64xf32>
  %sum5, %end5 = loop iter_values(%v = %scaled4, %i = %0) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %n1 = addi %i, %1 overflow<no_signed_wrap> : tile<i32>
    %m = muli %n1, %32 overflow<no_signed_wrap> : tile<i32>
    %d = muli %n, %33 overflow<no_signed_wrap> : tile<i32>
    %c = cmpi less_than_or_equal %m, %d, signed : tile<i32> -> tile<i1>
    if %c {
      %j = addi %i, %1 : tile<i32>
      %l, %tl = load_view_tko weak %ap[%0, %i] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %j : tile<64x64xf32>, tile<i32>
    }
    break %v, %i : tile<64x64xf32>, tile<i32>
  }
  %sum6, %end6 = loop iter_values(%v = %sum5, %i = %0) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %n1 = addi %i, %1 overflow<no_signed_wrap> : tile<i32>
    %m = muli %n1, %32 overflow<no_signed_wrap> : tile<i32>
    %d = muli %none, %33 overflow<no_signed_wrap> : tile<i32>
    %c = cmpi less_than_or_equal %m, %d, signed : tile<i32> -> tile<i1>
    if %c {
      %j = addi %i, %1 : tile<i32>
      %l, %tl = load_view_tko weak %ap[%0, %i] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %j : tile<64x64xf32>, tile<i32>
    }
    break %v, %i : tile<64x64xf32>, tile<i32>
  }
  %scaled6 = mulf %sum6, %two : tile<64x64xf32>
  %unequal7, %end7 = loop iter_values(%v = %scaled6, %i = %0) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %c = cmpi not_equal %i, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %j = addi %i, %1 : tile<i32>
      %l, %tl = load_view_tko weak %ap[%0, %i] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %j : tile<64x64xf32>, tile<i32>
    }
    break %v, %i : tile<64x64xf32>, tile<i32>
  }
  %unequal8, %end8 = loop iter_values(%v = %unequal7, %i = %0) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %c = cmpi not_equal %i, %none, signed : tile<i32> -> tile<i1>
    if %c {
      %j = addi %i, %1 : tile<i32>
      %l, %tl = load_view_tko weak %ap[%0, %i] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %j : tile<64x64xf32>, tile<i32>
    }
    break %v, %i : tile<64x64xf32>, tile<i32>
  }
  %scaled8 = mulf %unequal8, %two : tile<64x64xf32>
  %down9, %end9 = loop iter_values(%v = %scaled8, %i = %n_last) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %c = cmpi greater_than_or_equal %i, %0, signed : tile<i32> -> tile<i1>
    if %c {
      %j = addi %i, %less overflow<no_signed_wrap> : tile<i32>
      %l, %tl = load_view_tko weak %ap[%0, %i] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %j : tile<64x64xf32>, tile<i32>
    }
    break %v, %i : tile<64x64xf32>, tile<i32>
  }
  %down10, %end10 = loop iter_values(%v = %down9, %i = %none_last) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %c = cmpi greater_than_or_equal %i, %0, signed : tile<i32> -> tile<i1>
    if %c {
      %j = addi %i, %less overflow<no_signed_wrap> : tile<i32>
      %l, %tl = load_view_tko weak %ap[%0, %i] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %j : tile<64x64xf32>, tile<i32>
    }
    break %v, %i : tile<64x64xf32>, tile<i32>
  }
  %scaled10 = mulf %down10, %two : tile<64x64xf32>
  %downu11, %end11 = loop iter_values(%v = %scaled10, %i = %n) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %c = cmpi not_equal %0, %i, unsigned : tile<i32> -> tile<i1>
    if %c {
      %j = subi %i, %1 : tile<i32>
      %l, %tl = load_view_tko weak %ap[%0, %j] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%j, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %j : tile<64x64xf32>, tile<i32>
    }
    break %v, %i : tile<64x64xf32>, tile<i32>
  }
  %downu12, %end12 = loop iter_values(%v = %downu11, %i = %none) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %c = cmpi not_equal %0, %i, unsigned : tile<i32> -> tile<i1>
    if %c {
      %j = subi %i, %1 : tile<i32>
      %l, %tl = load_view_tko weak %ap[%0, %j] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%j, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %j : tile<64x64xf32>, tile<i32>
    }
    break %v, %i : tile<64x64xf32>, tile<i32>
  }
  %scaled12 = mulf %downu12, %two : tile<64x64xf32>
  %leaves13, %end13 = loop iter_values(%v = %scaled12, %i = %0) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %c = cmpi less_than_or_equal %n, %i, signed : tile<i32> -> tile<i1>
    %u = if %c -> (tile<64x64xf32>) {
      break %v, %i : tile<64x64xf32>, tile<i32>
    } else {
      yield %v : tile<64x64xf32>
    }
    %l, %tl = load_view_tko weak %ap[%0, %i] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
    %r, %tr = load_view_tko weak %bp[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
    %s = mmaf %l, %r, %u : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
    %j = addi %i, %1 : tile<i32>
    continue %s, %j : tile<64x64xf32>, tile<i32>
  }
  %leaves14, %end14 = loop iter_values(%v = %leaves13, %i = %0) : tile<64x64xf32>, tile<i32> -> tile<64x64xf32>, tile<i32> {
    %c = cmpi less_than_or_equal %none, %i, signed : tile<i32> -> tile<i1>
    %u = if %c -> (tile<64x64xf32>) {
      break %v, %i : tile<64x64xf32>, tile<i32>
    } else {
      yield %v : tile<64x64xf32>
    }
    %l, %tl = load_view_tko weak %ap[%0, %i] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
    %r, %tr = load_view_tko weak %bp[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
    %s = mmaf %l, %r, %u : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
    %j = addi %i, %1 : tile<i32>
    continue %s, %j : tile<64x64xf32>, tile<i32>
  }
  %moved101, %end101, %far101, %done101 = loop iter_values(%v = %leaves14, %i = %0, %w = %n_last, %first = %1) : tile<64x64xf32>, tile<i32>, tile<i32>, tile<i32> -> tile<64x64xf32>, tile<i32>, tile<i32>, tile<i32> {
    %is = cmpi not_equal %first, %0, signed : tile<i32> -> tile<i1>
    %at1, %off = if %is -> (tile<i32>, tile<i32>) {
      yield %i, %w : tile<i32>, tile<i32>
    } else {
      %j = addi %i, %1 overflow<no_signed_wrap> : tile<i32>
      %d = subi %w, %1 : tile<i32>
      yield %j, %d : tile<i32>, tile<i32>
    }
    %c = cmpi less_than %at1, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %l, %tl = load_view_tko weak %ap[%0, %off] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%at1, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %at1, %off, %0 : tile<64x64xf32>, tile<i32>, tile<i32>, tile<i32>
    }
    break %v, %at1, %off, %0 : tile<64x64xf32>, tile<i32>, tile<i32>, tile<i32>
  }
  %moved102, %end102, %far102, %done102 = loop iter_values(%v = %moved101, %i = %0, %w = %n_last, %first = %1) : tile<64x64xf32>, tile<i32>, tile<i32>, tile<i32> -> tile<64x64xf32>, tile<i32>, tile<i32>, tile<i32> {
    %is = cmpi not_equal %first, %0, signed : tile<i32> -> tile<i1>
    %at1, %off = if %is -> (tile<i32>, tile<i32>) {
      yield %i, %w : tile<i32>, tile<i32>
    } else {
      %j = addi %i, %1 overflow<no_signed_wrap> : tile<i32>
      %d = subi %w, %1 : tile<i32>
      yield %j, %d : tile<i32>, tile<i32>
    }
    %c = cmpi less_than %at1, %none, signed : tile<i32> -> tile<i1>
    if %c {
      %l, %tl = load_view_tko weak %ap[%0, %off] : partition_view<tile=(64x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x32xf16>, token
      %r, %tr = load_view_tko weak %bp[%at1, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %s = mmaf %l, %r, %v : tile<64x32xf16>, tile<32x64xf16>, tile<64x64xf32>
      continue %s, %at1, %off, %0 : tile<64x64xf32>, tile<i32>, tile<i32>, tile<i32>
    }
    break %v, %at1, %off, %0 : tile<64x64xf32>, tile<i32>, tile<i32>, tile<i32>
  }
  %both = addi %far101, %far102 : tile<i32>
  %twice0 = addi %both, %both : tile<i32>
  %all0 = addi %twice0, %end1 : tile<i32>
  %twice1 = addi %all0, %all0 : tile<i32>
  %all1 = addi %twice1, %end2 : tile<i32>
  %twice2 = addi %all1, %all1 : tile<i32>
  %all2 = addi %twice2, %end3 : tile<i32>
  %twice3 = addi %all2, %all2 : tile<i32>
  %all3 = addi %twice3, %end4 : tile<i32>
  %twice4 = addi %all3, %all3 : tile<i32>
  %all4 = addi %twice4, %end5 : tile<i32>
  %twice5 = addi %all4, %all4 : tile<i32>
  %all5 = addi %twice5, %end6 : tile<i32>
  %twice6 = addi %all5, %all5 : tile<i32>
  %all6 = addi %twice6, %end7 : tile<i32>
  %twice7 = addi %all6, %all6 : tile<i32>
  %all7 = addi %twice7, %end8 : tile<i32>
  %twice8 = addi %all7, %all7 : tile<i32>
  %all8 = addi %twice8, %end9 : tile<i32>
  %twice9 = addi %all8, %all8 : tile<i32>
  %all9 = addi %twice9, %end10 : tile<i32>
  %twice10 = addi %all9, %all9 : tile<i32>
  %all10 = addi %twice10, %end11 : tile<i32>
  %twice11 = addi %all10, %all10 : tile<i32>
  %all11 = addi %twice11, %end12 : tile<i32>
  %twice12 = addi %all11, %all11 : tile<i32>
  %all12 = addi %twice12, %end13 : tile<i32>
  %twice13 = addi %all12, %all12 : tile<i32>
  %all13 = addi %twice13, %end14 : tile<i32>
  %twice14 = addi %all13, %all13 : tile<i32>
  %all14 = addi %twice14, %end101 : tile<i32>
  %twice15 = addi %all14, %all14 : tile<i32>
  %all15 = addi %twice15, %end102 : tile<i32>
  %number = itof %all15 signed : tile<i32> -> tile<f32>
  %one = reshape %number : tile<f32> -> tile<1x1xf32>
  %all = broadcast %one : tile<1x1xf32> -> tile<64x64xf32>
  %last = addf %moved102, %all : tile<64x64xf32>
  %t = store_view_tko weak %last, %cp[%0, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
