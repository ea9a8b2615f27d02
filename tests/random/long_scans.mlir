// Not a finding: scans of rows over all warps, forwards and backwards, of numbers of 16, 32 and 64 bits and of pairs; the largest
// of a whole tile; a tile stored with its outer dimensions exchanged.
// grid: 1,1,1
// arg: buffer i32 8192 whole -9 9 seed 1
// arg: buffer i32 32768 whole 0 0 seed 0
// arg: buffer f32 8192 whole -9 9 seed 2
// arg: buffer f32 32768 whole 0 0 seed 0
entry @main(%p: tile<ptr<i32>>, %o: tile<ptr<i32>>, %u: tile<ptr<f32>>, %v: tile<ptr<f32>>) {
  %at = constant <i32: 6144> : tile<i32>
  %0 = constant <i32: 0> : tile<i32>
  %1 = constant <i32: 1> : tile<i32>
  %2 = constant <i32: 2> : tile<i32>
  %3 = constant <i32: 3> : tile<i32>
  %it = make_tensor_view %p, shape = [8192], strides = [1] : tensor_view<8192xi32, strides=[1]>
  %iv = make_partition_view %it : partition_view<tile=(8192), tensor_view<8192xi32, strides=[1]>>
  %jt = make_tensor_view %o, shape = [32768], strides = [1] : tensor_view<32768xi32, strides=[1]>
  %jv = make_partition_view %jt : partition_view<tile=(8192), tensor_view<32768xi32, strides=[1]>>
  %ft = make_tensor_view %u, shape = [4, 2048], strides = [2048, 1] : tensor_view<4x2048xf32, strides=[2048,1]>
  %fv = make_partition_view %ft : partition_view<tile=(4x2048), tensor_view<4x2048xf32, strides=[2048,1]>>
  %gt = make_tensor_view %v, shape = [16, 2048], strides = [2048, 1] : tensor_view<16x2048xf32, strides=[2048,1]>
  %gv = make_partition_view %gt : partition_view<tile=(4x2048), tensor_view<16x2048xf32, strides=[2048,1]>>
  %ht = make_tensor_view %u, shape = [8, 16, 64], strides = [1024, 64, 1] : tensor_view<8x16x64xf32, strides=[1024,64,1]>
  %hv = make_partition_view %ht : partition_view<tile=(8x16x64), tensor_view<8x16x64xf32, strides=[1024,64,1]>>
  %lt = make_tensor_view %v, shape = [64, 8, 64], strides = [512, 64, 1] : tensor_view<64x8x64xf32, strides=[512,64,1]>
  %lv = make_partition_view %lt : partition_view<tile=(16x8x64), tensor_view<64x8x64xf32, strides=[512,64,1]>>
  %st = make_tensor_view %v, shape = [32768], strides = [1] : tensor_view<32768xf32, strides=[1]>
  %sv = make_partition_view %st : partition_view<tile=(4), tensor_view<32768xf32, strides=[1]>>
  %x, %ta = load_view_tko weak %iv[%0] : partition_view<tile=(8192), tensor_view<8192xi32, strides=[1]>>, tile<i32> -> tile<8192xi32>, token
  %x1 = scan %x dim=0 reverse=false identities=[0 : i32] : tile<8192xi32> -> tile<8192xi32>
  (%a: tile<i32>, %b: tile<i32>) {
    %c = addi %a, %b : tile<i32>
    yield %c : tile<i32>
  }
  %tb = store_view_tko weak %x1, %jv[%0] : tile<8192xi32>, partition_view<tile=(8192), tensor_view<32768xi32, strides=[1]>>, tile<i32> -> token
  %x2 = scan %x dim=0 reverse=true identities=[-2147483648 : i32] : tile<8192xi32> -> tile<8192xi32>
  (%a: tile<i32>, %b: tile<i32>) {
    %c = maxi %a, %b signed : tile<i32>
    yield %c : tile<i32>
  }
  %tc = store_view_tko weak %x2, %jv[%1] : tile<8192xi32>, partition_view<tile=(8192), tensor_view<32768xi32, strides=[1]>>, tile<i32> -> token
  %y = exti %x signed : tile<8192xi32> -> tile<8192xi64>
  %y1 = scan %y dim=0 reverse=true identities=[0 : i64] : tile<8192xi64> -> tile<8192xi64>
  (%a: tile<i64>, %b: tile<i64>) {
    %c = addi %a, %b : tile<i64>
    yield %c : tile<i64>
  }
  %y2 = trunci %y1 : tile<8192xi64> -> tile<8192xi32>
  %td = store_view_tko weak %y2, %jv[%2] : tile<8192xi32>, partition_view<tile=(8192), tensor_view<32768xi32, strides=[1]>>, tile<i32> -> token
  %z = trunci %x : tile<8192xi32> -> tile<8192xi16>
  %z1 = scan %z dim=0 reverse=false identities=[0 : i16] : tile<8192xi16> -> tile<8192xi16>
  (%a: tile<i16>, %b: tile<i16>) {
    %c = addi %a, %b : tile<i16>
    yield %c : tile<i16>
  }
  %z2 = exti %z1 signed : tile<8192xi16> -> tile<8192xi32>
  %n = iota : tile<8192xi32>
  %k1, %k2 = scan %x, %n dim=0 reverse=false identities=[-2147483648 : i32, 0 : i32] : tile<8192xi32>, tile<8192xi32> -> tile<8192xi32>, tile<8192xi32>
  (%a: tile<i32>, %b: tile<i32>, %c: tile<i32>, %d: tile<i32>) {
    %g = cmpi greater_than %a, %b, signed : tile<i32> -> tile<i1>
    %m = select %g, %a, %b : tile<i1>, tile<i32>
    %q = select %g, %c, %d : tile<i1>, tile<i32>
    yield %m, %q : tile<i32>, tile<i32>
  }
  %k3 = addi %k2, %z2 : tile<8192xi32>
  %te = store_view_tko weak %k3, %jv[%3] : tile<8192xi32>, partition_view<tile=(8192), tensor_view<32768xi32, strides=[1]>>, tile<i32> -> token
  %r, %tf = load_view_tko weak %fv[%0, %0] : partition_view<tile=(4x2048), tensor_view<4x2048xf32, strides=[2048,1]>>, tile<i32> -> tile<4x2048xf32>, token
  %r1 = scan %r dim=1 reverse=false identities=[0.0 : f32] : tile<4x2048xf32> -> tile<4x2048xf32>
  (%a: tile<f32>, %b: tile<f32>) {
    %c = addf %a, %b : tile<f32>
    yield %c : tile<f32>
  }
  %tg = store_view_tko weak %r1, %gv[%0, %0] : tile<4x2048xf32>, partition_view<tile=(4x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %e = reduce %r dim=0 identities=[0xFF800000 : f32] : tile<4x2048xf32> -> tile<2048xf32>
  (%a: tile<f32>, %b: tile<f32>) {
    %c = maxf %a, %b : tile<f32>
    yield %c : tile<f32>
  }
  %e1 = reduce %e dim=0 identities=[0xFF800000 : f32] : tile<2048xf32> -> tile<f32>
  (%a: tile<f32>, %b: tile<f32>) {
    %c = maxf %a, %b : tile<f32>
    yield %c : tile<f32>
  }
  %e2 = reshape %e1 : tile<f32> -> tile<1x1xf32>
  %e3 = broadcast %e2 : tile<1x1xf32> -> tile<4x2048xf32>
  %e4 = subf %r, %e3 : tile<4x2048xf32>
  %th = store_view_tko weak %e4, %gv[%1, %0] : tile<4x2048xf32>, partition_view<tile=(4x2048), tensor_view<16x2048xf32, strides=[2048,1]>>, tile<i32> -> token
  %w, %ti = load_view_tko weak %hv[%0, %0, %0] : partition_view<tile=(8x16x64), tensor_view<8x16x64xf32, strides=[1024,64,1]>>, tile<i32> -> tile<8x16x64xf32>, token
  %w1 = permute %w [1, 0, 2] : tile<8x16x64xf32> -> tile<16x8x64xf32>
  %tj = store_view_tko weak %w1, %lv[%2, %0, %0] : tile<16x8x64xf32>, partition_view<tile=(16x8x64), tensor_view<64x8x64xf32, strides=[512,64,1]>>, tile<i32> -> token
  %q1 = reduce %r dim=1 identities=[0.0 : f32] : tile<4x2048xf32> -> tile<4xf32>
  (%a: tile<f32>, %b: tile<f32>) {
    %c = addf %a, %b : tile<f32>
    yield %c : tile<f32>
  }
  %tk = store_view_tko weak %q1, %sv[%at] : tile<4xf32>, partition_view<tile=(4), tensor_view<32768xf32, strides=[1]>>, tile<i32> -> token
  return
}
