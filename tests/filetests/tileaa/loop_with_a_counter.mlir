// A `loop` that ends by a condition on a counter counts, whether it carries the next counter or, as nvcc writes it, the last one and
// whether the iteration is the first; so does cuTile's `while`, which leaves in a branch. Tokens that are chosen
// with the counter are joined. Behind the loop, a counter that goes by one is known; one that goes by more, or what was computed of
// it, would have to be computed anew, so that such a loop stays. So does one whose bound or step changes, whose step may be negative or wrap, or that also ends elsewhere.
// run: compile --emit nv_tileaa
// show: cuda_tile.for | cuda_tile.loop | itof | store | join_tokens | num_tile_blocks
entry @k(%a: tile<ptr<f32>>, %n: tile<i32>, %k: tile<i32>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %3 = constant <i32: 3> : tile<i32>
  %x = constant <f32: 1.5> : tile<f32>
  %next, %ni = loop iter_values(%v = %x, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %m = divi %n, %3 signed : tile<i32>
    %c = cmpi less_than %i, %m, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i signed : tile<i32> -> tile<f32>
      %s = addf %v, %f : tile<f32>
      %j = addi %i, %3 overflow<no_signed_wrap> : tile<i32>
      continue %s, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %last, %li, %lf = loop iter_values(%v = %next, %i = %0, %first = %1) : tile<f32>, tile<i32>, tile<i32> -> tile<f32>, tile<i32>, tile<i32> {
    %is = cmpi not_equal %first, %0, signed : tile<i32> -> tile<i1>
    %at = if %is -> (tile<i32>) {
      yield %i : tile<i32>
    } else {
      %j = addi %i, %1 : tile<i32>
      yield %j : tile<i32>
    }
    %c = cmpi less_than %at, %n, unsigned : tile<i32> -> tile<i1>
    if %c {
      %f = itof %at signed : tile<i32> -> tile<f32>
      %s = addf %v, %f : tile<f32>
      %big = cmpf greater_than ordered %s, %x : tile<f32> -> tile<i1>
      if %big {
        continue %x, %at, %0 : tile<f32>, tile<i32>, tile<i32>
      }
      continue %s, %at, %0 : tile<f32>, tile<i32>, tile<i32>
    }
    break %v, %at, %0 : tile<f32>, tile<i32>, tile<i32>
  }
  %while, %xi = loop iter_values(%v = %last, %i = %k) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %c = cmpi less_than %i, %n, signed : tile<i32> -> tile<i1>
    if %c {
    } else {
      break %v, %i : tile<f32>, tile<i32>
    }
    %f = itof %i signed : tile<i32> -> tile<f32>
    %s = mulf %v, %f : tile<f32>
    %j = addi %i, %1 : tile<i32>
    continue %s, %j : tile<f32>, tile<i32>
  }
  %to, %ti = loop iter_values(%v = %while, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %m = divi %n, %3 signed : tile<i32>
    %c = cmpi less_than_or_equal %i, %m, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i signed : tile<i32> -> tile<f32>
      %s = subf %v, %f : tile<f32>
      %j = addi %i, %1 : tile<i32>
      continue %s, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %t0 = make_token : token
  %far, %fi, %ft, %ff = loop iter_values(%v = %to, %i = %0, %w = %t0, %first = %1) : tile<f32>, tile<i32>, token, tile<i32> -> tile<f32>, tile<i32>, token, tile<i32> {
    %is = cmpi not_equal %first, %0, signed : tile<i32> -> tile<i1>
    %at, %tk = if %is -> (tile<i32>, token) {
      yield %i, %w : tile<i32>, token
    } else {
      %gx, %gy, %gz = get_num_tile_blocks : tile<i32>
      %j = addi %i, %gy overflow<no_signed_wrap> : tile<i32>
      %both = join_tokens %w, %t0 : token
      yield %j, %both : tile<i32>, token
    }
    %c = cmpi less_than %at, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %x1, %t1 = load_ptr_tko weak %a token = %tk : tile<ptr<f32>> -> tile<f32>, token
      %s = addf %v, %x1 : tile<f32>
      continue %s, %at, %t1, %0 : tile<f32>, tile<i32>, token, tile<i32>
    }
    break %v, %at, %tk, %0 : tile<f32>, tile<i32>, token, tile<i32>
  }
  %asked, %ai = loop iter_values(%v = %far, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %c = cmpi less_than %i, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %s = addf %v, %v : tile<f32>
      %j = addi %i, %1 : tile<i32>
      continue %s, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %count = itof %ai signed : tile<i32> -> tile<f32>
  %sum = addf %asked, %count : tile<f32>
  %moving, %mi, %mb = loop iter_values(%v = %sum, %i = %0, %b = %n) : tile<f32>, tile<i32>, tile<i32> -> tile<f32>, tile<i32>, tile<i32> {
    %c = cmpi less_than %i, %b, signed : tile<i32> -> tile<i1>
    if %c {
      %s = mulf %v, %v : tile<f32>
      %j = addi %i, %1 : tile<i32>
      %less = subi %b, %1 : tile<i32>
      continue %s, %j, %less : tile<f32>, tile<i32>, tile<i32>
    }
    break %v, %i, %b : tile<f32>, tile<i32>, tile<i32>
  }
  %unknown, %ui = loop iter_values(%v = %moving, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %c = cmpi less_than %i, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %s = subf %v, %x : tile<f32>
      %j = addi %i, %k overflow<no_signed_wrap> : tile<i32>
      continue %s, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %wraps, %wi = loop iter_values(%v = %unknown, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %c = cmpi less_than %i, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %s = divf %v, %x : tile<f32>
      %j = addi %i, %3 : tile<i32>
      continue %s, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %t = store_ptr_tko weak %a, %wraps token = %ft : tile<ptr<f32>>, tile<f32> -> token
  return
}
// What else the choice moves on by itself is carried as that of the next iteration, and known behind the loop.
entry @moved(%a: tile<ptr<f32>>, %n: tile<i32>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %64 = constant <i32: 64> : tile<i32>
  %x = constant <f32: 1.5> : tile<f32>
  %s, %c, %far, %e = loop iter_values(%v = %x, %i = %0, %w = %n, %first = %1) : tile<f32>, tile<i32>, tile<i32>, tile<i32> -> tile<f32>, tile<i32>, tile<i32>, tile<i32> {
    %is = cmpi not_equal %first, %0, signed : tile<i32> -> tile<i1>
    %at, %off = if %is -> (tile<i32>, tile<i32>) {
      yield %i, %w : tile<i32>, tile<i32>
    } else {
      %j = addi %i, %1 overflow<no_signed_wrap> : tile<i32>
      %k = muli %w, %64 : tile<i32>
      yield %j, %k : tile<i32>, tile<i32>
    }
    %less = cmpi less_than %at, %n, signed : tile<i32> -> tile<i1>
    if %less {
      %f = itof %off signed : tile<i32> -> tile<f32>
      %t = addf %v, %f : tile<f32>
      continue %t, %at, %off, %0 : tile<f32>, tile<i32>, tile<i32>, tile<i32>
    }
    break %v, %at, %off, %0 : tile<f32>, tile<i32>, tile<i32>, tile<i32>
  }
  %g = itof %far signed : tile<i32> -> tile<f32>
  %r = addf %s, %g : tile<f32>
  %t = store_ptr_tko weak %a, %r : tile<ptr<f32>>, tile<f32> -> token
  return
}
