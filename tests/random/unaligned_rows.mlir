// grid: 3,1,1
// arg: buffer f32 9002 uniform -4 4 seed 3
// arg: buffer f32 9002 zero seed 0
// arg: i32 3001
// arg: i32 3000
entry @k(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %stride: tile<i32>, %cols: tile<i32>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c4 = constant <i32: 4> : tile<i32>
  %zero = constant <f32: 0.000000e+00> : tile<1024xf32>
  %width = constant <i32: 1024> : tile<i32>
  %t = make_token : token
  %row, %j, %k = get_tile_block_id : tile<i32>
  %first = muli %row, %stride : tile<i32>
  %px = offset %x, %first : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %py = offset %y, %first : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %rx = reshape %px : tile<ptr<f32>> -> tile<1xptr<f32>>
  %ry = reshape %py : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bx = broadcast %rx : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %by = broadcast %ry : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %rn = reshape %cols : tile<i32> -> tile<1xi32>
  %n = broadcast %rn : tile<1xi32> -> tile<1024xi32>
  %lanes = iota : tile<1024xi32>
  for %i in (%c0 to %c4, step %c1) : tile<i32> {
    %start = muli %i, %width : tile<i32>
    %rs = reshape %start : tile<i32> -> tile<1xi32>
    %bs = broadcast %rs : tile<1xi32> -> tile<1024xi32>
    %at = addi %lanes, %bs : tile<1024xi32>
    %there = cmpi less_than %at, %n, signed : tile<1024xi32> -> tile<1024xi1>
    %from = offset %bx, %at : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
    %v, %lt = load_ptr_tko weak %from, %there, %zero token=%t : tile<1024xptr<f32>>, tile<1024xi1>, tile<1024xf32> -> tile<1024xf32>, token
    %w = mulf %v, %v : tile<1024xf32>
    %to = offset %by, %at : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
    %st = store_ptr_tko weak %to, %w, %there token=%t : tile<1024xptr<f32>>, tile<1024xf32>, tile<1024xi1> -> token
    continue
  }
  return
}
