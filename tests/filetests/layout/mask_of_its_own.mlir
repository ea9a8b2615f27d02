// Accesses through pointers that share a mask, or the pointers, with what a matmul makes are wide all the same: the mask is made
// twice, and what is loaded, or stored, is converted.
// run: compile --gpu-name sm_80
// run: compile --gpu-name sm_90a
// show: .entry | ld.global | st.global
entry @selected(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf16, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<64x128xf16, strides=[128,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %l, %t0 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(128x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %r, %t1 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(64x128), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
  %p = mmaf %l, %r, %zero : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
  %numbers = iota : tile<128xi32>
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %ns = broadcast %n1 : tile<1xi32> -> tile<128xi32>
  %in = cmpi less_than %numbers, %ns, signed : tile<128xi32> -> tile<128xi1>
  %in1 = reshape %in : tile<128xi1> -> tile<128x1xi1>
  %ok = broadcast %in1 : tile<128x1xi1> -> tile<128x128xi1>
  %s = select %ok, %p, %zero : tile<128x128xi1>, tile<128x128xf32>
  %h = ftof %s rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
  %places = iota : tile<16384xi32>
  %rows = reshape %places : tile<16384xi32> -> tile<128x128xi32>
  %c1 = reshape %pc : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %cs = broadcast %c1 : tile<1x1xptr<f16>> -> tile<128x128xptr<f16>>
  %to = offset %cs, %rows : tile<128x128xptr<f16>>, tile<128x128xi32> -> tile<128x128xptr<f16>>
  %t2 = store_ptr_tko weak %to, %h, %ok : tile<128x128xptr<f16>>, tile<128x128xf16>, tile<128x128xi1> -> token
  return
}
entry @added(%a: tile<ptr<f16>>, %b: tile<ptr<f16>>, %c: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %va = make_tensor_view %pa, shape = [1024, 64], strides = [64, 1] : tensor_view<1024x64xf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(128x64), tensor_view<1024x64xf16, strides=[64,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<f16>>
  %vb = make_tensor_view %pb, shape = [64, 128], strides = [128, 1] : tensor_view<64x128xf16, strides=[128,1]>
  %tb = make_partition_view %vb : partition_view<tile=(64x128), tensor_view<64x128xf16, strides=[128,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %c0 = constant <i32: 0> : tile<i32>
  %zero = constant <f32: 0.0> : tile<128x128xf32>
  %l, %t0 = load_view_tko weak %ta[%c0, %c0] : partition_view<tile=(128x64), tensor_view<1024x64xf16, strides=[64,1]>>, tile<i32> -> tile<128x64xf16>, token
  %r, %t1 = load_view_tko weak %tb[%c0, %c0] : partition_view<tile=(64x128), tensor_view<64x128xf16, strides=[128,1]>>, tile<i32> -> tile<64x128xf16>, token
  %p = mmaf %l, %r, %zero : tile<128x64xf16>, tile<64x128xf16>, tile<128x128xf32>
  %places = iota : tile<16384xi32>
  %rows = reshape %places : tile<16384xi32> -> tile<128x128xi32>
  %c1 = reshape %pc : tile<ptr<f16>> -> tile<1x1xptr<f16>>
  %cs = broadcast %c1 : tile<1x1xptr<f16>> -> tile<128x128xptr<f16>>
  %at = offset %cs, %rows : tile<128x128xptr<f16>>, tile<128x128xi32> -> tile<128x128xptr<f16>>
  %x, %t2 = load_ptr_tko weak %at : tile<128x128xptr<f16>> -> tile<128x128xf16>, token
  %y = ftof %x : tile<128x128xf16> -> tile<128x128xf32>
  %s = addf %p, %y rounding<nearest_even> : tile<128x128xf32>
  %h = ftof %s rounding<nearest_even> : tile<128x128xf32> -> tile<128x128xf16>
  %t3 = store_ptr_tko weak %at, %h token=%t2 : tile<128x128xptr<f16>>, tile<128x128xf16> -> token
  return
}
