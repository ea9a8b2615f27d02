// A load through something that is no pointer.
// run: verify
entry @k(%x: tile<i32>, %p: tile<ptr<f32>>) {
  %r, %t = load_ptr_tko weak %x : tile<i32> -> tile<f32>, token
  return
}
