// A product that is transposed and added up in a loop, and stored through pointers behind it: the sum lies as the matmul makes
// it, and is converted once, so that the stores are as wide as the pointers admit.
// run: compile --emit nv_tileas --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_100a
// show: "cuda_tile.for" | permute | convert_layout | "cuda_tile.continue" | nv_tileas.store
// run: compile --gpu-name sm_100a
// show: .entry | st.global
entry @k(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<bf16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [128, 512], strides = [512, 1] : tensor_view<128x512xf16, strides=[512,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<128x512xf16, strides=[512,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [512, 32], strides = [32, 1] : tensor_view<512x32xf16, strides=[32,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x32), tensor_view<512x32xf16, strides=[32,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<bf16>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 8> : tile<i32>
  %none = constant <f32: 0.0> : tile<128x32xf32>
  %zero = constant <f32: 0.0> : tile<32x128xf32>
  %half = constant <f32: 0.5> : tile<32x128xf32>
  %sum = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<32x128xf32>) {
    %x, %t1 = load_view_tko weak %ta[%c0, %i] : partition_view<tile=(128x64), tensor_view<128x512xf16, strides=[512,1]>>, tile<i32> -> tile<128x64xf16>, token
    %y, %t2 = load_view_tko weak %tb[%i, %c0] : partition_view<tile=(64x32), tensor_view<512x32xf16, strides=[32,1]>>, tile<i32> -> tile<64x32xf16>, token
    %s = mmaf %x, %y, %none : tile<128x64xf16>, tile<64x32xf16>, tile<128x32xf32>
    %t = permute %s [1, 0] : tile<128x32xf32> -> tile<32x128xf32>
    %o = fma %t, %half, %acc rounding<nearest_even> : tile<32x128xf32>
    continue %o : tile<32x128xf32>
  }
  %h = ftof %sum rounding<nearest_even> : tile<32x128xf32> -> tile<32x128xbf16>
  %places = iota : tile<4096xi32>
  %rows = reshape %places : tile<4096xi32> -> tile<32x128xi32>
  %one = reshape %pc : tile<ptr<bf16>> -> tile<1x1xptr<bf16>>
  %all = broadcast %one : tile<1x1xptr<bf16>> -> tile<32x128xptr<bf16>>
  %to = offset %all, %rows : tile<32x128xptr<bf16>>, tile<32x128xi32> -> tile<32x128xptr<bf16>>
  %t3 = store_ptr_tko weak %to, %h : tile<32x128xptr<bf16>>, tile<32x128xbf16> -> token
  return
}
