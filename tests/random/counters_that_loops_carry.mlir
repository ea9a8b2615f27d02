// Loops that end by a condition on a counter, as nvcc writes a C++ `for` whose bound is an expression: the first iteration is told
// from the others, which add the step. The second carries the next counter; the third, which breaks inside, stays as it
// is; the fourth leaves in a branch that the iteration follows.
// grid: 2,1,1
// arg: buffer f16 8192 whole -2 2 seed 0
// arg: buffer f16 8192 whole -2 2 seed 1
// arg: i32 131
// arg: i32 3
// arg: buffer f32 8192 whole 7 7 seed 0
// arg: buffer f32 8192 whole 7 7 seed 0
// arg: buffer f32 8192 whole 7 7 seed 0
// arg: buffer f32 8192 whole 7 7 seed 0
entry @main(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>, %n: tile<i32>, %stop: tile<i32>, %o: tile<ptr<f32>>, %p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %r: tile<ptr<f32>>) {
  %px = assume div_by<16>, %x : tile<ptr<f16>>
  %py = assume div_by<16>, %y : tile<ptr<f16>>
  %vx = make_tensor_view %px, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf16, strides=[128,1]>
  %tx = make_partition_view %vx : partition_view<tile=(32x32), tensor_view<64x128xf16, strides=[128,1]>>
  %vy = make_tensor_view %py, shape = [128, 64], strides = [64, 1] : tensor_view<128x64xf16, strides=[64,1]>
  %ty = make_partition_view %vy : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>
  %vo = make_tensor_view %o, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %to = make_partition_view %vo : partition_view<tile=(32x64), tensor_view<64x64xf32, strides=[64,1]>>
  %vp = make_tensor_view %p, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %tp = make_partition_view %vp : partition_view<tile=(32x64), tensor_view<64x64xf32, strides=[64,1]>>
  %vq = make_tensor_view %q, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %tq = make_partition_view %vq : partition_view<tile=(32x64), tensor_view<64x64xf32, strides=[64,1]>>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %2 = constant <i32: 2> : tile<i32>
  %32 = constant <i32: 32> : tile<i32>
  %zero = constant <f32: 0.0> : tile<32x64xf32>
  %s, %si, %sf = loop iter_values(%acc = %zero, %last = %0, %first = %1) : tile<32x64xf32>, tile<i32>, tile<i32> -> tile<32x64xf32>, tile<i32>, tile<i32> {
    %is = cmpi not_equal %first, %0, signed : tile<i32> -> tile<i1>
    %k = if %is -> (tile<i32>) {
      yield %last : tile<i32>
    } else {
      %next = addi %last, %1 overflow<no_signed_wrap> : tile<i32>
      yield %next : tile<i32>
    }
    %steps = divi %n, %32 signed : tile<i32>
    %below = cmpi less_than %k, %steps, signed : tile<i32> -> tile<i1>
    %word = exti %below unsigned : tile<i1> -> tile<i32>
    %goes = cmpi not_equal %word, %0, signed : tile<i32> -> tile<i1>
    if %goes {
      %a, %t0 = load_view_tko weak %tx[%bx, %k] : partition_view<tile=(32x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<32x32xf16>, token
      %b, %t1 = load_view_tko weak %ty[%k, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %c = mmaf %a, %b, %acc : tile<32x32xf16>, tile<32x64xf16>, tile<32x64xf32>
      continue %c, %k, %0 : tile<32x64xf32>, tile<i32>, tile<i32>
    }
    break %acc, %k, %0 : tile<32x64xf32>, tile<i32>, tile<i32>
  }
  %t2 = store_view_tko weak %s, %to[%bx, %0] : tile<32x64xf32>, partition_view<tile=(32x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  %u, %ui = loop iter_values(%sum = %zero, %i = %bx) : tile<32x64xf32>, tile<i32> -> tile<32x64xf32>, tile<i32> {
    %below = cmpi less_than %i, %stop, signed : tile<i32> -> tile<i1>
    if %below {
      %a, %t3 = load_view_tko weak %tx[%bx, %i] : partition_view<tile=(32x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<32x32xf16>, token
      %b, %t4 = load_view_tko weak %ty[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %c = mmaf %a, %b, %sum : tile<32x32xf16>, tile<32x64xf16>, tile<32x64xf32>
      %next = addi %i, %2 overflow<no_signed_wrap> : tile<i32>
      continue %c, %next : tile<32x64xf32>, tile<i32>
    }
    break %sum, %i : tile<32x64xf32>, tile<i32>
  }
  %t5 = store_view_tko weak %u, %tp[%bx, %0] : tile<32x64xf32>, partition_view<tile=(32x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  %v, %vi = loop iter_values(%sum = %zero, %i = %0) : tile<32x64xf32>, tile<i32> -> tile<32x64xf32>, tile<i32> {
    %below = cmpi less_than %i, %32, signed : tile<i32> -> tile<i1>
    if %below {
      %a, %t6 = load_view_tko weak %tx[%bx, %i] : partition_view<tile=(32x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<32x32xf16>, token
      %b, %t7 = load_view_tko weak %ty[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
      %c = mmaf %a, %b, %sum : tile<32x32xf16>, tile<32x64xf16>, tile<32x64xf32>
      %next = addi %i, %1 overflow<no_signed_wrap> : tile<i32>
      %enough = cmpi equal %next, %stop, signed : tile<i32> -> tile<i1>
      if %enough {
        break %c, %next : tile<32x64xf32>, tile<i32>
      }
      continue %c, %next : tile<32x64xf32>, tile<i32>
    }
    break %sum, %i : tile<32x64xf32>, tile<i32>
  }
  %t8 = store_view_tko weak %v, %tq[%bx, %0] : tile<32x64xf32>, partition_view<tile=(32x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  %vr = make_tensor_view %r, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %tr = make_partition_view %vr : partition_view<tile=(32x64), tensor_view<64x64xf32, strides=[64,1]>>
  %w, %wi = loop iter_values(%sum = %zero, %i = %0) : tile<32x64xf32>, tile<i32> -> tile<32x64xf32>, tile<i32> {
    %below = cmpi less_than %i, %stop, signed : tile<i32> -> tile<i1>
    if %below {
    } else {
      break %sum, %i : tile<32x64xf32>, tile<i32>
    }
    %a, %t9 = load_view_tko weak %tx[%bx, %i] : partition_view<tile=(32x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<32x32xf16>, token
    %b, %t10 = load_view_tko weak %ty[%i, %0] : partition_view<tile=(32x64), tensor_view<128x64xf16, strides=[64,1]>>, tile<i32> -> tile<32x64xf16>, token
    %c = mmaf %a, %b, %sum : tile<32x32xf16>, tile<32x64xf16>, tile<32x64xf32>
    %next = addi %i, %1 : tile<i32>
    continue %c, %next : tile<32x64xf32>, tile<i32>
  }
  %t11 = store_view_tko weak %w, %tr[%bx, %0] : tile<32x64xf32>, partition_view<tile=(32x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
