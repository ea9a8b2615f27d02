// Weights of four bits in bytes, eight less than what the bits say, become bf16 for a matmul: four bytes are shifted and
// masked together, joined with the upper byte of 128.0, and 136.0 is taken away from two at a time. Nothing is converted.
// run: compile --gpu-name sm_90a
// show: shr | and.b32 | prmt | bf16x2 | cvt
entry @k(%a: tile<ptr<i8>>, %c: tile<ptr<bf16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<i8>>
  %va = make_tensor_view %pa, shape = [16, 64], strides = [64, 1] : tensor_view<16x64xi8, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(16x64), tensor_view<16x64xi8, strides=[64,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<bf16>>
  %vc = make_tensor_view %pc, shape = [32, 64], strides = [64, 1] : tensor_view<32x64xbf16, strides=[64,1]>
  %tc = make_partition_view %vc : partition_view<tile=(16x64), tensor_view<32x64xbf16, strides=[64,1]>>
  %z = constant <i32: 0> : tile<i32>
  %o = constant <i32: 1> : tile<i32>
  %x, %t = load_view_tko weak %ta[%z, %z] : partition_view<tile=(16x64), tensor_view<16x64xi8, strides=[64,1]>>, tile<i32> -> tile<16x64xi8>, token
  %four = constant <i8: 4> : tile<16x64xi8>
  %mask = constant <i8: 15> : tile<16x64xi8>
  %eight = constant <i8: 8> : tile<16x64xi8>
  %low = andi %x, %mask : tile<16x64xi8>
  %low8 = subi %low, %eight : tile<16x64xi8>
  %up = shri %x, %four signed : tile<16x64xi8>
  %high = andi %up, %mask : tile<16x64xi8>
  %high8 = subi %high, %eight : tile<16x64xi8>
  %l = itof %low8 signed : tile<16x64xi8> -> tile<16x64xbf16>
  %h = itof %high8 signed : tile<16x64xi8> -> tile<16x64xbf16>
  %u = store_view_tko weak %l, %tc[%z, %z] : tile<16x64xbf16>, partition_view<tile=(16x64), tensor_view<32x64xbf16, strides=[64,1]>>, tile<i32> -> token
  %v = store_view_tko weak %h, %tc[%o, %z] : tile<16x64xbf16>, partition_view<tile=(16x64), tensor_view<32x64xbf16, strides=[64,1]>>, tile<i32> -> token
  return
}
