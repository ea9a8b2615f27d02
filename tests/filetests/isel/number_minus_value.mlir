// What a number has subtracted from it needs no register for the number.
// run: compile --gpu-name sm_90a
// show: sub. | mov.
entry @k(%x: tile<ptr<i32>>, %y: tile<ptr<i64>>, %n: tile<i32>, %m: tile<i64>) {
  %seven = constant <i32: 7> : tile<i32>
  %d = subi %seven, %n : tile<i32>
  %t0 = store_ptr_tko weak %x, %d : tile<ptr<i32>>, tile<i32> -> token
  %eight = constant <i64: 8> : tile<i64>
  %e = subi %eight, %m : tile<i64>
  %t1 = store_ptr_tko weak %y, %e : tile<ptr<i64>>, tile<i64> -> token
  return
}
