// Attention backward: exponentials of the first matmul's result are computed while the second one runs, although they are asked for only
// where its result is, too.
// run: compile --gpu-name sm_90a
// show: wgmma.wait_group | ex2
entry @main(%q: tile<ptr<f16>>, %g: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %o: tile<ptr<f32>>, %n: tile<i32>) {
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %q16 = assume div_by<16>, %q : tile<ptr<f16>>
  %qt = make_tensor_view %q16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %qp = make_partition_view %qt : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %g16 = assume div_by<16>, %g : tile<ptr<f16>>
  %gt = make_tensor_view %g16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf16, strides=[64,1]>
  %gp = make_partition_view %gt : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>
  %k16 = assume div_by<16>, %k : tile<ptr<f16>>
  %kt = make_tensor_view %k16, shape = [512, 64], strides = [64, 1] : tensor_view<512x64xf16, strides=[64,1]>
  %kp = make_partition_view %kt : partition_view<tile=(64x64), tensor_view<512x64xf16, strides=[64,1]>>
  %v16 = assume div_by<16>, %v : tile<ptr<f16>>
  %vt = make_tensor_view %v16, shape = [512, 64], strides = [64, 1] : tensor_view<512x64xf16, strides=[64,1]>
  %vp = make_partition_view %vt : partition_view<tile=(64x64), tensor_view<512x64xf16, strides=[64,1]>>
  %o16 = assume div_by<16>, %o : tile<ptr<f32>>
  %ot = make_tensor_view %o16, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %op = make_partition_view %ot : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %zero = constant <f32: 0.0> : tile<64x64xf32>
  %qt1, %tqt1 = load_view_tko weak %qp[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %gt1, %tgt1 = load_view_tko weak %gp[%0, %0] : partition_view<tile=(64x64), tensor_view<64x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %sum = for %j in (%0 to %n, step %1) : tile<i32> iter_values(%acc = %zero) -> (tile<64x64xf32>) {
    %kt1, %tkt1 = load_view_tko weak %kp[%j, %0] : partition_view<tile=(64x64), tensor_view<512x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %vt1, %tvt1 = load_view_tko weak %vp[%j, %0] : partition_view<tile=(64x64), tensor_view<512x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %kx = permute %kt1 [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %vx = permute %vt1 [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %s = mmaf %qt1, %kx, %zero : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %d = mmaf %gt1, %vx, %zero : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %p = exp2 %s : tile<64x64xf32>
    %ds = mulf %p, %d : tile<64x64xf32>
    %dn = ftof %ds : tile<64x64xf32> -> tile<64x64xf16>
    %next = mmaf %dn, %kt1, %acc : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %next : tile<64x64xf32>
  }
  %t9 = store_view_tko weak %sum, %op[%0, %0] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
