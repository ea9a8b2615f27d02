// A loop over rows, around loops over the parts of a row, of which there is one: each reads the row anew, the last stores
// to another tensor, by way of a `loop` that breaks at once, and reads it again under a branch whose condition is known.
// grid: 3,1,1
// arg: buffer f32 4096 whole -8 8 seed 3
// arg: buffer f32 4096 whole 7 7 seed 0
// arg: i32 1000
entry @main(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %cols: tile<i32>) {
  %c0 = constant <i32: 0> : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %c3 = constant <i32: 3> : tile<i32>
  %width = constant <i32: 1024> : tile<i32>
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %pb = assume div_by<16>, %b : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [4, 1024], strides = [1024, 1] : tensor_view<4x1024xf32, strides=[1024,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x1024), tensor_view<4x1024xf32, strides=[1024,1]>>
  %n = assume bounded<0, ?>, %cols : tile<i32>
  %all = reshape %n : tile<i32> -> tile<1xi32>
  %limit = broadcast %all : tile<1xi32> -> tile<1024xi32>
  %zero = constant <f32: 0.0> : tile<1024xf32>
  %two = constant <f32: 2.0> : tile<1024xf32>
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %step, %gy, %gz = get_num_tile_blocks : tile<i32>
  %four = constant <i32: 4> : tile<i32>
  %known = cmpi less_than %c1, %c3, signed : tile<i32> -> tile<i1>
  %tok = make_token : token
  %end = for %row in (%bx to %four, step %step) : tile<i32> iter_values(%t0 = %tok) -> (token) {
    %at = muli %row, %width : tile<i32>
    %sum = for %part in (%c0 to %c1, step %c3) : tile<i32> iter_values(%acc = %zero) -> (tile<1024xf32>) {
      %first = muli %part, %width : tile<i32>
      %from = addi %at, %first : tile<i32>
      %f1 = reshape %from : tile<i32> -> tile<1xi32>
      %fs = broadcast %f1 : tile<1xi32> -> tile<1024xi32>
      %i = iota : tile<1024xi32>
      %o = addi %fs, %i : tile<1024xi32>
      %p1 = reshape %pa : tile<ptr<f32>> -> tile<1xptr<f32>>
      %ps = broadcast %p1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
      %p = offset %ps, %o : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
      %in = cmpi less_than %i, %limit, signed : tile<1024xi32> -> tile<1024xi1>
      %x, %l = load_ptr_tko weak %p, %in, %zero token=%tok : tile<1024xptr<f32>>, tile<1024xi1>, tile<1024xf32> -> tile<1024xf32>, token
      %s = addf %acc, %x : tile<1024xf32>
      continue %s : tile<1024xf32>
    }
    %total = reduce %sum dim=0 identities=[0.0 : f32] : tile<1024xf32> -> tile<f32>
    (%u: tile<f32>, %v: tile<f32>) {
      %w = addf %u, %v : tile<f32>
      yield %w : tile<f32>
    }
    %q1 = reshape %total : tile<f32> -> tile<1xf32>
    %q = broadcast %q1 : tile<1xf32> -> tile<1024xf32>
    %t1 = for %part in (%c0 to %c1, step %c1) : tile<i32> iter_values(%t = %t0) -> (token) {
      %first = muli %part, %width : tile<i32>
      %from = addi %at, %first : tile<i32>
      %f1 = reshape %from : tile<i32> -> tile<1xi32>
      %fs = broadcast %f1 : tile<1xi32> -> tile<1024xi32>
      %i = iota : tile<1024xi32>
      %o = addi %fs, %i : tile<1024xi32>
      %p1 = reshape %pa : tile<ptr<f32>> -> tile<1xptr<f32>>
      %ps = broadcast %p1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
      %p = offset %ps, %o : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
      %in = cmpi less_than %i, %limit, signed : tile<1024xi32> -> tile<1024xi1>
      %x, %l = load_ptr_tko weak %p, %in, %zero token=%tok : tile<1024xptr<f32>>, tile<1024xi1>, tile<1024xf32> -> tile<1024xf32>, token
      %y = loop iter_values(%from_sum = %q) : tile<1024xf32> -> tile<1024xf32> {
        %d = subf %from_sum, %x : tile<1024xf32>
        break %d : tile<1024xf32>
      }
      %r1 = reshape %pb : tile<ptr<f32>> -> tile<1xptr<f32>>
      %rs = broadcast %r1 : tile<1xptr<f32>> -> tile<1024xptr<f32>>
      %r = offset %rs, %o : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
      %st = store_ptr_tko weak %r, %y, %in token=%t : tile<1024xptr<f32>>, tile<1024xf32>, tile<1024xi1> -> token
      %done = if %known -> (token) {
        %z, %lz = load_ptr_tko weak %r, %in, %zero token=%st : tile<1024xptr<f32>>, tile<1024xi1>, tile<1024xf32> -> tile<1024xf32>, token
        %zz = mulf %z, %two : tile<1024xf32>
        %sz = store_ptr_tko weak %r, %zz, %in token=%lz : tile<1024xptr<f32>>, tile<1024xf32>, tile<1024xi1> -> token
        yield %sz : token
      } else {
        yield %st : token
      }
      continue %done : token
    }
    continue %t1 : token
  }
  return
}
