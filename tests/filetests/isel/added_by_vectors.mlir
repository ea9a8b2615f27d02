// Sums in memory are added to by vectors: a thread's neighbouring elements, where no mask stands between them. Two halves are
// one on every target, others from sm_90 on.
// run: compile --gpu-name sm_80
// run: compile --gpu-name sm_90a
// show: atom. | red. | .entry
entry @f32(%a: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %at = iota : tile<1024xi32>
  %a1 = reshape %pa : tile<ptr<f32>> -> tile<1xptr<f32>>
  %a2 = broadcast %a1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %p = offset %a2, %at : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %one = constant <f32: 1.0> : tile<1024xf32>
  %old, %t0 = atomic_rmw_tko acq_rel device %p, addf, %one : tile<1024xptr<f32>>, tile<1024xf32> -> tile<1024xf32>, token
  return
}
entry @unaligned(%a: tile<ptr<f32>>) {
  %at = iota : tile<1024xi32>
  %a1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
  %a2 = broadcast %a1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
  %p = offset %a2, %at : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
  %one = constant <f32: 1.0> : tile<1024xf32>
  %old, %t0 = atomic_rmw_tko relaxed device %p, addf, %one : tile<1024xptr<f32>>, tile<1024xf32> -> tile<1024xf32>, token
  return
}
entry @f16(%a: tile<ptr<f16>>, %n: tile<i32>) {
  %pa = assume div_by<16>, %a : tile<ptr<f16>>
  %pn = assume div_by<4>, %n : tile<i32>
  %at = iota : tile<1024xi32>
  %a1 = reshape %pa : tile<ptr<f16>> -> tile<1xptr<f16>>
  %a2 = broadcast %a1 : tile<1xptr<f16>> -> tile<1024xptr<f16>>
  %p = offset %a2, %at : tile<1024xptr<f16>>, tile<1024xi32> -> tile<1024xptr<f16>>
  %n1 = reshape %pn : tile<i32> -> tile<1xi32>
  %n2 = broadcast %n1 : tile<1xi32> -> tile<1024xi32>
  %mask = cmpi less_than %at, %n2, signed : tile<1024xi32> -> tile<1024xi1>
  %one = constant <f16: 1.0> : tile<1024xf16>
  %old, %t0 = atomic_rmw_tko relaxed device %p, addf, %one, %mask : tile<1024xptr<f16>>, tile<1024xf16>, tile<1024xi1> -> tile<1024xf16>, token
  return
}
entry @bf16(%a: tile<ptr<bf16>>) {
  %pa = assume div_by<16>, %a : tile<ptr<bf16>>
  %va = make_tensor_view %pa, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xbf16, strides=[64,1]>
  %ta = make_partition_view %va : partition_view<tile=(64x64), tensor_view<64x64xbf16, strides=[64,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %one = constant <bf16: 1.0> : tile<64x64xbf16>
  %t0 = atomic_red_view_tko relaxed device %ta[%c0, %c0], addf, %one : tile<64x64xbf16>, partition_view<tile=(64x64), tensor_view<64x64xbf16, strides=[64,1]>>, tile<i32> -> token
  return
}
