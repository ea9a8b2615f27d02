// The upper half of a product.
// run: compile --gpu-name sm_80
// show: mul
entry @k(%p: tile<ptr<i32>>, %x: tile<i32>, %y: tile<i32>, %z: tile<i32>) {
  %r = mulhii %x, %y : tile<i32>
  %t = store_ptr_tko weak %p, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
