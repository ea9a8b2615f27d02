// Floats of four bits become the exponent and fraction of f16 and bf16, two at a time, and one multiplication moves the exponent.
// run: compile --gpu-name sm_90a
// show: prmt | shl | and. | or. | lop3 | fma | mul | cvt | .entry
entry @f16(%a: tile<ptr<i8>>, %c: tile<ptr<f16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<i8>>
  %va = make_tensor_view %pa, shape = [512], strides = [1] : tensor_view<512xi8, strides=[1]>
  %ta = make_partition_view %va : partition_view<tile=(512), tensor_view<512xi8, strides=[1]>>
  %pc = assume div_by<16>, %c : tile<ptr<f16>>
  %vc = make_tensor_view %pc, shape = [1024], strides = [1] : tensor_view<1024xf16, strides=[1]>
  %tc = make_partition_view %vc : partition_view<tile=(1024), tensor_view<1024xf16, strides=[1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %l, %t0 = load_view_tko weak %ta[%c0] : partition_view<tile=(512), tensor_view<512xi8, strides=[1]>>, tile<i32> -> tile<512xi8>, token
  %x = unpack %l : tile<512xi8> -> tile<1024xf4E2M1FN>
  %y = ftof %x : tile<1024xf4E2M1FN> -> tile<1024xf16>
  %t1 = store_view_tko weak %y, %tc[%c0] : tile<1024xf16>, partition_view<tile=(1024), tensor_view<1024xf16, strides=[1]>>, tile<i32> -> token
  return
}
entry @bf16(%a: tile<ptr<i8>>, %c: tile<ptr<bf16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<i8>>
  %va = make_tensor_view %pa, shape = [512], strides = [1] : tensor_view<512xi8, strides=[1]>
  %ta = make_partition_view %va : partition_view<tile=(512), tensor_view<512xi8, strides=[1]>>
  %pc = assume div_by<16>, %c : tile<ptr<bf16>>
  %vc = make_tensor_view %pc, shape = [1024], strides = [1] : tensor_view<1024xbf16, strides=[1]>
  %tc = make_partition_view %vc : partition_view<tile=(1024), tensor_view<1024xbf16, strides=[1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %l, %t0 = load_view_tko weak %ta[%c0] : partition_view<tile=(512), tensor_view<512xi8, strides=[1]>>, tile<i32> -> tile<512xi8>, token
  %x = unpack %l : tile<512xi8> -> tile<1024xf4E2M1FN>
  %y = ftof %x : tile<1024xf4E2M1FN> -> tile<1024xbf16>
  %t1 = store_view_tko weak %y, %tc[%c0] : tile<1024xbf16>, partition_view<tile=(1024), tensor_view<1024xbf16, strides=[1]>>, tile<i32> -> token
  return
}
