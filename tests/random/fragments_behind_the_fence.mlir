// grid: 2,1,1
// arg: buffer f32 4096 whole -4 4 seed 0
// arg: buffer f8E4M3FN 512 whole -2 2 seed 0
// arg: buffer f8E4M3FN 64 whole -2 2 seed 0
// arg: i32 8
// arg: i32 8
// arg: i32 8
// arg: buffer f8E4M3FN 8192 whole -2 2 seed 0
// arg: buffer f32 8064 whole 7 7 seed 0
// arg: buffer bf16 1024 whole -4 4 seed 0
// arg: buffer bf16 1024 uniform -50 50 seed 0
// arg: i32 16
// arg: buffer f32 1024 whole 7 7 seed 0
// arg: buffer f32 8 whole 0 1 seed 0
// arg: buffer f32 2048 uniform -1 1 seed 0
// arg: buffer f32 2048 uniform -1 1 seed 0
// arg: buffer f32 2048 whole 7 7 seed 0 within 6.304931640625e-2
entry @main(%a0: tile<ptr<f32>>, %a5: tile<ptr<f8E4M3FN>>, %a6: tile<ptr<f8E4M3FN>>, %a7: tile<i32>, %a8: tile<i32>, %a9: tile<i32>, %a10: tile<ptr<f8E4M3FN>>, %a11: tile<ptr<f32>>, %a12: tile<ptr<bf16>>, %a13: tile<ptr<bf16>>, %a14: tile<i32>, %a15: tile<ptr<f32>>, %a16: tile<ptr<f32>>, %a17: tile<ptr<f32>>, %a18: tile<ptr<f32>>, %a19: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %5 = constant <i32: 0> : tile<i32>
  %6 = constant <i32: 0> : tile<i32>
  %7 = make_tensor_view %a0, shape = [4, 16, 64], strides = [1024, 64, 1] : tensor_view<4x16x64xf32, strides=[1024,64,1]>
  %8 = make_partition_view %7 : partition_view<tile=(4x8x64), padding_value = zero, tensor_view<4x16x64xf32, strides=[1024,64,1]>>
  %9, %10 = load_view_tko weak %8[%5, %bx, %6] : partition_view<tile=(4x8x64), padding_value = zero, tensor_view<4x16x64xf32, strides=[1024,64,1]>>, tile<i32> -> tile<4x8x64xf32>, token
  %77 = constant <f32: 0.0> : tile<1x1xf32>
  %78 = constant <f32: -3.0> : tile<1x1xf32>
  %79 = constant <f32: 3.0> : tile<1x1xf32>
  %80 = maxf %77, %78 : tile<1x1xf32>
  %81 = minf %80, %79 : tile<1x1xf32>
  %82 = reduce %81 dim=1 identities=[-0.0 : f32] : tile<1x1xf32> -> tile<1xf32>
  (%83: tile<f32>, %84: tile<f32>) {
    %85 = addf %83, %84 : tile<f32>
    yield %85 : tile<f32>
  }
  %86 = constant <f32: 1.0> : tile<1xf32>
  %87 = mulf %82, %86 : tile<1xf32>
  %88 = reshape %87 : tile<1xf32> -> tile<1x1xf32>
  %89 = subf %81, %88 : tile<1x1xf32>
  %90 = mulf %89, %89 : tile<1x1xf32>
  %91 = reduce %90 dim=1 identities=[-0.0 : f32] : tile<1x1xf32> -> tile<1xf32>
  (%92: tile<f32>, %93: tile<f32>) {
    %94 = addf %92, %93 : tile<f32>
    yield %94 : tile<f32>
  }
  %103 = constant <f32: 0.0> : tile<64x8xf32>
  %104 = constant <i32: 0> : tile<i32>
  %105 = constant <i32: 0> : tile<i32>
  %106 = make_tensor_view %a5, shape = [64, 8], strides = [8, 1] : tensor_view<64x8xf8E4M3FN, strides=[8,1]>
  %107 = make_partition_view %106 : partition_view<tile=(64x8), padding_value = zero, tensor_view<64x8xf8E4M3FN, strides=[8,1]>>
  %108, %109 = load_view_tko weak %107[%104, %105] : partition_view<tile=(64x8), padding_value = zero, tensor_view<64x8xf8E4M3FN, strides=[8,1]>>, tile<i32> -> tile<64x8xf8E4M3FN>, token
  %110 = constant <i32: 0> : tile<i32>
  %111 = constant <i32: 0> : tile<i32>
  %112 = assume bounded<0, ?>, %a8 : tile<i32>
  %113 = make_tensor_view %a6, shape = [%a7, %112], strides = [%a9, 1] : tile<i32> -> tensor_view<?x?xf8E4M3FN, strides=[?,1]>
  %114 = make_partition_view %113 : partition_view<tile=(8x8), padding_value = zero, tensor_view<?x?xf8E4M3FN, strides=[?,1]>>
  %115, %116 = load_view_tko weak %114[%110, %111] : partition_view<tile=(8x8), padding_value = zero, tensor_view<?x?xf8E4M3FN, strides=[?,1]>>, tile<i32> -> tile<8x8xf8E4M3FN>, token
  %117 = mmaf %108, %115, %103 : tile<64x8xf8E4M3FN>, tile<8x8xf8E4M3FN>, tile<64x8xf32>
  %118 = constant <f32: -2.0> : tile<64x8xf32>
  %119 = constant <f32: 2.0> : tile<64x8xf32>
  %120 = maxf %117, %118 : tile<64x8xf32>
  %121 = minf %120, %119 : tile<64x8xf32>
  %122 = ftof %121 : tile<64x8xf32> -> tile<64x8xf8E4M3FN>
  %123 = constant <f32: 0.0> : tile<64x64xf32>
  %124 = constant <i32: 0> : tile<i32>
  %125 = constant <i32: 0> : tile<i32>
  %126 = assume div_by<16>, %a10 : tile<ptr<f8E4M3FN>>
  %127 = make_tensor_view %126, shape = [1, 64, 128], strides = [8192, 128, 1] : tensor_view<1x64x128xf8E4M3FN, strides=[8192,128,1]>
  %128 = make_partition_view %127 : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<1x64x128xf8E4M3FN, strides=[8192,128,1]>>
  %129, %130 = load_view_tko weak %128[%124, %125, %bx] optimization_hints = <default = {latency = 2}> : partition_view<tile=(1x64x64), padding_value = zero, tensor_view<1x64x128xf8E4M3FN, strides=[8192,128,1]>>, tile<i32> -> tile<1x64x64xf8E4M3FN>, token
  %131 = reshape %129 : tile<1x64x64xf8E4M3FN> -> tile<64x64xf8E4M3FN>
  %132 = mmaf %131, %131, %123 : tile<64x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<64x64xf32>
  %134 = constant <i32: 0> : tile<i32>
  %135 = make_tensor_view %a11, shape = [128, 63], strides = [63, 1] : tensor_view<128x63xf32, strides=[63,1]>
  %136 = make_partition_view %135 : partition_view<tile=(64x64), tensor_view<128x63xf32, strides=[63,1]>>
  %137 = store_view_tko weak %132, %136[%bx, %134] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<128x63xf32, strides=[63,1]>>, tile<i32> -> token
  %138 = constant <f32: 0.0> : tile<8x64xf32>
  %139 = permute %122 [1, 0] : tile<64x8xf8E4M3FN> -> tile<8x64xf8E4M3FN>
  %140 = mmaf %139, %131, %138 : tile<8x64xf8E4M3FN>, tile<64x64xf8E4M3FN>, tile<8x64xf32>
  %142 = iota : tile<512xi32>
  %143 = reshape %142 : tile<512xi32> -> tile<8x64xi32>
  %144 = constant <i32: 512> : tile<i32>
  %145 = muli %bx, %144 : tile<i32>
  %146 = reshape %145 : tile<i32> -> tile<1x1xi32>
  %147 = broadcast %146 : tile<1x1xi32> -> tile<8x64xi32>
  %148 = addi %143, %147 : tile<8x64xi32>
  %149 = constant <i32: 0> : tile<i32>
  %150 = make_tensor_view %a12, shape = [8, 128], strides = [128, 1] : tensor_view<8x128xbf16, strides=[128,1]>
  %151 = make_partition_view %150 : partition_view<tile=(8x64), padding_value = zero, tensor_view<8x128xbf16, strides=[128,1]>>
  %152, %153 = load_view_tko weak %151[%149, %bx] : partition_view<tile=(8x64), padding_value = zero, tensor_view<8x128xbf16, strides=[128,1]>>, tile<i32> -> tile<8x64xbf16>, token
  %154 = make_tensor_view %a13, shape = [%a14, 64], strides = [64, 1] : tile<i32> -> tensor_view<?x64xbf16, strides=[64,1]>
  %155 = make_partition_view %154 : partition_view<tile=(8x64), tensor_view<?x64xbf16, strides=[64,1]>>
  %156, %157 = load_view_tko weak %155[%bx, %bz] : partition_view<tile=(8x64), tensor_view<?x64xbf16, strides=[64,1]>>, tile<i32> -> tile<8x64xbf16>, token
  %158 = cmpf less_than ordered %152, %156 : tile<8x64xbf16> -> tile<8x64xi1>
  %159 = reshape %a15 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %160 = broadcast %159 : tile<1x1xptr<f32>> -> tile<8x64xptr<f32>>
  %161 = offset %160, %148 : tile<8x64xptr<f32>>, tile<8x64xi32> -> tile<8x64xptr<f32>>
  %162 = store_ptr_tko weak %161, %140, %158 : tile<8x64xptr<f32>>, tile<8x64xf32>, tile<8x64xi1> -> token
  %167 = constant <i32: 0> : tile<i32>
  %168 = make_tensor_view %a16, shape = [8], strides = [1] : tensor_view<8xf32, strides=[1]>
  %169 = make_partition_view %168 : partition_view<tile=(8), padding_value = zero, tensor_view<8xf32, strides=[1]>>
  %170, %171 = load_view_tko weak %169[%167] : partition_view<tile=(8), padding_value = zero, tensor_view<8xf32, strides=[1]>>, tile<i32> -> tile<8xf32>, token
  %182 = constant <f32: 0.0> : tile<32x32xf32>
  %183 = constant <i32: 0> : tile<i32>
  %184 = constant <i32: 1> : tile<i32>
  %187 = constant <i32: 1> : tile<i32>
  %188 = for %185 in (%183 to %184, step %187) : tile<i32> iter_values(%186 = %182) -> (tile<32x32xf32>) {
    %189 = make_tensor_view %a17, shape = [32, 64], strides = [64, 1] : tensor_view<32x64xf32, strides=[64,1]>
    %190 = make_partition_view %189 : partition_view<tile=(32x32), padding_value = zero, tensor_view<32x64xf32, strides=[64,1]>>
    %191, %192 = load_view_tko weak %190[%185, %bx] : partition_view<tile=(32x32), padding_value = zero, tensor_view<32x64xf32, strides=[64,1]>>, tile<i32> -> tile<32x32xf32>, token
    %193 = make_tensor_view %a18, shape = [32, 64], strides = [64, 1] : tensor_view<32x64xf32, strides=[64,1]>
    %194 = make_partition_view %193 : partition_view<tile=(32x32), padding_value = zero, tensor_view<32x64xf32, strides=[64,1]>>
    %195, %196 = load_view_tko weak %194[%185, %bx] : partition_view<tile=(32x32), padding_value = zero, tensor_view<32x64xf32, strides=[64,1]>>, tile<i32> -> tile<32x32xf32>, token
    %197 = mmaf %191, %195, %186 : tile<32x32xf32>, tile<32x32xf32>, tile<32x32xf32>
    continue %197 : tile<32x32xf32>
  }
  %199 = constant <i32: 0> : tile<i32>
  %200 = make_tensor_view %a19, shape = [64, 32], strides = [32, 1] : tensor_view<64x32xf32, strides=[32,1]>
  %201 = make_partition_view %200 : partition_view<tile=(32x32), tensor_view<64x32xf32, strides=[32,1]>>
  %202 = store_view_tko weak %188, %201[%bx, %199] : tile<32x32xf32>, partition_view<tile=(32x32), tensor_view<64x32xf32, strides=[32,1]>>, tile<i32> -> token
  return
}
