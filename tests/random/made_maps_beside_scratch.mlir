// Tensor maps that the kernel makes, whose record in shared memory is needed to the end: it lay between buffers whose place is
// scratch behind the pipelines.
// grid: 3,2,1
// arg: buffer f32 6144 whole -1 1 seed 0
// arg: buffer f32 3040 whole -1 1 seed 0
// arg: i32 32
// arg: i32 95
// arg: buffer i8 909 whole -5 5 seed 0
// arg: i32 48
// arg: i32 19
// arg: buffer i8 512 whole -5 5 seed 0
// arg: i32 1
// arg: i32 16
// arg: buffer bf16 16 whole -4 4 seed 0
// arg: i32 16
// arg: buffer f32 96 whole -4 4 seed 0
// arg: i32 2
// arg: buffer tf32 784 uniform -1 1 seed 0
// arg: i32 0
// arg: i32 48
// arg: i32 16
// arg: i32 16
// arg: buffer tf32 512 uniform -1 1 seed 0
// arg: buffer i32 6144 any seed 0
// arg: i32 16
// arg: buffer f32 6144 uniform -2 2 seed 0
// arg: buffer i32 12288 whole 7 7 seed 0
// arg: buffer f32 6144 whole 7 7 seed 0
entry @main(%a0: tile<ptr<f32>>, %a1: tile<ptr<f32>>, %a2: tile<i32>, %a3: tile<i32>, %a4: tile<ptr<i8>>, %a5: tile<i32>, %a6: tile<i32>, %a7: tile<ptr<i8>>, %a8: tile<i32>, %a9: tile<i32>, %a10: tile<ptr<bf16>>, %a11: tile<i32>, %a12: tile<ptr<f32>>, %a13: tile<i32>, %a14: tile<ptr<tf32>>, %a15: tile<i32>, %a16: tile<i32>, %a17: tile<i32>, %a18: tile<i32>, %a19: tile<ptr<tf32>>, %a20: tile<ptr<i32>>, %a21: tile<i32>, %a22: tile<ptr<f32>>, %a23: tile<ptr<i32>>, %a24: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %1 = trunci %bx : tile<i32> -> tile<i16>
  %2 = cmpi greater_than_or_equal %1, %1, signed : tile<i16> -> tile<i1>
  %3 = constant <bf16: 0.0> : tile<16x1xbf16>
  %4 = constant <f16: 0.0> : tile<f16>
  %5 = reshape %4 : tile<f16> -> tile<1x1xf16>
  %6 = broadcast %5 : tile<1x1xf16> -> tile<64x16xf16>
  %7:2 = if %2 -> (tile<16x1xbf16>, tile<64x16xf16>) {
    %8 = constant <i32: 0> : tile<i32>
    %9 = constant <i32: 3> : tile<i32>
    %10 = muli %by, %9 : tile<i32>
    %11 = addi %10, %bx : tile<i32>
    %12 = assume div_by<16>, %a0 : tile<ptr<f32>>
    %13 = make_tensor_view %12, shape = [192, 32], strides = [32, 1] : tensor_view<192x32xf32, strides=[32,1]>
    %14 = make_partition_view %13 : partition_view<tile=(16x32), tensor_view<192x32xf32, strides=[32,1]>>
    %15 = constant <i32: 2> : tile<i32>
    %16 = muli %11, %15 : tile<i32>
    %18 = make_token : token
    %19 = constant <i32: 0> : tile<i32>
    %20 = constant <i32: 1> : tile<i32>
    %21 = constant <i32: 1> : tile<i32>
    %22 = for %23 in (%19 to %20, step %21) : tile<i32> iter_values(%17 = %18) -> (token) {
      %24 = constant <i32: 0> : tile<i32>
      %25 = addi %16, %23 : tile<i32>
      %26 = constant <i32: 1> : tile<i32>
      %27 = addi %25, %26 : tile<i32>
      %28, %29 = load_view_tko weak %14[%25, %24] token = %17 : partition_view<tile=(16x32), tensor_view<192x32xf32, strides=[32,1]>>, tile<i32> -> tile<16x32xf32>, token
      %30 = make_tensor_view %a1, shape = [%a2, 95], strides = [%a3, 1] : tile<i32> -> tensor_view<?x95xf32, strides=[?,1]>
      %31 = make_partition_view %30 : partition_view<tile=(32x32), padding_value = zero, tensor_view<?x95xf32, strides=[?,1]>>
      %32, %33 = load_view_tko weak %31[%23, %bx] : partition_view<tile=(32x32), padding_value = zero, tensor_view<?x95xf32, strides=[?,1]>>, tile<i32> -> tile<32x32xf32>, token
      %34 = constant <f32: 0.0> : tile<16x32xf32>
      %35 = mmaf %28, %32, %34 : tile<16x32xf32>, tile<32x32xf32>, tile<16x32xf32>
      %36 = constant <f32: -2.0> : tile<16x32xf32>
      %37 = constant <f32: 2.0> : tile<16x32xf32>
      %38 = maxf %35, %36 : tile<16x32xf32>
      %39 = minf %38, %37 : tile<16x32xf32>
      %40 = join_tokens %17, %29 : token
      %41 = store_view_tko weak %39, %14[%27, %24] token = %40 : tile<16x32xf32>, partition_view<tile=(16x32), tensor_view<192x32xf32, strides=[32,1]>>, tile<i32> -> token
      continue %41 : token
    }
    %42 = constant <i32: 0> : tile<16x16xi32>
    %43 = constant <i32: 0> : tile<i32>
    %44 = constant <i32: 1> : tile<i32>
    %47 = constant <i32: 1> : tile<i32>
    %48 = for %45 in (%43 to %44, step %47) : tile<i32> iter_values(%46 = %42) -> (tile<16x16xi32>) {
      %49 = make_tensor_view %a4, shape = [%a5, 16], strides = [%a6, 1] : tile<i32> -> tensor_view<?x16xi8, strides=[?,1]>
      %50 = make_partition_view %49 : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x16xi8, strides=[?,1]>>
      %51, %52 = load_view_tko weak %50[%bx, %45] : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x16xi8, strides=[?,1]>>, tile<i32> -> tile<16x16xi8>, token
      %53 = constant <i32: 0> : tile<i32>
      %54 = assume bounded<0, ?>, %a8 : tile<i32>
      %55 = make_tensor_view %a7, shape = [%54, %a9, 32], strides = [512, 32, 1] : tile<i32> -> tensor_view<?x?x32xi8, strides=[512,32,1]>
      %56 = make_partition_view %55 : partition_view<tile=(1x16x16), padding_value = zero, tensor_view<?x?x32xi8, strides=[512,32,1]>>
      %57, %58 = load_view_tko weak %56[%53, %45, %by] : partition_view<tile=(1x16x16), padding_value = zero, tensor_view<?x?x32xi8, strides=[512,32,1]>>, tile<i32> -> tile<1x16x16xi8>, token
      %59 = reshape %57 : tile<1x16x16xi8> -> tile<16x16xi8>
      %60 = mmai %51, %59, %46 signed signed : tile<16x16xi8>, tile<16x16xi8>, tile<16x16xi32>
      continue %60 : tile<16x16xi32>
    }
    %61 = constant <bf16: 0.0> : tile<bf16>
    %62 = reshape %61 : tile<bf16> -> tile<1x1xbf16>
    %63 = broadcast %62 : tile<1x1xbf16> -> tile<16x1xbf16>
    %64 = constant <f16: 0.0> : tile<f16>
    %65 = reshape %64 : tile<f16> -> tile<1x1xf16>
    %66 = broadcast %65 : tile<1x1xf16> -> tile<64x16xf16>
    yield %63, %66 : tile<16x1xbf16>, tile<64x16xf16>
  } else {
    %67 = constant <i32: 0> : tile<i32>
    %68 = constant <i32: 0> : tile<i32>
    %69 = assume div_by<16>, %a10 : tile<ptr<bf16>>
    %70 = assume bounded<0, ?>, %a11 : tile<i32>
    %71 = make_tensor_view %69, shape = [%70, 1], strides = [1, 1] : tile<i32> -> tensor_view<?x1xbf16, strides=[1,1]>
    %72 = make_partition_view %71 : partition_view<tile=(16x1), padding_value = zero, tensor_view<?x1xbf16, strides=[1,1]>>
    %73, %74 = load_view_tko weak %72[%67, %68] : partition_view<tile=(16x1), padding_value = zero, tensor_view<?x1xbf16, strides=[1,1]>>, tile<i32> -> tile<16x1xbf16>, token
    %75 = constant <f16: 0.0> : tile<64x16xf16>
    yield %73, %75 : tile<16x1xbf16>, tile<64x16xf16>
  }
  %76 = constant <i32: 1> : tile<i32>
  %77 = assume div_by<16>, %a12 : tile<ptr<f32>>
  %78 = make_tensor_view %77, shape = [48, 2], strides = [%a13, 1] : tile<i32> -> tensor_view<48x2xf32, strides=[?,1]>
  %79 = make_partition_view %78 : partition_view<tile=(16x1), padding_value = zero, tensor_view<48x2xf32, strides=[?,1]>>
  %80, %81 = load_view_tko weak %79[%bx, %76] : partition_view<tile=(16x1), padding_value = zero, tensor_view<48x2xf32, strides=[?,1]>>, tile<i32> -> tile<16x1xf32>, token
  %82 = constant <f32: 0.0> : tile<16x16xf32>
  %83 = constant <i32: 0> : tile<i32>
  %84 = constant <i32: 1> : tile<i32>
  %87 = constant <i32: 1> : tile<i32>
  %88 = for %85 in (%83 to %84, step %87) : tile<i32> iter_values(%86 = %82) -> (tile<16x16xf32>) {
    %89 = subi %a16, %a15 : tile<i32>
    %90 = constant <i32: 16> : tile<i32>
    %91 = muli %a15, %90 : tile<i32>
    %92 = offset %a14, %91 : tile<ptr<tf32>>, tile<i32> -> tile<ptr<tf32>>
    %93 = assume div_by<16>, %92 : tile<ptr<tf32>>
    %94 = assume bounded<0, ?>, %a17 : tile<i32>
    %95 = assume div_by<16>, %a18 : tile<i32>
    %96 = make_tensor_view %93, shape = [%89, %94], strides = [%95, 1] : tile<i32> -> tensor_view<?x?xtf32, strides=[?,1]>
    %97 = make_partition_view %96 : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xtf32, strides=[?,1]>>
    %98, %99 = load_view_tko weak %97[%bx, %85] : partition_view<tile=(16x16), padding_value = zero, tensor_view<?x?xtf32, strides=[?,1]>>, tile<i32> -> tile<16x16xtf32>, token
    %100 = make_tensor_view %a19, shape = [16, 32], strides = [32, 1] : tensor_view<16x32xtf32, strides=[32,1]>
    %101 = make_partition_view %100 : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x32xtf32, strides=[32,1]>>
    %102, %103 = load_view_tko weak %101[%85, %by] : partition_view<tile=(16x16), padding_value = zero, tensor_view<16x32xtf32, strides=[32,1]>>, tile<i32> -> tile<16x16xtf32>, token
    %104 = mmaf %98, %102, %86 : tile<16x16xtf32>, tile<16x16xtf32>, tile<16x16xf32>
    continue %104 : tile<16x16xf32>
  }
  %105 = constant <i32: 0> : tile<i32>
  %106 = make_tensor_view %a20, shape = [384, 16], strides = [%a21, 1] : tile<i32> -> tensor_view<384x16xi32, strides=[?,1]>
  %107 = make_partition_view %106 : partition_view<tile=(128x16), padding_value = zero, tensor_view<384x16xi32, strides=[?,1]>>
  %108, %109 = load_view_tko weak %107[%bx, %105] : partition_view<tile=(128x16), padding_value = zero, tensor_view<384x16xi32, strides=[?,1]>>, tile<i32> -> tile<128x16xi32>, token
  %110 = constant <f32: 0.0> : tile<64x16xf32>
  %111 = constant <f32: -3.0> : tile<64x16xf32>
  %112 = constant <f32: 3.0> : tile<64x16xf32>
  %113 = maxf %110, %111 : tile<64x16xf32>
  %114 = minf %113, %112 : tile<64x16xf32>
  %115 = reduce %114 dim=1 identities=[-0.0 : f32] : tile<64x16xf32> -> tile<64xf32>
  (%116: tile<f32>, %117: tile<f32>) {
    %118 = addf %116, %117 : tile<f32>
    yield %118 : tile<f32>
  }
  %119 = constant <f32: 0.0625> : tile<64xf32>
  %120 = mulf %115, %119 : tile<64xf32>
  %121 = reshape %120 : tile<64xf32> -> tile<64x1xf32>
  %122 = broadcast %121 : tile<64x1xf32> -> tile<64x16xf32>
  %123 = subf %114, %122 : tile<64x16xf32>
  %124 = mulf %123, %123 : tile<64x16xf32>
  %125 = reduce %124 dim=1 identities=[-0.0 : f32] : tile<64x16xf32> -> tile<64xf32>
  (%126: tile<f32>, %127: tile<f32>) {
    %128 = addf %126, %127 : tile<f32>
    yield %128 : tile<f32>
  }
  %129 = mulf %125, %119 : tile<64xf32>
  %130 = constant <f32: 0.25> : tile<64xf32>
  %131 = constant <f32: 16.0> : tile<64xf32>
  %132 = maxf %129, %130 : tile<64xf32>
  %133 = minf %132, %131 : tile<64xf32>
  %134 = rsqrt %133 : tile<64xf32>
  %135 = reshape %134 : tile<64xf32> -> tile<64x1xf32>
  %136 = broadcast %135 : tile<64x1xf32> -> tile<64x16xf32>
  %137 = mulf %123, %136 : tile<64x16xf32>
  %138 = constant <i32: 0> : tile<i32>
  %139 = make_tensor_view %a22, shape = [384, 16], strides = [16, 1] : tensor_view<384x16xf32, strides=[16,1]>
  %140 = make_partition_view %139 : partition_view<tile=(128x16), padding_value = zero, tensor_view<384x16xf32, strides=[16,1]>>
  %141, %142 = load_view_tko weak %140[%bx, %138] : partition_view<tile=(128x16), padding_value = zero, tensor_view<384x16xf32, strides=[16,1]>>, tile<i32> -> tile<128x16xf32>, token
  %143 = addf %141, %141 : tile<128x16xf32>
  %144 = addf %137, %137 : tile<64x16xf32>
  %145 = addi %108, %108 : tile<128x16xi32>
  %146 = constant <i32: 0> : tile<i32>
  %147 = constant <i32: 3> : tile<i32>
  %148 = muli %by, %147 : tile<i32>
  %149 = addi %148, %bx : tile<i32>
  %150 = iota : tile<2048xi32>
  %151 = reshape %150 : tile<2048xi32> -> tile<128x16xi32>
  %152 = constant <i32: 2048> : tile<i32>
  %153 = muli %149, %152 : tile<i32>
  %154 = reshape %153 : tile<i32> -> tile<1x1xi32>
  %155 = broadcast %154 : tile<1x1xi32> -> tile<128x16xi32>
  %156 = addi %151, %155 : tile<128x16xi32>
  %157 = cmpf less_than ordered %143, %143 : tile<128x16xf32> -> tile<128x16xi1>
  %158 = reshape %a23 : tile<ptr<i32>> -> tile<1x1xptr<i32>>
  %159 = broadcast %158 : tile<1x1xptr<i32>> -> tile<128x16xptr<i32>>
  %160 = offset %159, %156 : tile<128x16xptr<i32>>, tile<128x16xi32> -> tile<128x16xptr<i32>>
  %161 = store_ptr_tko weak %160, %145, %157 : tile<128x16xptr<i32>>, tile<128x16xi32>, tile<128x16xi1> -> token
  %162 = constant <i32: 0> : tile<i32>
  %163 = constant <i32: 3> : tile<i32>
  %164 = muli %by, %163 : tile<i32>
  %165 = addi %164, %bx : tile<i32>
  %166 = constant <i32: 0> : tile<i32>
  %167 = assume div_by<16>, %a24 : tile<ptr<f32>>
  %168 = make_tensor_view %167, shape = [384, 16], strides = [16, 1] : tensor_view<384x16xf32, strides=[16,1]>
  %169 = make_partition_view %168 : partition_view<tile=(64x16), tensor_view<384x16xf32, strides=[16,1]>>
  %170 = store_view_tko weak %144, %169[%165, %166] : tile<64x16xf32>, partition_view<tile=(64x16), tensor_view<384x16xf32, strides=[16,1]>>, tile<i32> -> token
  return
}
