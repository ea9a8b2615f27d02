// A branch that only computes a few numbers is a selection. One that assumes something on its way, or takes a long quotient, stays.
// run: compile --emit nv_tileaa --gpu-name sm_80
// show: cuda_tile.if | cuda_tile.select | cuda_tile.divi | cuda_tile.assume
entry @k(%p: tile<ptr<i32>>, %n: tile<i32>, %d: tile<i32>) {
  %one = constant <i32: 1> : tile<i32>
  %sixteen = constant <i32: 16> : tile<i32>
  %single = cmpi equal %n, %one, signed : tile<i32> -> tile<i1>
  %x, %y, %z = get_tile_block_id : tile<i32>
  %row = if %single -> (tile<i32>) {
    %zero = constant <i32: 0> : tile<i32>
    yield %zero : tile<i32>
  } else {
    %part = divi %x, %sixteen signed rounding<negative_inf> : tile<i32>
    yield %part : tile<i32>
  }
  %column = if %single -> (tile<i32>) {
    yield %x : tile<i32>
  } else {
    %known = assume div_by<4>, %d : tile<i32>
    yield %known : tile<i32>
  }
  %depth = if %single -> (tile<i32>) {
    yield %x : tile<i32>
  } else {
    %long = divi %x, %d signed : tile<i32>
    yield %long : tile<i32>
  }
  %s1 = addi %row, %column : tile<i32>
  %s2 = addi %s1, %depth : tile<i32>
  %s = store_ptr_tko weak %p, %s2 : tile<ptr<i32>>, tile<i32> -> token
  return
}
