// No copy moves fewer than four bytes: the elements are loaded, by neighbouring lanes, and the loop is not pipelined.
// run: explain --gpu-name sm_90a
// run: compile --gpu-name sm_90a
// run: explain --gpu-name sm_75
// show: reg [ | conversion ! | pipeline of | no async | cp.async | ld.global | st.global | st.shared | ld.shared
entry @k(%x: tile<ptr<f16>>, %y: tile<ptr<f16>>, %stride: tile<i32>, %cols: tile<i32>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c4 = constant <i32: 4> : tile<i32>
  %zero = constant <f16: 0.000000e+00> : tile<1024xf16>
  %width = constant <i32: 1024> : tile<i32>
  %t = make_token : token
  %row, %j, %k = get_tile_block_id : tile<i32>
  %first = muli %row, %stride : tile<i32>
  %px = offset %x, %first : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %py = offset %y, %first : tile<ptr<f16>>, tile<i32> -> tile<ptr<f16>>
  %rx = reshape %px : tile<ptr<f16>> -> tile<1xptr<f16>>
  %ry = reshape %py : tile<ptr<f16>> -> tile<1xptr<f16>>
  %bx = broadcast %rx : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %by = broadcast %ry : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %rn = reshape %cols : tile<i32> -> tile<1xi32>
  %n = broadcast %rn : tile<1xi32> -> tile<1024xi32>
  %lanes = iota : tile<1024xi32>
  for %i in (%c0 to %c4, step %c1) : tile<i32> {
    %start = muli %i, %width : tile<i32>
    %rs = reshape %start : tile<i32> -> tile<1xi32>
    %bs = broadcast %rs : tile<1xi32> -> tile<1024xi32>
    %at = addi %lanes, %bs : tile<1024xi32>
    %there = cmpi less_than %at, %n, signed : tile<1024xi32> -> tile<1024xi1>
    %from = offset %bx, %at : tile<1024xptr<f16>>, tile<1024xi32> -> tile<1024xptr<f16>>
    %v, %lt = load_ptr_tko weak %from, %there, %zero token=%t : tile<1024xptr<f16>>, tile<1024xi1>, tile<1024xf16> -> tile<1024xf16>, token
    %w = mulf %v, %v : tile<1024xf16>
    %to = offset %by, %at : tile<1024xptr<f16>>, tile<1024xi32> -> tile<1024xptr<f16>>
    %st = store_ptr_tko weak %to, %w, %there token=%t : tile<1024xptr<f16>>, tile<1024xf16>, tile<1024xi1> -> token
    continue
  }
  return
}
