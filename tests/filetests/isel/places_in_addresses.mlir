// Rows of a constant length: what differs between registers is one immediate offset each, and the address is one for all.
// run: compile --emit ptx --gpu-name sm_80
// show: add. | mul. | shl. | ld.global | entry
entry @rows(%a: tile<ptr<bf16>>, %b: tile<ptr<bf16>>) {
  %a0 = assume div_by<16>, %a : tile<ptr<bf16>>
  %b0 = assume div_by<16>, %b : tile<ptr<bf16>>
  %c = constant <i32: 78048> : tile<32x1xi32>
  %l = constant <i32: 256> : tile<32x1xi32>
  %n = iota : tile<32xi32>
  %n1 = reshape %n : tile<32xi32> -> tile<32x1xi32>
  %r = addi %n1, %c : tile<32x1xi32>
  %rl = muli %r, %l : tile<32x1xi32>
  %rb = broadcast %rl : tile<32x1xi32> -> tile<32x256xi32>
  %m = iota : tile<256xi32>
  %m1 = reshape %m : tile<256xi32> -> tile<1x256xi32>
  %mb = broadcast %m1 : tile<1x256xi32> -> tile<32x256xi32>
  %x = addi %rb, %mb : tile<32x256xi32>
  %p1 = reshape %a0 : tile<ptr<bf16>> -> tile<1x1xptr<bf16>>
  %p2 = broadcast %p1 : tile<1x1xptr<bf16>> -> tile<32x256xptr<bf16>>
  %p = offset %p2, %x : tile<32x256xptr<bf16>>, tile<32x256xi32> -> tile<32x256xptr<bf16>>
  %v, %t = load_ptr_tko weak %p : tile<32x256xptr<bf16>> -> tile<32x256xbf16>, token
  %q1 = reshape %b0 : tile<ptr<bf16>> -> tile<1x1xptr<bf16>>
  %q2 = broadcast %q1 : tile<1x1xptr<bf16>> -> tile<32x256xptr<bf16>>
  %q = offset %q2, %x : tile<32x256xptr<bf16>>, tile<32x256xi32> -> tile<32x256xptr<bf16>>
  %t2 = store_ptr_tko weak %q, %v : tile<32x256xptr<bf16>>, tile<32x256xbf16> -> token
  return
}
