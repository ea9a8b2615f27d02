// Offsets that are zero where the mask leaves an element out, of a load and of a store, for a number of columns that cuts a vector.
// grid: 1,1,1
// arg: buffer f32 512 whole -9 9 seed 0
// arg: buffer f32 512 whole 7 7 seed 0
// arg: i32 101
entry @main(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %n: tile<i32>) {
  %a16 = assume div_by<16>, %a : tile<ptr<f32>>
  %b16 = assume div_by<16>, %b : tile<ptr<f32>>
  %zero = constant <i32: 0> : tile<128xi32>
  %one = constant <f32: 1.0> : tile<4x128xf32>
  %wide = constant <i32: 128> : tile<4x128xi32>
  %limit = constant <i32: 3> : tile<4x128xi32>
  %column = iota : tile<128xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %ns = broadcast %n1 : tile<1xi32> -> tile<128xi32>
  %inside = cmpi less_than %column, %ns, signed : tile<128xi32> -> tile<128xi1>
  %safe = select %inside, %column, %zero : tile<128xi1>, tile<128xi32>
  %row = iota : tile<4xi32>
  %row1 = reshape %row : tile<4xi32> -> tile<4x1xi32>
  %rows = broadcast %row1 : tile<4x1xi32> -> tile<4x128xi32>
  %safe1 = reshape %safe : tile<128xi32> -> tile<1x128xi32>
  %columns = broadcast %safe1 : tile<1x128xi32> -> tile<4x128xi32>
  %begins = muli %rows, %wide : tile<4x128xi32>
  %offsets = addi %begins, %columns : tile<4x128xi32>
  %inside1 = reshape %inside : tile<128xi1> -> tile<1x128xi1>
  %insides = broadcast %inside1 : tile<1x128xi1> -> tile<4x128xi1>
  %few = cmpi less_than %rows, %limit, signed : tile<4x128xi32> -> tile<4x128xi1>
  %mask = andi %few, %insides : tile<4x128xi1>
  %pa = reshape %a16 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %as = broadcast %pa : tile<1x1xptr<f32>> -> tile<4x128xptr<f32>>
  %from = offset %as, %offsets : tile<4x128xptr<f32>>, tile<4x128xi32> -> tile<4x128xptr<f32>>
  %pb = reshape %b16 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %bs = broadcast %pb : tile<1x1xptr<f32>> -> tile<4x128xptr<f32>>
  %to = offset %bs, %offsets : tile<4x128xptr<f32>>, tile<4x128xi32> -> tile<4x128xptr<f32>>
  %x, %t0 = load_ptr_tko weak %from, %mask, %one : tile<4x128xptr<f32>>, tile<4x128xi1>, tile<4x128xf32> -> tile<4x128xf32>, token
  %y = addf %x, %one : tile<4x128xf32>
  %t1 = store_ptr_tko weak %to, %y, %mask : tile<4x128xptr<f32>>, tile<4x128xf32>, tile<4x128xi1> -> token
  return
}
