// An offset that is zero where the access leaves the element out is the offset itself, through changes of shape and on
// its way through arithmetic. A selection by another condition than the mask's stays (%c), and so does one of whose result
// something is assumed (%d).
// run: compile --emit nv_tileaa
// show: select | load | store
entry @k(%a: tile<ptr<f32>>, %n: tile<i32>, %k: tile<i32>) {
  %zero = constant <i32: 0> : tile<128xi32>
  %column = iota : tile<128xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %ns = broadcast %n1 : tile<1xi32> -> tile<128xi32>
  %k1 = reshape %k : tile<i32> -> tile<1xi32>
  %ks = broadcast %k1 : tile<1xi32> -> tile<128xi32>
  %inside = cmpi less_than %column, %ns, signed : tile<128xi32> -> tile<128xi1>
  %other = cmpi less_than %column, %ks, signed : tile<128xi32> -> tile<128xi1>
  %safe = select %inside, %column, %zero : tile<128xi1>, tile<128xi32>

  %base = reshape %a : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bases = broadcast %base : tile<1x1xptr<f32>> -> tile<4x128xptr<f32>>
  %row = iota : tile<4xi32>
  %row1 = reshape %row : tile<4xi32> -> tile<4x1xi32>
  %rows = broadcast %row1 : tile<4x1xi32> -> tile<4x128xi32>
  %safe1 = reshape %safe : tile<128xi32> -> tile<1x128xi32>
  %columns = broadcast %safe1 : tile<1x128xi32> -> tile<4x128xi32>
  %n2 = reshape %n : tile<i32> -> tile<1x1xi32>
  %strides = broadcast %n2 : tile<1x1xi32> -> tile<4x128xi32>
  %begins = muli %rows, %strides : tile<4x128xi32>
  %offsets = addi %begins, %columns : tile<4x128xi32>
  %pointers = offset %bases, %offsets : tile<4x128xptr<f32>>, tile<4x128xi32> -> tile<4x128xptr<f32>>
  %inside1 = reshape %inside : tile<128xi1> -> tile<1x128xi1>
  %insides = broadcast %inside1 : tile<1x128xi1> -> tile<4x128xi1>
  %limit = constant <i32: 3> : tile<4x128xi32>
  %few = cmpi less_than %rows, %limit, signed : tile<4x128xi32> -> tile<4x128xi1>
  %mask = andi %few, %insides : tile<4x128xi1>
  %x, %t0 = load_ptr_tko weak %pointers, %mask : tile<4x128xptr<f32>>, tile<4x128xi1> -> tile<4x128xf32>, token
  %t1 = store_ptr_tko weak %pointers, %x, %mask token=%t0 : tile<4x128xptr<f32>>, tile<4x128xf32>, tile<4x128xi1> -> token

  %b1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
  %bs = broadcast %b1 : tile<1xptr<f32>> -> tile<128xptr<f32>>
  %c = offset %bs, %safe : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %y, %t2 = load_ptr_tko weak %c, %other token=%t1 : tile<128xptr<f32>>, tile<128xi1> -> tile<128xf32>, token
  %small = assume bounded<0, 100>, %safe : tile<128xi32>
  %d = offset %bs, %small : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
  %t3 = store_ptr_tko weak %d, %y, %inside token=%t2 : tile<128xptr<f32>>, tile<128xf32>, tile<128xi1> -> token
  return
}
