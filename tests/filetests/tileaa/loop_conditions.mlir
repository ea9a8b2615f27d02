// Conditions that a counter below a bound satisfies, in each form that C++ writes them: sides exchanged, products and sums of the
// counter, `!=`, downwards, and where the other way leaves. Those stay loops of which it is not known that the counter gets to the
// bound: a product may wrap, the bound may be below the first number, or the number of iterations does not fit its type.
// run: compile --emit nv_tileaa
// show: cuda_tile.for | cuda_tile.loop | cmpi | divi | subi | itof
entry @sides_exchanged(%n: tile<i32>, %p: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %x = constant <f32: 1.5> : tile<f32>
  %s, %e = loop iter_values(%v = %x, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %c = cmpi greater_than %n, %i, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i signed : tile<i32> -> tile<f32>
      %w = addf %v, %f : tile<f32>
      %j = addi %i, %1 : tile<i32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %t = store_ptr_tko weak %p, %s : tile<ptr<f32>>, tile<f32> -> token
  return
}
entry @product(%n: tile<i32>, %p: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %64 = constant <i32: 64> : tile<i32>
  %x = constant <f32: 1.5> : tile<f32>
  %s, %e = loop iter_values(%v = %x, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %m = muli %i, %64 overflow<no_signed_wrap> : tile<i32>
    %c = cmpi less_than %m, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %m signed : tile<i32> -> tile<f32>
      %w = addf %v, %f : tile<f32>
      %j = addi %i, %1 : tile<i32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %t = store_ptr_tko weak %p, %s : tile<ptr<f32>>, tile<f32> -> token
  return
}
entry @product_of_a_sum(%n: tile<i32>, %p: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %64 = constant <i32: 64> : tile<i32>
  %x = constant <f32: 1.5> : tile<f32>
  %s, %e = loop iter_values(%v = %x, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %j = addi %i, %1 overflow<no_signed_wrap> : tile<i32>
    %m = muli %j, %64 overflow<no_signed_wrap> : tile<i32>
    %c = cmpi less_than_or_equal %m, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i signed : tile<i32> -> tile<f32>
      %w = addf %v, %f : tile<f32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %t = store_ptr_tko weak %p, %s : tile<ptr<f32>>, tile<f32> -> token
  return
}
entry @shifted(%n: tile<i32>, %p: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %6 = constant <i32: 6> : tile<i32>
  %x = constant <f32: 1.5> : tile<f32>
  %s, %e = loop iter_values(%v = %x, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %m = shli %i, %6 : tile<i32>
    %c = cmpi less_than %m, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i signed : tile<i32> -> tile<f32>
      %w = addf %v, %f : tile<f32>
      %j = addi %i, %1 : tile<i32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %t = store_ptr_tko weak %p, %s : tile<ptr<f32>>, tile<f32> -> token
  return
}
entry @product_may_wrap(%n: tile<i32>, %p: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %48 = constant <i32: 48> : tile<i32>
  %x = constant <f32: 1.5> : tile<f32>
  %s, %e = loop iter_values(%v = %x, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %m = muli %i, %48 : tile<i32>
    %c = cmpi less_than %m, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i signed : tile<i32> -> tile<f32>
      %w = addf %v, %f : tile<f32>
      %j = addi %i, %1 : tile<i32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %t = store_ptr_tko weak %p, %s : tile<ptr<f32>>, tile<f32> -> token
  return
}
entry @product_of_a_large_sum(%n: tile<i32>, %p: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %4 = constant <i32: 4> : tile<i32>
  %large = constant <i32: 1073741824> : tile<i32>
  %x = constant <f32: 1.5> : tile<f32>
  %s, %e = loop iter_values(%v = %x, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %far = addi %i, %large overflow<no_signed_wrap> : tile<i32>
    %m = muli %far, %4 : tile<i32>
    %c = cmpi less_than %m, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i signed : tile<i32> -> tile<f32>
      %w = addf %v, %f : tile<f32>
      %j = addi %i, %1 : tile<i32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %t = store_ptr_tko weak %p, %s : tile<ptr<f32>>, tile<f32> -> token
  return
}
entry @not_equal(%n: tile<i32>, %p: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %2 = constant <i32: 2> : tile<i32>
  %x = constant <f32: 1.5> : tile<f32>
  %promised, %e = loop iter_values(%v = %x, %i = %2) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %c = cmpi not_equal %i, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i signed : tile<i32> -> tile<f32>
      %w = addf %v, %f : tile<f32>
      %j = addi %i, %1 overflow<no_signed_wrap> : tile<i32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %from_zero, %e1 = loop iter_values(%v = %promised, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %c = cmpi not_equal %i, %n, unsigned : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i unsigned : tile<i32> -> tile<f32>
      %w = subf %v, %f : tile<f32>
      %j = addi %i, %1 : tile<i32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %stays, %e2 = loop iter_values(%v = %from_zero, %i = %2) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %c = cmpi not_equal %i, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i signed : tile<i32> -> tile<f32>
      %w = mulf %v, %f : tile<f32>
      %j = addi %i, %1 : tile<i32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %over, %e3 = loop iter_values(%v = %stays, %i = %0) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %c = cmpi not_equal %i, %n, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i signed : tile<i32> -> tile<f32>
      %w = divf %v, %f : tile<f32>
      %j = addi %i, %2 overflow<no_signed_wrap> : tile<i32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %t = store_ptr_tko weak %p, %over : tile<ptr<f32>>, tile<f32> -> token
  return
}
entry @downwards(%n: tile<i32>, %m: tile<i32>, %p: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %less = constant <i32: -1> : tile<i32>
  %x = constant <f32: 1.5> : tile<f32>
  %last = subi %n, %1 overflow<no_signed_wrap> : tile<i32>
  %to_zero, %e = loop iter_values(%v = %x, %i = %last) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %c = cmpi greater_than_or_equal %i, %0, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i signed : tile<i32> -> tile<f32>
      %w = addf %v, %f : tile<f32>
      %j = addi %i, %less overflow<no_signed_wrap> : tile<i32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %unsigned, %e1 = loop iter_values(%v = %to_zero, %i = %n) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %c = cmpi greater_than %i, %0, unsigned : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i unsigned : tile<i32> -> tile<f32>
      %w = subf %v, %f : tile<f32>
      %j = subi %i, %1 : tile<i32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %stays, %e2 = loop iter_values(%v = %unsigned, %i = %n) : tile<f32>, tile<i32> -> tile<f32>, tile<i32> {
    %c = cmpi greater_than %i, %m, signed : tile<i32> -> tile<i1>
    if %c {
      %f = itof %i signed : tile<i32> -> tile<f32>
      %w = mulf %v, %f : tile<f32>
      %j = subi %i, %1 : tile<i32>
      continue %w, %j : tile<f32>, tile<i32>
    }
    break %v, %i : tile<f32>, tile<i32>
  }
  %t = store_ptr_tko weak %p, %stays : tile<ptr<f32>>, tile<f32> -> token
  return
}
entry @leaves_where_it_holds(%n: tile<i32>, %p: tile<ptr<f32>>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %x = constant <f32: 1.5> : tile<f32>
  %t0 = make_token : token
  %s, %t1, %e = loop iter_values(%v = %x, %t = %t0, %i = %0) : tile<f32>, token, tile<i32> -> tile<f32>, token, tile<i32> {
    %c = cmpi greater_than_or_equal %i, %n, signed : tile<i32> -> tile<i1>
    %u = if %c -> (token) {
      break %v, %t, %i : tile<f32>, token, tile<i32>
    } else {
      yield %t : token
    }
    %f, %t2 = load_ptr_tko weak %p token = %u : tile<ptr<f32>> -> tile<f32>, token
    %w = addf %v, %f : tile<f32>
    %j = addi %i, %1 : tile<i32>
    continue %w, %t2, %j : tile<f32>, token, tile<i32>
  }
  %t3 = store_ptr_tko weak %p, %s token = %t1 : tile<ptr<f32>>, tile<f32> -> token
  return
}
