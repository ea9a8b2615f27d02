// A block of 128 threads: no thread's number needs a mask of 127, and what is added to it goes into the address. One thread,
// or one of those that hold the same element, is chosen by a test of bits.
// run: compile --gpu-name sm_100a
// show: tid | and.b32 | setp | ld.global | st.global
entry @k(%a: tile<ptr<i8>>, %out: tile<ptr<i32>>, %n: tile<i32>) {
  %num = iota : tile<256xi32>
  %q = reshape %a : tile<ptr<i8>> -> tile<1xptr<i8>>
  %b = broadcast %q : tile<1xptr<i8>> -> tile<256xptr<i8>>
  %two = constant <i32: 2> : tile<256xi32>
  %odd = muli %num, %two : tile<256xi32>
  %at = offset %b, %odd : tile<256xptr<i8>>, tile<256xi32> -> tile<256xptr<i8>>
  %x, %l = load_ptr_tko weak %at : tile<256xptr<i8>> -> tile<256xi8>, token
  %s = store_ptr_tko weak %at, %x token=%l : tile<256xptr<i8>>, tile<256xi8> -> token
  %t = store_ptr_tko weak %out, %n : tile<ptr<i32>>, tile<i32> -> token
  return
}
