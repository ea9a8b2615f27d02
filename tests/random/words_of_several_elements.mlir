// A matmul by weights of four bits, eight of which a word holds along K: each element's pointer is that of its word. Zero points lie
// in words along N, scales in rows for 32 of K.
// grid: 2,2,1
// arg: buffer f16 8192 whole -2 2 seed 0
// arg: buffer i32 2048 whole -2000000000 2000000000 seed 1
// arg: buffer i32 64 whole -2000000000 2000000000 seed 2
// arg: buffer f16 512 whole -1 1 seed 3
// arg: i32 4
// arg: buffer f32 8192 whole 7 7 seed 0
entry @main(%x: tile<ptr<f16>>, %q: tile<ptr<i32>>, %z: tile<ptr<i32>>, %s: tile<ptr<f16>>, %n: tile<i32>, %o: tile<ptr<f32>>) {
  %px = assume div_by<16>, %x : tile<ptr<f16>>
  %pq = assume div_by<16>, %q : tile<ptr<i32>>
  %pz = assume div_by<16>, %z : tile<ptr<i32>>
  %ps = assume div_by<16>, %s : tile<ptr<f16>>
  %vx = make_tensor_view %px, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf16, strides=[128,1]>
  %tx = make_partition_view %vx : partition_view<tile=(32x32), tensor_view<64x128xf16, strides=[128,1]>>
  %vo = make_tensor_view %o, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf32, strides=[128,1]>
  %to = make_partition_view %vo : partition_view<tile=(32x64), tensor_view<64x128xf32, strides=[128,1]>>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %c32 = constant <i32: 32> : tile<i32>
  %c64 = constant <i32: 64> : tile<i32>
  %four = constant <i32: 4> : tile<32x64xi32>
  %eight = constant <i32: 8> : tile<32x64xi32>
  %fifteen = constant <i32: 15> : tile<32x64xi32>
  %sixteen = constant <i32: 16> : tile<32x64xi32>
  %length = constant <i32: 128> : tile<32x64xi32>
  %zero = constant <f32: 0.0> : tile<32x64xf32>
  %r0 = iota : tile<32xi32>
  %r1 = reshape %r0 : tile<32xi32> -> tile<32x1xi32>
  %r2 = broadcast %r1 : tile<32x1xi32> -> tile<32x64xi32>
  %c0 = iota : tile<64xi32>
  %c1 = reshape %c0 : tile<64xi32> -> tile<1x64xi32>
  %c2 = broadcast %c1 : tile<1x64xi32> -> tile<32x64xi32>
  %n0 = muli %by, %c64 : tile<i32>
  %n1 = reshape %n0 : tile<i32> -> tile<1x1xi32>
  %n2 = broadcast %n1 : tile<1x1xi32> -> tile<32x64xi32>
  %column = addi %n2, %c2 : tile<32x64xi32>
  %q0 = reshape %pq : tile<ptr<i32>> -> tile<1x1xptr<i32>>
  %q1 = broadcast %q0 : tile<1x1xptr<i32>> -> tile<32x64xptr<i32>>
  %z0 = reshape %pz : tile<ptr<i32>> -> tile<1x1xptr<i32>>
  %z1 = broadcast %z0 : tile<1x1xptr<i32>> -> tile<32x64xptr<i32>>
  %s0 = reshape %ps : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %s1 = broadcast %s0 : tile<1x1xptr<f16>> -> tile<32x64xptr<f16>>
  %sum = for %k in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<32x64xf32>) {
    %a, %t0 = load_view_tko weak %tx[%bx, %k] : partition_view<tile=(32x32), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<32x32xf16>, token
    %k0 = muli %k, %c32 : tile<i32>
    %k1 = reshape %k0 : tile<i32> -> tile<1x1xi32>
    %k2 = broadcast %k1 : tile<1x1xi32> -> tile<32x64xi32>
    %row = addi %k2, %r2 : tile<32x64xi32>
    %word = divi %row, %eight signed : tile<32x64xi32>
    %far = muli %word, %length : tile<32x64xi32>
    %at = addi %far, %column : tile<32x64xi32>
    %pw = offset %q1, %at : tile<32x64xptr<i32>>, tile<32x64xi32> -> tile<32x64xptr<i32>>
    %w, %t1 = load_ptr_tko weak %pw : tile<32x64xptr<i32>> -> tile<32x64xi32>, token
    %in = remi %row, %eight signed : tile<32x64xi32>
    %by4 = muli %in, %four : tile<32x64xi32>
    %low = shri %w, %by4 unsigned : tile<32x64xi32>
    %bits = andi %low, %fifteen : tile<32x64xi32>
    %g0 = reshape %k : tile<i32> -> tile<1x1xi32>
    %g1 = broadcast %g0 : tile<1x1xi32> -> tile<32x64xi32>
    %zw = divi %column, %eight signed : tile<32x64xi32>
    %zr = muli %g1, %sixteen : tile<32x64xi32>
    %zat = addi %zr, %zw : tile<32x64xi32>
    %pzw = offset %z1, %zat : tile<32x64xptr<i32>>, tile<32x64xi32> -> tile<32x64xptr<i32>>
    %zz, %t2 = load_ptr_tko weak %pzw : tile<32x64xptr<i32>> -> tile<32x64xi32>, token
    %zin = remi %column, %eight signed : tile<32x64xi32>
    %zby4 = muli %zin, %four : tile<32x64xi32>
    %zlow = shri %zz, %zby4 unsigned : tile<32x64xi32>
    %zbits = andi %zlow, %fifteen : tile<32x64xi32>
    %sr = muli %g1, %length : tile<32x64xi32>
    %sat = addi %sr, %column : tile<32x64xi32>
    %psw = offset %s1, %sat : tile<32x64xptr<f16>>, tile<32x64xi32> -> tile<32x64xptr<f16>>
    %scale, %t3 = load_ptr_tko weak %psw : tile<32x64xptr<f16>> -> tile<32x64xf16>, token
    %diff = subi %bits, %zbits : tile<32x64xi32>
    %wide = itof %diff signed : tile<32x64xi32> -> tile<32x64xf16>
    %b = mulf %wide, %scale : tile<32x64xf16>
    %d = mmaf %a, %b, %acc : tile<32x32xf16>, tile<32x64xf16>, tile<32x64xf32>
    continue %d : tile<32x64xf32>
  }
  %t4 = store_view_tko weak %sum, %to[%bx, %by] : tile<32x64xf32>, partition_view<tile=(32x64), tensor_view<64x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
