// Rows that are only reduced and that no block can hold: their parts are combined as they come. Sums, a product of two rows, and a
// maximum with its place; something is computed of the first sum before the others are taken.
// grid: 2,1,1
// arg: buffer f32 131072 whole -4 4 seed 0
// arg: buffer f32 131072 whole -4 4 seed 0
// arg: buffer f32 2 whole 7 7 seed 0
// arg: buffer f32 2 whole 7 7 seed 0
// arg: buffer i32 2 whole 7 7 seed 0
// arg: buffer f32 2 whole 7 7 seed 0
entry @main(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>, %sums: tile<ptr<f32>>, %most: tile<ptr<f32>>, %places: tile<ptr<i32>>, %dots: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %0 = constant <i32: 0> : tile<i32>
  %x16 = assume div_by<16>, %x : tile<ptr<f32>>
  %y16 = assume div_by<16>, %y : tile<ptr<f32>>
  %xt = make_tensor_view %x16, shape = [2, 65536], strides = [65536, 1] : tensor_view<2x65536xf32, strides=[65536,1]>
  %xp = make_partition_view %xt : partition_view<tile=(1x65536), tensor_view<2x65536xf32, strides=[65536,1]>>
  %yt = make_tensor_view %y16, shape = [2, 65536], strides = [65536, 1] : tensor_view<2x65536xf32, strides=[65536,1]>
  %yp = make_partition_view %yt : partition_view<tile=(1x65536), tensor_view<2x65536xf32, strides=[65536,1]>>
  %a, %t0 = load_view_tko weak %xp[%bx, %0] : partition_view<tile=(1x65536), tensor_view<2x65536xf32, strides=[65536,1]>>, tile<i32> -> tile<1x65536xf32>, token
  %b, %t1 = load_view_tko weak %yp[%bx, %0] : partition_view<tile=(1x65536), tensor_view<2x65536xf32, strides=[65536,1]>>, tile<i32> -> tile<1x65536xf32>, token
  %ab = mulf %a, %b : tile<1x65536xf32>
  %lane = iota : tile<65536xi32>
  %lanes = reshape %lane : tile<65536xi32> -> tile<1x65536xi32>
  %sum = reduce %a dim=1 identities=[0.0 : f32] : tile<1x65536xf32> -> tile<1xf32>
  (%p: tile<f32>, %q: tile<f32>) {
    %r = addf %p, %q : tile<f32>
    yield %r : tile<f32>
  }
  %two = addf %sum, %sum : tile<1xf32>
  %max, %at = reduce %b, %lanes dim=1 identities=[0xFF800000 : f32, 2147483647 : i32] : tile<1x65536xf32>, tile<1x65536xi32> -> tile<1xf32>, tile<1xi32>
  (%v: tile<f32>, %w: tile<f32>, %i: tile<i32>, %j: tile<i32>) {
    %more = cmpf greater_than ordered %v, %w : tile<f32> -> tile<i1>
    %same = cmpf equal ordered %v, %w : tile<f32> -> tile<i1>
    %first = cmpi less_than %i, %j, signed : tile<i32> -> tile<i1>
    %both = andi %same, %first : tile<i1>
    %take = ori %more, %both : tile<i1>
    %value = select %take, %v, %w : tile<i1>, tile<f32>
    %place = select %take, %i, %j : tile<i1>, tile<i32>
    yield %value, %place : tile<f32>, tile<i32>
  }
  %dot = reduce %ab dim=1 identities=[0.0 : f32] : tile<1x65536xf32> -> tile<1xf32>
  (%p1: tile<f32>, %q1: tile<f32>) {
    %r1 = addf %p1, %q1 : tile<f32>
    yield %r1 : tile<f32>
  }
  %dt = make_tensor_view %dots, shape = [2], strides = [1] : tensor_view<2xf32, strides=[1]>
  %dp = make_partition_view %dt : partition_view<tile=(1), tensor_view<2xf32, strides=[1]>>
  %t2 = store_view_tko weak %dot, %dp[%bx] : tile<1xf32>, partition_view<tile=(1), tensor_view<2xf32, strides=[1]>>, tile<i32> -> token
  %st = make_tensor_view %sums, shape = [2], strides = [1] : tensor_view<2xf32, strides=[1]>
  %sp = make_partition_view %st : partition_view<tile=(1), tensor_view<2xf32, strides=[1]>>
  %t3 = store_view_tko weak %two, %sp[%bx] : tile<1xf32>, partition_view<tile=(1), tensor_view<2xf32, strides=[1]>>, tile<i32> -> token
  %mt = make_tensor_view %most, shape = [2], strides = [1] : tensor_view<2xf32, strides=[1]>
  %mp = make_partition_view %mt : partition_view<tile=(1), tensor_view<2xf32, strides=[1]>>
  %t4 = store_view_tko weak %max, %mp[%bx] : tile<1xf32>, partition_view<tile=(1), tensor_view<2xf32, strides=[1]>>, tile<i32> -> token
  %pt = make_tensor_view %places, shape = [2], strides = [1] : tensor_view<2xi32, strides=[1]>
  %pp = make_partition_view %pt : partition_view<tile=(1), tensor_view<2xi32, strides=[1]>>
  %t5 = store_view_tko weak %at, %pp[%bx] : tile<1xi32>, partition_view<tile=(1), tensor_view<2xi32, strides=[1]>>, tile<i32> -> token
  return
}
