// grid: 2,1,1
// arg: buffer f16 2048 uniform -4 4 seed 3
// arg: buffer f16 2048 zero seed 0
// arg: i32 256
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %columns: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %i, %j, %k = get_tile_block_id : tile<i32>
  %c128 = constant <i32: 128> : tile<i32>
  %zero = constant <i32: 0> : tile<128xi32>
  %c256 = constant <i32: 256> : tile<8x1xi32>
  %first = muli %i, %c128 : tile<i32>
  %first1 = reshape %first : tile<i32> -> tile<1xi32>
  %firsts = broadcast %first1 : tile<1xi32> -> tile<128xi32>
  %along = iota : tile<128xi32>
  %place = addi %firsts, %along : tile<128xi32>
  %end1 = reshape %columns : tile<i32> -> tile<1xi32>
  %end = broadcast %end1 : tile<1xi32> -> tile<128xi32>
  %inside = cmpi less_than %place, %end, signed : tile<128xi32> -> tile<128xi1>
  %chosen = select %inside, %place, %zero : tile<128xi1>, tile<128xi32>
  %run = assume div_by<128, every 128 along 0>, %chosen : tile<128xi32>
  %column1 = reshape %run : tile<128xi32> -> tile<1x128xi32>
  %column = broadcast %column1 : tile<1x128xi32> -> tile<8x128xi32>
  %down = iota : tile<8xi32>
  %down1 = reshape %down : tile<8xi32> -> tile<8x1xi32>
  %start1 = muli %down1, %c256 : tile<8x1xi32>
  %start = broadcast %start1 : tile<8x1xi32> -> tile<8x128xi32>
  %index = addi %start, %column : tile<8x128xi32>
  %pa1 = reshape %pa : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %pas = broadcast %pa1 : tile<1x1xptr<f16>> -> tile<8x128xptr<f16>>
  %from = offset %pas, %index : tile<8x128xptr<f16>>, tile<8x128xi32> -> tile<8x128xptr<f16>>
  %x, %l = load_ptr_tko weak %from : tile<8x128xptr<f16>> -> tile<8x128xf16>, token
  %pb1 = reshape %pb : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %pbs = broadcast %pb1 : tile<1x1xptr<f16>> -> tile<8x128xptr<f16>>
  %to = offset %pbs, %index : tile<8x128xptr<f16>>, tile<8x128xi32> -> tile<8x128xptr<f16>>
  %s = store_ptr_tko weak %to, %x : tile<8x128xptr<f16>>, tile<8x128xf16> -> token
  return
}
