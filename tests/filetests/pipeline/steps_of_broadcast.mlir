// An iteration that is done in parts, where the counter says which tile along K is loaded: what is repeated along K in front of
// the loop is repeated as far as a part goes.
// run: explain --gpu-name sm_120a
// run: compile --verify --emit nv_tileas --gpu-name sm_120a
// show: shorter steps | broadcast | subf | .dot"
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f32>>, %d: tile<ptr<f32>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 128], strides = [128, 1] : tensor_view<1024x128xf16, strides=[128,1]>
  %ta = make_partition_view %va : partition_view<tile=(32x128), tensor_view<1024x128xf16, strides=[128,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [1024, 128], strides = [128, 1] : tensor_view<1024x128xf16, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(256x128), tensor_view<1024x128xf16, strides=[128,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f32>>
  %vc = make_tensor_view %pc, shape = [1024, 128], strides = [128, 1] : tensor_view<1024x128xf32, strides=[128,1]>
  %tc = make_partition_view %vc : partition_view<tile=(32x128), tensor_view<1024x128xf32, strides=[128,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f32>>
  %vd = make_tensor_view %pd, shape = [1024], strides = [1] : tensor_view<1024xf32, strides=[1]>
  %td = make_partition_view %vd : partition_view<tile=(32), tensor_view<1024xf32, strides=[1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zero = constant <f32: 0.0> : tile<32x128xf32>
  %none = constant <f32: 0.0> : tile<32x256xf32>
  %q, %t0 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(32x128), tensor_view<1024x128xf16, strides=[128,1]>>, tile<i32> -> tile<32x128xf16>, token
  %row, %t3 = load_view_tko weak %td[%i] : partition_view<tile=(32), tensor_view<1024xf32, strides=[1]>>, tile<i32> -> tile<32xf32>, token
  %col = reshape %row : tile<32xf32> -> tile<32x1xf32>
  %all = broadcast %col : tile<32x1xf32> -> tile<32x256xf32>
  %sum = for %k in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<32x128xf32>) {
    %r, %t1 = load_view_tko weak %tb[%k, %c0] : partition_view<tile=(256x128), tensor_view<1024x128xf16, strides=[128,1]>>, tile<i32> -> tile<256x128xf16>, token
    %rt = permute %r [1, 0] : tile<256x128xf16> -> tile<128x256xf16>
    %s = mmaf %q, %rt, %none : tile<32x128xf16>, tile<128x256xf16>, tile<32x256xf32>
    %diff = subf %s, %all rounding<nearest_even> : tile<32x256xf32>
    %p = ftof %diff rounding<nearest_even> : tile<32x256xf32> -> tile<32x256xf16>
    %o = mmaf %p, %r, %acc : tile<32x256xf16>, tile<256x128xf16>, tile<32x128xf32>
    continue %o : tile<32x128xf32>
  }
  %t2 = store_view_tko weak %sum, %tc[%i, %c0] : tile<32x128xf32>, partition_view<tile=(32x128), tensor_view<1024x128xf32, strides=[128,1]>>, tile<i32> -> token
  return
}
