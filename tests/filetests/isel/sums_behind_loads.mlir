// Partial sums of the warps are added up where they are used, behind the loads that stand in between, for `ptxas` orders these by
// itself. Past a barrier, which it does not cross, they would move.
// run: compile --emit nvvm --gpu-name sm_100a
// show: nvvm.for | nvvm.bar | "nvvm.ld" | "nvvm.st" | nvvm.fadd | nvvm.continue
entry @k(%a: tile<ptr<bf16>>, %b: tile<ptr<bf16>>, %w: tile<ptr<bf16>>, %c: tile<ptr<bf16>>, %d: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<bf16>>
  %va = make_tensor_view %pa, shape = [4096, 4096], strides = [4096, 1] : tensor_view<4096x4096xbf16, strides=[4096,1]>
  %ta = make_partition_view %va : partition_view<tile=(4x4096), tensor_view<4096x4096xbf16, strides=[4096,1]>>
  %pb = assume div_by<16>, %b : tile<ptr<bf16>>
  %vb = make_tensor_view %pb, shape = [4096, 4096], strides = [4096, 1] : tensor_view<4096x4096xbf16, strides=[4096,1]>
  %tb = make_partition_view %vb : partition_view<tile=(4x4096), tensor_view<4096x4096xbf16, strides=[4096,1]>>
  %pc = assume div_by<16>, %c : tile<ptr<bf16>>
  %vc = make_tensor_view %pc, shape = [4096, 4096], strides = [4096, 1] : tensor_view<4096x4096xbf16, strides=[4096,1]>
  %tc = make_partition_view %vc : partition_view<tile=(4x4096), tensor_view<4096x4096xbf16, strides=[4096,1]>>
  %pw = assume div_by<16>, %w : tile<ptr<bf16>>
  %vw = make_tensor_view %pw, shape = [1, 4096], strides = [4096, 1] : tensor_view<1x4096xbf16, strides=[4096,1]>
  %tw = make_partition_view %vw : partition_view<tile=(1x4096), tensor_view<1x4096xbf16, strides=[4096,1]>>
  %pd = assume div_by<16>, %d : tile<ptr<f32>>
  %vd = make_tensor_view %pd, shape = [1, 4096], strides = [4096, 1] : tensor_view<1x4096xf32, strides=[4096,1]>
  %td = make_partition_view %vd : partition_view<tile=(1x4096), tensor_view<1x4096xf32, strides=[4096,1]>>
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 1024> : tile<i32>
  %zero = constant <f32: 0.0> : tile<1x4096xf32>
  %g, %k1 = load_view_tko weak %tw[%c0, %c0] : partition_view<tile=(1x4096), tensor_view<1x4096xbf16, strides=[4096,1]>>, tile<i32> -> tile<1x4096xbf16>, token
  %gf = ftof %g : tile<1x4096xbf16> -> tile<1x4096xf32>
  %gw = broadcast %gf : tile<1x4096xf32> -> tile<4x4096xf32>
  %sum = for %i in (%c0 to %n, step %c1) : tile<i32> iter_values(%acc = %zero) -> (tile<1x4096xf32>) {
    %x, %k2 = load_view_tko weak %ta[%i, %c0] : partition_view<tile=(4x4096), tensor_view<4096x4096xbf16, strides=[4096,1]>>, tile<i32> -> tile<4x4096xbf16>, token
    %y, %k3 = load_view_tko weak %tb[%i, %c0] : partition_view<tile=(4x4096), tensor_view<4096x4096xbf16, strides=[4096,1]>>, tile<i32> -> tile<4x4096xbf16>, token
    %xf = ftof %x : tile<4x4096xbf16> -> tile<4x4096xf32>
    %yf = ftof %y : tile<4x4096xbf16> -> tile<4x4096xf32>
    %yw = mulf %yf, %gw : tile<4x4096xf32>
    %p = mulf %xf, %yw : tile<4x4096xf32>
    %s = reduce %p dim=1 identities=[0.0 : f32] : tile<4x4096xf32> -> tile<4xf32>
    (%e: tile<f32>, %f: tile<f32>) {
      %q = addf %e, %f : tile<f32>
      yield %q : tile<f32>
    }
    %rows = reshape %s : tile<4xf32> -> tile<4x1xf32>
    %all = broadcast %rows : tile<4x1xf32> -> tile<4x4096xf32>
    %r = mulf %xf, %all : tile<4x4096xf32>
    %u = subf %yw, %r : tile<4x4096xf32>
    %h = ftof %u : tile<4x4096xf32> -> tile<4x4096xbf16>
    %k4 = store_view_tko weak %h, %tc[%i, %c0] : tile<4x4096xbf16>, partition_view<tile=(4x4096), tensor_view<4096x4096xbf16, strides=[4096,1]>>, tile<i32> -> token
    %xy = mulf %xf, %yf : tile<4x4096xf32>
    %col = reduce %xy dim=0 identities=[0.0 : f32] : tile<4x4096xf32> -> tile<4096xf32>
    (%e: tile<f32>, %f: tile<f32>) {
      %q = addf %e, %f : tile<f32>
      yield %q : tile<f32>
    }
    %row = reshape %col : tile<4096xf32> -> tile<1x4096xf32>
    %next = addf %acc, %row : tile<1x4096xf32>
    continue %next : tile<1x4096xf32>
  }
  %k5 = store_view_tko weak %sum, %td[%c0, %c0] : tile<1x4096xf32>, partition_view<tile=(1x4096), tensor_view<1x4096xf32, strides=[4096,1]>>, tile<i32> -> token
  return
}
