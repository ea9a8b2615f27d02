// Fragments are read just before the matmuls that use them. In the loop of the larger attention more registers are live than
// a thread has: when they are read is left to ptxas, which spills fewer registers then.
// run: explain --gpu-name sm_80
// show: passes on | late-fragments
entry @small(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %o: tile<ptr<f16>>, %n: tile<i32>) {
  %pq = assume div_by<16>, %q : tile<ptr<f16>>
  %vq = make_tensor_view %pq, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tq = make_partition_view %vq : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %pk = assume div_by<16>, %k : tile<ptr<f16>>
  %vk = make_tensor_view %pk, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tk = make_partition_view %vk : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %pv = assume div_by<16>, %v : tile<ptr<f16>>
  %vv = make_tensor_view %pv, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %tv = make_partition_view %vv : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f16>>
  %vo = make_tensor_view %po, shape = [4096, 64], strides = [64, 1] : tensor_view<4096x64xf16, strides=[64,1]>
  %to = make_partition_view %vo : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zs = constant <f32: 0.0> : tile<64x64xf32>
  %zo = constant <f32: 0.0> : tile<64x64xf32>
  %zr = constant <f32: 0.0> : tile<64x1xf32>
  %x, %e0 = load_view_tko weak %tq[%i, %c0] : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
  %r:3 = for %b in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zo, %most = %zr, %sum = %zr) -> (tile<64x64xf32>, tile<64x1xf32>, tile<64x1xf32>) {
    %y, %e1 = load_view_tko weak %tk[%b, %c0] : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %w = permute %y [1, 0] : tile<64x64xf16> -> tile<64x64xf16>
    %s = mmaf %x, %w, %zs : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    %h = reduce %s dim=1 identities=[0xFF800000 : f32] : tile<64x64xf32> -> tile<64xf32>
    (%a0: tile<f32>, %a1: tile<f32>) {
      %a2 = maxf %a0, %a1 : tile<f32>
      yield %a2 : tile<f32>
    }
    %hr = reshape %h : tile<64xf32> -> tile<64x1xf32>
    %m = maxf %most, %hr : tile<64x1xf32>
    %mb = broadcast %m : tile<64x1xf32> -> tile<64x64xf32>
    %d = subf %s, %mb rounding<nearest_even> : tile<64x64xf32>
    %p = exp2 %d : tile<64x64xf32>
    %g = reduce %p dim=1 identities=[0.0 : f32] : tile<64x64xf32> -> tile<64xf32>
    (%b0: tile<f32>, %b1: tile<f32>) {
      %b2 = addf %b0, %b1 : tile<f32>
      yield %b2 : tile<f32>
    }
    %gr = reshape %g : tile<64xf32> -> tile<64x1xf32>
    %t = subf %most, %m rounding<nearest_even> : tile<64x1xf32>
    %al = exp2 %t : tile<64x1xf32>
    %l = fma %sum, %al, %gr : tile<64x1xf32>
    %ab = broadcast %al : tile<64x1xf32> -> tile<64x64xf32>
    %ac = mulf %acc, %ab : tile<64x64xf32>
    %ph = ftof %p : tile<64x64xf32> -> tile<64x64xf16>
    %u, %e2 = load_view_tko weak %tv[%b, %c0] : partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> tile<64x64xf16>, token
    %f = mmaf %ph, %u, %ac : tile<64x64xf16>, tile<64x64xf16>, tile<64x64xf32>
    continue %f, %m, %l : tile<64x64xf32>, tile<64x1xf32>, tile<64x1xf32>
  }
  %lb = broadcast %r#2 : tile<64x1xf32> -> tile<64x64xf32>
  %q1 = divf %r#0, %lb rounding<approx> : tile<64x64xf32>
  %q2 = ftof %q1 : tile<64x64xf32> -> tile<64x64xf16>
  %e3 = store_view_tko weak %q2, %to[%i, %c0] : tile<64x64xf16>, partition_view<tile=(64x64), tensor_view<4096x64xf16, strides=[64,1]>>, tile<i32> -> token
  return
}
entry @large(%q: tile<ptr<f16>>, %k: tile<ptr<f16>>, %v: tile<ptr<f16>>, %o: tile<ptr<f16>>, %n: tile<i32>) {
  %pq = assume div_by<16>, %q : tile<ptr<f16>>
  %vq = make_tensor_view %pq, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf16, strides=[256,1]>
  %tq = make_partition_view %vq : partition_view<tile=(128x256), tensor_view<4096x256xf16, strides=[256,1]>>
  %pk = assume div_by<16>, %k : tile<ptr<f16>>
  %vk = make_tensor_view %pk, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf16, strides=[256,1]>
  %tk = make_partition_view %vk : partition_view<tile=(64x256), tensor_view<4096x256xf16, strides=[256,1]>>
  %pv = assume div_by<16>, %v : tile<ptr<f16>>
  %vv = make_tensor_view %pv, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf16, strides=[256,1]>
  %tv = make_partition_view %vv : partition_view<tile=(64x256), tensor_view<4096x256xf16, strides=[256,1]>>
  %po = assume div_by<16>, %o : tile<ptr<f16>>
  %vo = make_tensor_view %po, shape = [4096, 256], strides = [256, 1] : tensor_view<4096x256xf16, strides=[256,1]>
  %to = make_partition_view %vo : partition_view<tile=(128x256), tensor_view<4096x256xf16, strides=[256,1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %zs = constant <f32: 0.0> : tile<128x64xf32>
  %zo = constant <f32: 0.0> : tile<128x256xf32>
  %zr = constant <f32: 0.0> : tile<128x1xf32>
  %x, %e0 = load_view_tko weak %tq[%i, %c0] : partition_view<tile=(128x256), tensor_view<4096x256xf16, strides=[256,1]>>, tile<i32> -> tile<128x256xf16>, token
  %r:3 = for %b in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zo, %most = %zr, %sum = %zr) -> (tile<128x256xf32>, tile<128x1xf32>, tile<128x1xf32>) {
    %y, %e1 = load_view_tko weak %tk[%b, %c0] : partition_view<tile=(64x256), tensor_view<4096x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x256xf16>, token
    %w = permute %y [1, 0] : tile<64x256xf16> -> tile<256x64xf16>
    %s = mmaf %x, %w, %zs : tile<128x256xf16>, tile<256x64xf16>, tile<128x64xf32>
    %h = reduce %s dim=1 identities=[0xFF800000 : f32] : tile<128x64xf32> -> tile<128xf32>
    (%a0: tile<f32>, %a1: tile<f32>) {
      %a2 = maxf %a0, %a1 : tile<f32>
      yield %a2 : tile<f32>
    }
    %hr = reshape %h : tile<128xf32> -> tile<128x1xf32>
    %m = maxf %most, %hr : tile<128x1xf32>
    %mb = broadcast %m : tile<128x1xf32> -> tile<128x64xf32>
    %d = subf %s, %mb rounding<nearest_even> : tile<128x64xf32>
    %p = exp2 %d : tile<128x64xf32>
    %g = reduce %p dim=1 identities=[0.0 : f32] : tile<128x64xf32> -> tile<128xf32>
    (%b0: tile<f32>, %b1: tile<f32>) {
      %b2 = addf %b0, %b1 : tile<f32>
      yield %b2 : tile<f32>
    }
    %gr = reshape %g : tile<128xf32> -> tile<128x1xf32>
    %t = subf %most, %m rounding<nearest_even> : tile<128x1xf32>
    %al = exp2 %t : tile<128x1xf32>
    %l = fma %sum, %al, %gr : tile<128x1xf32>
    %ab = broadcast %al : tile<128x1xf32> -> tile<128x256xf32>
    %ac = mulf %acc, %ab : tile<128x256xf32>
    %ph = ftof %p : tile<128x64xf32> -> tile<128x64xf16>
    %u, %e2 = load_view_tko weak %tv[%b, %c0] : partition_view<tile=(64x256), tensor_view<4096x256xf16, strides=[256,1]>>, tile<i32> -> tile<64x256xf16>, token
    %f = mmaf %ph, %u, %ac : tile<128x64xf16>, tile<64x256xf16>, tile<128x256xf32>
    continue %f, %m, %l : tile<128x256xf32>, tile<128x1xf32>, tile<128x1xf32>
  }
  %lb = broadcast %r#2 : tile<128x1xf32> -> tile<128x256xf32>
  %q1 = divf %r#0, %lb rounding<approx> : tile<128x256xf32>
  %q2 = ftof %q1 : tile<128x256xf32> -> tile<128x256xf16>
  %e3 = store_view_tko weak %q2, %to[%i, %c0] : tile<128x256xf16>, partition_view<tile=(128x256), tensor_view<4096x256xf16, strides=[256,1]>>, tile<i32> -> token
  return
}
