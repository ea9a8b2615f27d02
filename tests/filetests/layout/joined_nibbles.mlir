// What two tiles are joined to lies as they do, a register step between them, and so do parts that are taken again: the
// nibbles of bytes become a row of weights, and odd ones are had back, by renaming registers.
// run: compile --emit nv_tileas --gpu-name sm_80
// show: #layout | convert_layout | tiled_ | cat" | extract"
entry @k(%a: tile<ptr<i8>>, %b: tile<ptr<i32>>, %c: tile<ptr<i32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<i8>>
  %va = make_tensor_view %pa, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xi8, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x32), tensor_view<1024x1024xi8, strides=[1024,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<i32>>
  %vb = make_tensor_view %pb, shape = [1024, 2048], strides = [2048, 1] : tensor_view<1024x2048xi32, strides=[2048,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x64), tensor_view<1024x2048xi32, strides=[2048,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<i32>>
  %vc = make_tensor_view %pc, shape = [1024, 1024], strides = [1024, 1] : tensor_view<1024x1024xi32, strides=[1024,1]>
  %tc = make_partition_view %vc : partition_view<tile=(64x32), tensor_view<1024x1024xi32, strides=[1024,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %q, %t0 = load_view_tko weak %ta[%i, %j] : partition_view<tile=(64x32), tensor_view<1024x1024xi8, strides=[1024,1]>>, tile<i32> -> tile<64x32xi8>, token
  %bytes = reshape %q : tile<64x32xi8> -> tile<64x32x1xi8>
  %mask = constant <i8: 15> : tile<64x32x1xi8>
  %four = constant <i8: 4> : tile<64x32x1xi8>
  %low = andi %bytes, %mask : tile<64x32x1xi8>
  %high = shri %bytes, %four unsigned : tile<64x32x1xi8>
  %l = exti %low unsigned : tile<64x32x1xi8> -> tile<64x32x1xi32>
  %h = exti %high unsigned : tile<64x32x1xi8> -> tile<64x32x1xi32>
  %both = cat %l, %h dim = 2 : tile<64x32x1xi32>, tile<64x32x1xi32> -> tile<64x32x2xi32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %odd = extract %both[%c0, %c0, %c1] : tile<64x32x2xi32> -> tile<64x32x1xi32>
  %r = reshape %both : tile<64x32x2xi32> -> tile<64x64xi32>
  %o = reshape %odd : tile<64x32x1xi32> -> tile<64x32xi32>
  %t1 = store_view_tko weak %r, %tb[%i, %j] : tile<64x64xi32>, partition_view<tile=(64x64), tensor_view<1024x2048xi32, strides=[2048,1]>>, tile<i32> -> token
  %t2 = store_view_tko weak %o, %tc[%i, %j] : tile<64x32xi32>, partition_view<tile=(64x32), tensor_view<1024x1024xi32, strides=[1024,1]>>, tile<i32> -> token
  return
}
