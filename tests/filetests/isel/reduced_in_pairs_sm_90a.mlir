// The two f16 of a register are combined with those of another register at once, and with each other last.
// run: compile --gpu-name sm_90a
// show: max | mov.b32
entry @main(%in: tile<ptr<f16>>, %out: tile<ptr<f16>>) {
  %0 = constant <i32: 0> : tile<i32>
  %aligned = assume div_by<16>, %in : tile<ptr<f16>>
  %it = make_tensor_view %aligned, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %ip = make_partition_view %it : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %ot = make_tensor_view %out, shape = [64], strides = [1] : tensor_view<64xf16, strides=[1]>
  %op = make_partition_view %ot : partition_view<tile=(64), tensor_view<64xf16, strides=[1]>>
  %x, %t0 = load_view_tko weak %ip[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %max = reduce %x dim=1 identities=[0xfc00 : f16] : tile<64x64xf16> -> tile<64xf16>
  (%a: tile<f16>, %b: tile<f16>) {
    %m = maxf %a, %b : tile<f16>
    yield %m : tile<f16>
  }
  %t1 = store_view_tko weak %max, %op[%0] : tile<64xf16>, partition_view<tile=(64), tensor_view<64xf16, strides=[1]>>, tile<i32> -> token
  return
}
