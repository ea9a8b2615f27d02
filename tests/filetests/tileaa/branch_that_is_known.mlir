// Of a branch whose condition is known, what is executed remains, also inside of a loop; a branch that ends the iteration
// stays.
// run: compile --emit nv_tileaa
// show: cuda_tile.for | cuda_tile.if | addf | mulf | subf | store
entry @k(%a: tile<ptr<f32>>, %m: tile<i32>, %x: tile<f32>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %yes = cmpi less_than %c0, %c1, signed : tile<i32> -> tile<i1>
  %no = cmpi less_than %c1, %c0, signed : tile<i32> -> tile<i1>
  %r = for %i in (%c0 to %m, step %c1) : tile<i32> iter_values(%v = %x) -> (tile<f32>) {
    %one = if %yes -> (tile<f32>) {
      %s = addf %v, %x : tile<f32>
      yield %s : tile<f32>
    } else {
      %s = mulf %v, %x : tile<f32>
      yield %s : tile<f32>
    }
    if %no {
      %t = store_ptr_tko weak %a, %one : tile<ptr<f32>>, tile<f32> -> token
    }
    if %yes {
      %s = subf %one, %x : tile<f32>
      continue %s : tile<f32>
    }
    continue %one : tile<f32>
  }
  %t = store_ptr_tko weak %a, %r : tile<ptr<f32>>, tile<f32> -> token
  return
}
