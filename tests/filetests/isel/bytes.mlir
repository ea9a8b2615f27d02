// Four bytes in a register become two of 16 bits each, or are added, without being taken apart. As f16 they are the last bits
// of a number whose last place is one; so are four bits of an i32, less eight, as bf16.
// run: compile --gpu-name sm_80
// run: compile --gpu-name sm_90a
// show: .entry | ld.global | st.global | prmt | add | sub | xor | or. | and | lop3 | cvt.
entry @signed_to_f16(%a: tile<ptr<i8>>, %c: tile<ptr<f16>>) {
  %num = iota : tile<1024xi32>
  %qa = assume div_by<16>, %a : tile<ptr<i8>>
  %ra = reshape %qa : tile<ptr<i8>> -> tile<1xptr<i8>>
  %ba = broadcast %ra : tile<1xptr<i8>> -> tile<1024xptr<i8>>
  %pa = offset %ba, %num : tile<1024xptr<i8>>, tile<1024xi32> -> tile<1024xptr<i8>>
  %qc = assume div_by<16>, %c : tile<ptr<f16>>
  %rc = reshape %qc : tile<ptr<f16>> -> tile<1xptr<f16>>
  %bc = broadcast %rc : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %pc = offset %bc, %num : tile<1024xptr<f16>>, tile<1024xi32> -> tile<1024xptr<f16>>
  %x, %l = load_ptr_tko weak %pa : tile<1024xptr<i8>> -> tile<1024xi8>, token
  %y = itof %x signed : tile<1024xi8> -> tile<1024xf16>
  %s = store_ptr_tko weak %pc, %y : tile<1024xptr<f16>>, tile<1024xf16> -> token
  return
}
entry @unsigned_to_f16(%a: tile<ptr<i8>>, %c: tile<ptr<f16>>) {
  %num = iota : tile<1024xi32>
  %qa = assume div_by<16>, %a : tile<ptr<i8>>
  %ra = reshape %qa : tile<ptr<i8>> -> tile<1xptr<i8>>
  %ba = broadcast %ra : tile<1xptr<i8>> -> tile<1024xptr<i8>>
  %pa = offset %ba, %num : tile<1024xptr<i8>>, tile<1024xi32> -> tile<1024xptr<i8>>
  %qc = assume div_by<16>, %c : tile<ptr<f16>>
  %rc = reshape %qc : tile<ptr<f16>> -> tile<1xptr<f16>>
  %bc = broadcast %rc : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %pc = offset %bc, %num : tile<1024xptr<f16>>, tile<1024xi32> -> tile<1024xptr<f16>>
  %x, %l = load_ptr_tko weak %pa : tile<1024xptr<i8>> -> tile<1024xi8>, token
  %y = itof %x unsigned : tile<1024xi8> -> tile<1024xf16>
  %s = store_ptr_tko weak %pc, %y : tile<1024xptr<f16>>, tile<1024xf16> -> token
  return
}
entry @sum_of_signed(%a: tile<ptr<i8>>, %c: tile<ptr<i16>>) {
  %num = iota : tile<1024xi32>
  %qa = assume div_by<16>, %a : tile<ptr<i8>>
  %ra = reshape %qa : tile<ptr<i8>> -> tile<1xptr<i8>>
  %ba = broadcast %ra : tile<1xptr<i8>> -> tile<1024xptr<i8>>
  %pa = offset %ba, %num : tile<1024xptr<i8>>, tile<1024xi32> -> tile<1024xptr<i8>>
  %qc = assume div_by<16>, %c : tile<ptr<i16>>
  %rc = reshape %qc : tile<ptr<i16>> -> tile<1xptr<i16>>
  %bc = broadcast %rc : tile<1xptr<i16>> -> tile<1024xptr<i16>>
  %pc = offset %bc, %num : tile<1024xptr<i16>>, tile<1024xi32> -> tile<1024xptr<i16>>
  %x, %l = load_ptr_tko weak %pa : tile<1024xptr<i8>> -> tile<1024xi8>, token
  %w = exti %x signed : tile<1024xi8> -> tile<1024xi16>
  %y = addi %w, %w : tile<1024xi16>
  %s = store_ptr_tko weak %pc, %y : tile<1024xptr<i16>>, tile<1024xi16> -> token
  return
}
entry @sum_of_unsigned(%a: tile<ptr<i8>>, %c: tile<ptr<i16>>) {
  %num = iota : tile<1024xi32>
  %qa = assume div_by<16>, %a : tile<ptr<i8>>
  %ra = reshape %qa : tile<ptr<i8>> -> tile<1xptr<i8>>
  %ba = broadcast %ra : tile<1xptr<i8>> -> tile<1024xptr<i8>>
  %pa = offset %ba, %num : tile<1024xptr<i8>>, tile<1024xi32> -> tile<1024xptr<i8>>
  %qc = assume div_by<16>, %c : tile<ptr<i16>>
  %rc = reshape %qc : tile<ptr<i16>> -> tile<1xptr<i16>>
  %bc = broadcast %rc : tile<1xptr<i16>> -> tile<1024xptr<i16>>
  %pc = offset %bc, %num : tile<1024xptr<i16>>, tile<1024xi32> -> tile<1024xptr<i16>>
  %x, %l = load_ptr_tko weak %pa : tile<1024xptr<i8>> -> tile<1024xi8>, token
  %w = exti %x unsigned : tile<1024xi8> -> tile<1024xi16>
  %y = addi %w, %w : tile<1024xi16>
  %s = store_ptr_tko weak %pc, %y : tile<1024xptr<i16>>, tile<1024xi16> -> token
  return
}
entry @doubled(%a: tile<ptr<i8>>, %c: tile<ptr<i8>>) {
  %num = iota : tile<1024xi32>
  %qa = assume div_by<16>, %a : tile<ptr<i8>>
  %ra = reshape %qa : tile<ptr<i8>> -> tile<1xptr<i8>>
  %ba = broadcast %ra : tile<1xptr<i8>> -> tile<1024xptr<i8>>
  %pa = offset %ba, %num : tile<1024xptr<i8>>, tile<1024xi32> -> tile<1024xptr<i8>>
  %qc = assume div_by<16>, %c : tile<ptr<i8>>
  %rc = reshape %qc : tile<ptr<i8>> -> tile<1xptr<i8>>
  %bc = broadcast %rc : tile<1xptr<i8>> -> tile<1024xptr<i8>>
  %pc = offset %bc, %num : tile<1024xptr<i8>>, tile<1024xi32> -> tile<1024xptr<i8>>
  %x, %l = load_ptr_tko weak %pa : tile<1024xptr<i8>> -> tile<1024xi8>, token
  %y = addi %x, %x : tile<1024xi8>
  %s = store_ptr_tko weak %pc, %y : tile<1024xptr<i8>>, tile<1024xi8> -> token
  return
}
entry @less_one(%a: tile<ptr<i8>>, %c: tile<ptr<i8>>) {
  %num = iota : tile<1024xi32>
  %qa = assume div_by<16>, %a : tile<ptr<i8>>
  %ra = reshape %qa : tile<ptr<i8>> -> tile<1xptr<i8>>
  %ba = broadcast %ra : tile<1xptr<i8>> -> tile<1024xptr<i8>>
  %pa = offset %ba, %num : tile<1024xptr<i8>>, tile<1024xi32> -> tile<1024xptr<i8>>
  %qc = assume div_by<16>, %c : tile<ptr<i8>>
  %rc = reshape %qc : tile<ptr<i8>> -> tile<1xptr<i8>>
  %bc = broadcast %rc : tile<1xptr<i8>> -> tile<1024xptr<i8>>
  %pc = offset %bc, %num : tile<1024xptr<i8>>, tile<1024xi32> -> tile<1024xptr<i8>>
  %x, %l = load_ptr_tko weak %pa : tile<1024xptr<i8>> -> tile<1024xi8>, token
  %one = constant <i8: 1> : tile<1024xi8>
  %y = subi %one, %x : tile<1024xi8>
  %s = store_ptr_tko weak %pc, %y : tile<1024xptr<i8>>, tile<1024xi8> -> token
  return
}
entry @f8_to_f16(%a: tile<ptr<f8E5M2>>, %c: tile<ptr<f16>>) {
  %num = iota : tile<1024xi32>
  %qa = assume div_by<16>, %a : tile<ptr<f8E5M2>>
  %ra = reshape %qa : tile<ptr<f8E5M2>> -> tile<1xptr<f8E5M2>>
  %ba = broadcast %ra : tile<1xptr<f8E5M2>> -> tile<1024xptr<f8E5M2>>
  %pa = offset %ba, %num : tile<1024xptr<f8E5M2>>, tile<1024xi32> -> tile<1024xptr<f8E5M2>>
  %qc = assume div_by<16>, %c : tile<ptr<f16>>
  %rc = reshape %qc : tile<ptr<f16>> -> tile<1xptr<f16>>
  %bc = broadcast %rc : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %pc = offset %bc, %num : tile<1024xptr<f16>>, tile<1024xi32> -> tile<1024xptr<f16>>
  %x, %l = load_ptr_tko weak %pa : tile<1024xptr<f8E5M2>> -> tile<1024xf8E5M2>, token
  %y = ftof %x : tile<1024xf8E5M2> -> tile<1024xf16>
  %s = store_ptr_tko weak %pc, %y : tile<1024xptr<f16>>, tile<1024xf16> -> token
  return
}
entry @e4m3_to_f16(%a: tile<ptr<f8E4M3FN>>, %c: tile<ptr<f16>>) {
  %num = iota : tile<1024xi32>
  %qa = assume div_by<16>, %a : tile<ptr<f8E4M3FN>>
  %ra = reshape %qa : tile<ptr<f8E4M3FN>> -> tile<1xptr<f8E4M3FN>>
  %ba = broadcast %ra : tile<1xptr<f8E4M3FN>> -> tile<1024xptr<f8E4M3FN>>
  %pa = offset %ba, %num : tile<1024xptr<f8E4M3FN>>, tile<1024xi32> -> tile<1024xptr<f8E4M3FN>>
  %qc = assume div_by<16>, %c : tile<ptr<f16>>
  %rc = reshape %qc : tile<ptr<f16>> -> tile<1xptr<f16>>
  %bc = broadcast %rc : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %pc = offset %bc, %num : tile<1024xptr<f16>>, tile<1024xi32> -> tile<1024xptr<f16>>
  %x, %l = load_ptr_tko weak %pa : tile<1024xptr<f8E4M3FN>> -> tile<1024xf8E4M3FN>, token
  %y = ftof %x : tile<1024xf8E4M3FN> -> tile<1024xf16>
  %s = store_ptr_tko weak %pc, %y : tile<1024xptr<f16>>, tile<1024xf16> -> token
  return
}
entry @bits_less_eight(%a: tile<ptr<i32>>, %c: tile<ptr<bf16>>) {
  %num = iota : tile<1024xi32>
  %qa = assume div_by<16>, %a : tile<ptr<i32>>
  %ra = reshape %qa : tile<ptr<i32>> -> tile<1xptr<i32>>
  %ba = broadcast %ra : tile<1xptr<i32>> -> tile<1024xptr<i32>>
  %pa = offset %ba, %num : tile<1024xptr<i32>>, tile<1024xi32> -> tile<1024xptr<i32>>
  %qc = assume div_by<16>, %c : tile<ptr<bf16>>
  %rc = reshape %qc : tile<ptr<bf16>> -> tile<1xptr<bf16>>
  %bc = broadcast %rc : tile<1xptr<bf16>> -> tile<1024xptr<bf16>>
  %pc = offset %bc, %num : tile<1024xptr<bf16>>, tile<1024xi32> -> tile<1024xptr<bf16>>
  %x, %l = load_ptr_tko weak %pa : tile<1024xptr<i32>> -> tile<1024xi32>, token
  %fifteen = constant <i32: 15> : tile<1024xi32>
  %eight = constant <i32: 8> : tile<1024xi32>
  %bits = andi %x, %fifteen : tile<1024xi32>
  %less = subi %bits, %eight : tile<1024xi32>
  %y = itof %less signed : tile<1024xi32> -> tile<1024xbf16>
  %s = store_ptr_tko weak %pc, %y : tile<1024xptr<bf16>>, tile<1024xbf16> -> token
  return
}
