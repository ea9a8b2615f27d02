// A loop that runs once is its body, also one that breaks at the end of its first iteration; one that never runs is what
// it starts with. One that may run once or not at all stays, and so does one that ends its iteration early.
// run: compile --emit nv_tileaa
// show: cuda_tile.for | cuda_tile.loop | cuda_tile.if | addf | mulf | subf | divf | store
entry @k(%a: tile<ptr<f32>>, %m: tile<i32>, %c: tile<i1>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c8 = constant <i32: 8> : tile<i32>
  %x = constant <f32: 1.5> : tile<f32>
  %once = for %i in (%c0 to %c1, step %c8) : tile<i32> iter_values(%v = %x) -> (tile<f32>) {
    %f = itof %i signed : tile<i32> -> tile<f32>
    %s = addf %v, %f : tile<f32>
    continue %s : tile<f32>
  }
  %never = for %i in (%c8 to %c1, step %c1) : tile<i32> iter_values(%v = %once) -> (tile<f32>) {
    %s = mulf %v, %v : tile<f32>
    continue %s : tile<f32>
  }
  %n = mini %m, %c1 signed : tile<i32>
  %perhaps = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%v = %never) -> (tile<f32>) {
    %s = subf %v, %x : tile<f32>
    continue %s : tile<f32>
  }
  %early = for %i in (%c0 to %c1, step %c1) : tile<i32> iter_values(%v = %perhaps) -> (tile<f32>) {
    if %c {
      continue %x : tile<f32>
    }
    continue %v : tile<f32>
  }
  %breaks = loop iter_values(%v = %early) : tile<f32> -> tile<f32> {
    %s = divf %v, %x rounding<nearest_even> : tile<f32>
    break %s : tile<f32>
  }
  %leaves = loop iter_values(%v = %breaks) : tile<f32> -> tile<f32> {
    if %c {
      break %x : tile<f32>
    }
    break %v : tile<f32>
  }
  %t = store_ptr_tko weak %a, %leaves : tile<ptr<f32>>, tile<f32> -> token
  return
}
