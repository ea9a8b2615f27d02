// Keys and values of a gradient kernel are operands of warps' matmuls that its loop does not change, of more fragments than a
// thread has registers. They are read in each iteration from the stages that brought them, which are kept until the loop ends,
// and two blocks share the multiprocessor whose registers the roles were given.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// run: compile --gpu-name sm_90a
// show: kernel b | occupancy | warp roles | no operands | local_load | maxnreg
entry @backward_fused(%0: tile<ptr<bf16>>, %1: tile<i32>, %2: tile<i32>, %3: tile<i32>, %4: tile<i32>, %5: tile<i32>, %6: tile<i32>, %7: tile<ptr<bf16>>, %8: tile<i32>, %9: tile<i32>, %10: tile<i32>, %11: tile<i32>, %12: tile<i32>, %13: tile<i32>, %14: tile<ptr<bf16>>, %15: tile<i32>, %16: tile<i32>, %17: tile<i32>, %18: tile<i32>, %19: tile<i32>, %20: tile<i32>, %21: tile<ptr<bf16>>, %22: tile<i32>, %23: tile<i32>, %24: tile<i32>, %25: tile<i32>, %26: tile<i32>, %27: tile<i32>, %28: tile<ptr<f32>>, %29: tile<i32>, %30: tile<i32>, %31: tile<i32>, %32: tile<i32>, %33: tile<ptr<f32>>, %34: tile<i32>, %35: tile<i32>, %36: tile<i32>, %37: tile<i32>, %38: tile<ptr<f32>>, %39: tile<i32>, %40: tile<i32>, %41: tile<i32>, %42: tile<i32>, %43: tile<i32>, %44: tile<i32>, %45: tile<ptr<bf16>>, %46: tile<i32>, %47: tile<i32>, %48: tile<i32>, %49: tile<i32>, %50: tile<i32>, %51: tile<i32>, %52: tile<ptr<bf16>>, %53: tile<i32>, %54: tile<i32>, %55: tile<i32>, %56: tile<i32>, %57: tile<i32>, %58: tile<i32>, %59: tile<f32>) optimization_hints=<default = {}> {
  %60 = make_token : token
  %61 = assume div_by<16>, %0 : tile<ptr<bf16>>
  %62 = assume div_by<8>, %4 : tile<i32>
  %63 = assume div_by<8>, %5 : tile<i32>
  %64 = assume div_by<16>, %7 : tile<ptr<bf16>>
  %65 = assume div_by<8>, %11 : tile<i32>
  %66 = assume div_by<8>, %12 : tile<i32>
  %67 = assume div_by<16>, %14 : tile<ptr<bf16>>
  %68 = assume div_by<8>, %18 : tile<i32>
  %69 = assume div_by<8>, %19 : tile<i32>
  %70 = assume div_by<16>, %21 : tile<ptr<bf16>>
  %71 = assume div_by<8>, %25 : tile<i32>
  %72 = assume div_by<8>, %26 : tile<i32>
  %73 = assume div_by<16>, %28 : tile<ptr<f32>>
  %74 = assume div_by<4>, %31 : tile<i32>
  %75 = assume div_by<16>, %33 : tile<ptr<f32>>
  %76 = assume div_by<4>, %36 : tile<i32>
  %77 = assume div_by<16>, %38 : tile<ptr<f32>>
  %78 = assume div_by<4>, %42 : tile<i32>
  %79 = assume div_by<4>, %43 : tile<i32>
  %80 = assume div_by<16>, %45 : tile<ptr<bf16>>
  %81 = assume div_by<8>, %49 : tile<i32>
  %82 = assume div_by<8>, %50 : tile<i32>
  %83 = assume div_by<16>, %52 : tile<ptr<bf16>>
  %84 = assume div_by<8>, %56 : tile<i32>
  %85 = assume div_by<8>, %57 : tile<i32>
  %86 = constant <i32: 1> : tile<i32>
  %87 = constant <i32: 1> : tile<i32>
  %88 = constant <i32: 1> : tile<i32>
  %89 = constant <i32: 1> : tile<i32>
  %90 = constant <i32: 1> : tile<i32>
  %91 = constant <i32: 1> : tile<i32>
  %92 = constant <i32: 1> : tile<i32>
  %93 = constant <i32: 1> : tile<i32>
  %94 = constant <i64: 1> : tile<32x128xi64>
  %95 = assume bounded<0, ?>, %1 : tile<i32>
  %96 = assume bounded<0, ?>, %2 : tile<i32>
  %97 = assume bounded<0, ?>, %3 : tile<i32>
  %98 = assume bounded<0, ?>, %62 : tile<i32>
  %99 = assume div_by<8>, %98 : tile<i32>
  %100 = assume bounded<0, ?>, %63 : tile<i32>
  %101 = assume div_by<8>, %100 : tile<i32>
  %102 = make_tensor_view %61, shape = [%95, %96, %97], strides = [%99, %101, 1] : tile<i32> -> tensor_view<?x?x?xbf16, strides=[?,?,1]>
  %103 = assume bounded<0, ?>, %8 : tile<i32>
  %104 = assume bounded<0, ?>, %9 : tile<i32>
  %105 = assume bounded<0, ?>, %10 : tile<i32>
  %106 = assume bounded<0, ?>, %65 : tile<i32>
  %107 = assume div_by<8>, %106 : tile<i32>
  %108 = assume bounded<0, ?>, %66 : tile<i32>
  %109 = assume div_by<8>, %108 : tile<i32>
  %110 = make_tensor_view %64, shape = [%103, %104, %105], strides = [%107, %109, 1] : tile<i32> -> tensor_view<?x?x?xbf16, strides=[?,?,1]>
  %111 = assume bounded<0, ?>, %15 : tile<i32>
  %112 = assume bounded<0, ?>, %16 : tile<i32>
  %113 = assume bounded<0, ?>, %17 : tile<i32>
  %114 = assume bounded<0, ?>, %68 : tile<i32>
  %115 = assume div_by<8>, %114 : tile<i32>
  %116 = assume bounded<0, ?>, %69 : tile<i32>
  %117 = assume div_by<8>, %116 : tile<i32>
  %118 = make_tensor_view %67, shape = [%111, %112, %113], strides = [%115, %117, 1] : tile<i32> -> tensor_view<?x?x?xbf16, strides=[?,?,1]>
  %119 = assume bounded<0, ?>, %22 : tile<i32>
  %120 = assume bounded<0, ?>, %23 : tile<i32>
  %121 = assume bounded<0, ?>, %24 : tile<i32>
  %122 = assume bounded<0, ?>, %71 : tile<i32>
  %123 = assume div_by<8>, %122 : tile<i32>
  %124 = assume bounded<0, ?>, %72 : tile<i32>
  %125 = assume div_by<8>, %124 : tile<i32>
  %126 = make_tensor_view %70, shape = [%119, %120, %121], strides = [%123, %125, 1] : tile<i32> -> tensor_view<?x?x?xbf16, strides=[?,?,1]>
  %127 = assume bounded<0, ?>, %29 : tile<i32>
  %128 = assume bounded<0, ?>, %30 : tile<i32>
  %129 = assume bounded<0, ?>, %74 : tile<i32>
  %130 = assume div_by<4>, %129 : tile<i32>
  %131 = make_tensor_view %73, shape = [%127, %128], strides = [%130, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %132 = assume bounded<0, ?>, %34 : tile<i32>
  %133 = assume bounded<0, ?>, %35 : tile<i32>
  %134 = assume bounded<0, ?>, %76 : tile<i32>
  %135 = assume div_by<4>, %134 : tile<i32>
  %136 = make_tensor_view %75, shape = [%132, %133], strides = [%135, 1] : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
  %137 = assume bounded<0, ?>, %39 : tile<i32>
  %138 = assume bounded<0, ?>, %40 : tile<i32>
  %139 = assume bounded<0, ?>, %41 : tile<i32>
  %140 = assume bounded<0, ?>, %78 : tile<i32>
  %141 = assume bounded<0, ?>, %79 : tile<i32>
  %142 = assume bounded<0, ?>, %46 : tile<i32>
  %143 = assume bounded<0, ?>, %47 : tile<i32>
  %144 = assume bounded<0, ?>, %48 : tile<i32>
  %145 = assume bounded<0, ?>, %81 : tile<i32>
  %146 = assume div_by<8>, %145 : tile<i32>
  %147 = assume bounded<0, ?>, %82 : tile<i32>
  %148 = assume div_by<8>, %147 : tile<i32>
  %149 = make_tensor_view %80, shape = [%142, %143, %144], strides = [%146, %148, 1] : tile<i32> -> tensor_view<?x?x?xbf16, strides=[?,?,1]>
  %150 = assume bounded<0, ?>, %53 : tile<i32>
  %151 = assume bounded<0, ?>, %54 : tile<i32>
  %152 = assume bounded<0, ?>, %55 : tile<i32>
  %153 = assume bounded<0, ?>, %84 : tile<i32>
  %154 = assume div_by<8>, %153 : tile<i32>
  %155 = assume bounded<0, ?>, %85 : tile<i32>
  %156 = assume div_by<8>, %155 : tile<i32>
  %157 = make_tensor_view %83, shape = [%150, %151, %152], strides = [%154, %156, 1] : tile<i32> -> tensor_view<?x?x?xbf16, strides=[?,?,1]>
  %158 = constant <i32: 32> : tile<i32>
  %159 = constant <i32: 64> : tile<i32>
  %160, %161, %162 = get_tile_block_id : tile<i32>
  %163, %164, %165 = get_tile_block_id : tile<i32>
  %166 = constant <i32: 0> : tile<i32>
  %167 = make_partition_view %110 : partition_view<tile=(1x64x128), padding_value = zero, tensor_view<?x?x?xbf16, strides=[?,?,1]>>
  %168, %169 = load_view_tko weak %167[%164, %160, %166] token = %60 : partition_view<tile=(1x64x128), padding_value = zero, tensor_view<?x?x?xbf16, strides=[?,?,1]>>, tile<i32> -> tile<1x64x128xbf16>, token
  %170 = reshape %168 : tile<1x64x128xbf16> -> tile<64x128xbf16>
  %171 = constant <i32: 0> : tile<i32>
  %172 = make_partition_view %118 : partition_view<tile=(1x64x128), padding_value = zero, tensor_view<?x?x?xbf16, strides=[?,?,1]>>
  %173, %174 = load_view_tko weak %172[%164, %160, %171] token = %60 : partition_view<tile=(1x64x128), padding_value = zero, tensor_view<?x?x?xbf16, strides=[?,?,1]>>, tile<i32> -> tile<1x64x128xbf16>, token
  %175 = reshape %173 : tile<1x64x128xbf16> -> tile<64x128xbf16>
  %176 = constant <f32: 0.000000e+00> : tile<64x128xf32>
  %177 = constant <f32: 0.000000e+00> : tile<64x128xf32>
  %178 = muli %160, %159 : tile<i32>
  %179 = iota : tile<64xi32>
  %180 = reshape %179 : tile<64xi32> -> tile<1x64xi32>
  %181 = reshape %178 : tile<i32> -> tile<1x1xi32>
  %182 = broadcast %181 : tile<1x1xi32> -> tile<1x64xi32>
  %183 = addi %182, %180 : tile<1x64xi32>
  %184 = muli %160, %159 : tile<i32>
  %185 = divi %184, %158 signed rounding<negative_inf> : tile<i32>
  %186 = divi %96, %158 signed rounding<positive_inf> : tile<i32>
  %187 = constant <i32: 1> : tile<i32>
  %188 = constant <i32: 0> : tile<i32>
  %189 = make_partition_view %102 : partition_view<tile=(1x32x128), padding_value = zero, tensor_view<?x?x?xbf16, strides=[?,?,1]>>
  %190 = constant <i32: 0> : tile<i32>
  %191 = make_partition_view %126 : partition_view<tile=(1x32x128), padding_value = zero, tensor_view<?x?x?xbf16, strides=[?,?,1]>>
  %192 = make_partition_view %131 : partition_view<tile=(1x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
  %193 = make_partition_view %136 : partition_view<tile=(1x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>
  %194 = iota : tile<32xi32>
  %195 = reshape %194 : tile<32xi32> -> tile<32x1xi32>
  %196 = permute %170 [1, 0] : tile<64x128xbf16> -> tile<128x64xbf16>
  %197 = constant <f32: 0.000000e+00> : tile<32x64xf32>
  %198 = constant <f32: 1.44269502> : tile<f32>
  %199 = mulf %59, %198 : tile<f32>
  %200 = reshape %199 : tile<f32> -> tile<1x1xf32>
  %201 = broadcast %200 : tile<1x1xf32> -> tile<32x64xf32>
  %202 = reshape %96 : tile<i32> -> tile<1x1xi32>
  %203 = broadcast %202 : tile<1x1xi32> -> tile<32x1xi32>
  %204 = broadcast %183 : tile<1x64xi32> -> tile<32x64xi32>
  %205 = constant <f32: 0.000000e+00> : tile<f32>
  %206 = reshape %205 : tile<f32> -> tile<1x1xf32>
  %207 = broadcast %206 : tile<1x1xf32> -> tile<32x64xf32>
  %208 = permute %175 [1, 0] : tile<64x128xbf16> -> tile<128x64xbf16>
  %209 = constant <f32: 0.000000e+00> : tile<32x64xf32>
  %210 = reshape %59 : tile<f32> -> tile<1x1xf32>
  %211 = broadcast %210 : tile<1x1xf32> -> tile<32x64xf32>
  %212 = constant <f32: 0.000000e+00> : tile<32x128xf32>
  %213 = iota : tile<128xi32>
  %214 = reshape %213 : tile<128xi32> -> tile<1x128xi32>
  %215 = exti %164 signed : tile<i32> -> tile<i64>
  %216 = reshape %215 : tile<i64> -> tile<1x1xi64>
  %217 = broadcast %216 : tile<1x1xi64> -> tile<32x128xi64>
  %218 = exti %137 signed : tile<i32> -> tile<i64>
  %219 = reshape %218 : tile<i64> -> tile<1x1xi64>
  %220 = broadcast %219 : tile<1x1xi64> -> tile<32x128xi64>
  %221 = cmpi less_than %217, %220, unsigned : tile<32x128xi64> -> tile<32x128xi1>
  %222 = exti %140 signed : tile<i32> -> tile<i64>
  %223 = reshape %222 : tile<i64> -> tile<1x1xi64>
  %224 = broadcast %223 : tile<1x1xi64> -> tile<32x128xi64>
  %225 = muli %217, %224 : tile<32x128xi64>
  %226 = exti %138 signed : tile<i32> -> tile<i64>
  %227 = reshape %226 : tile<i64> -> tile<1x1xi64>
  %228 = broadcast %227 : tile<1x1xi64> -> tile<32x128xi64>
  %229 = exti %141 signed : tile<i32> -> tile<i64>
  %230 = reshape %229 : tile<i64> -> tile<1x1xi64>
  %231 = broadcast %230 : tile<1x1xi64> -> tile<32x128xi64>
  %232 = exti %214 signed : tile<1x128xi32> -> tile<1x128xi64>
  %233 = broadcast %232 : tile<1x128xi64> -> tile<32x128xi64>
  %234 = exti %139 signed : tile<i32> -> tile<i64>
  %235 = reshape %234 : tile<i64> -> tile<1x1xi64>
  %236 = broadcast %235 : tile<1x1xi64> -> tile<32x128xi64>
  %237 = cmpi less_than %233, %236, unsigned : tile<32x128xi64> -> tile<32x128xi1>
  %238 = muli %233, %94 : tile<32x128xi64>
  %239 = reshape %77 : tile<ptr<f32>> -> tile<1x1xptr<f32>>
  %240 = broadcast %239 : tile<1x1xptr<f32>> -> tile<32x128xptr<f32>>
  %241:3 = for %242 in (%185 to %186, step %187) : tile<i32> iter_values(%243 = %176, %244 = %177, %245 = %60) -> (tile<64x128xf32>, tile<64x128xf32>, token) {
    %246, %247 = load_view_tko weak %189[%164, %242, %188] token = %60 : partition_view<tile=(1x32x128), padding_value = zero, tensor_view<?x?x?xbf16, strides=[?,?,1]>>, tile<i32> -> tile<1x32x128xbf16>, token
    %248 = reshape %246 : tile<1x32x128xbf16> -> tile<32x128xbf16>
    %249, %250 = load_view_tko weak %191[%164, %242, %190] token = %60 : partition_view<tile=(1x32x128), padding_value = zero, tensor_view<?x?x?xbf16, strides=[?,?,1]>>, tile<i32> -> tile<1x32x128xbf16>, token
    %251 = reshape %249 : tile<1x32x128xbf16> -> tile<32x128xbf16>
    %252, %253 = load_view_tko weak %192[%164, %242] token = %60 : partition_view<tile=(1x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x32xf32>, token
    %254 = reshape %252 : tile<1x32xf32> -> tile<32x1xf32>
    %255, %256 = load_view_tko weak %193[%164, %242] token = %60 : partition_view<tile=(1x32), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>, tile<i32> -> tile<1x32xf32>, token
    %257 = reshape %255 : tile<1x32xf32> -> tile<32x1xf32>
    %258 = muli %242, %158 : tile<i32>
    %259 = reshape %258 : tile<i32> -> tile<1x1xi32>
    %260 = broadcast %259 : tile<1x1xi32> -> tile<32x1xi32>
    %261 = addi %260, %195 : tile<32x1xi32>
    %262 = mmaf %248, %196, %197 : tile<32x128xbf16>, tile<128x64xbf16>, tile<32x64xf32>
    %263 = broadcast %254 : tile<32x1xf32> -> tile<32x64xf32>
    %264 = negf %263 : tile<32x64xf32>
    %265 = fma %262, %201, %264 : tile<32x64xf32>
    %266 = exp2 %265 : tile<32x64xf32>
    %267 = cmpi less_than %261, %203, signed : tile<32x1xi32> -> tile<32x1xi1>
    %268 = broadcast %261 : tile<32x1xi32> -> tile<32x64xi32>
    %269 = cmpi less_than_or_equal %204, %268, signed : tile<32x64xi32> -> tile<32x64xi1>
    %270 = broadcast %267 : tile<32x1xi1> -> tile<32x64xi1>
    %271 = andi %270, %269 : tile<32x64xi1>
    %272 = select %271, %266, %207 : tile<32x64xi1>, tile<32x64xf32>
    %273 = ftof %272 : tile<32x64xf32> -> tile<32x64xbf16>
    %274 = permute %273 [1, 0] : tile<32x64xbf16> -> tile<64x32xbf16>
    %275 = mmaf %274, %251, %244 : tile<64x32xbf16>, tile<32x128xbf16>, tile<64x128xf32>
    %276 = mmaf %251, %208, %209 : tile<32x128xbf16>, tile<128x64xbf16>, tile<32x64xf32>
    %277 = broadcast %257 : tile<32x1xf32> -> tile<32x64xf32>
    %278 = subf %276, %277 : tile<32x64xf32>
    %279 = mulf %272, %278 : tile<32x64xf32>
    %280 = mulf %279, %211 : tile<32x64xf32>
    %281 = ftof %280 : tile<32x64xf32> -> tile<32x64xbf16>
    %282 = permute %281 [1, 0] : tile<32x64xbf16> -> tile<64x32xbf16>
    %283 = mmaf %282, %248, %243 : tile<64x32xbf16>, tile<32x128xbf16>, tile<64x128xf32>
    %284 = mmaf %281, %170, %212 : tile<32x64xbf16>, tile<64x128xbf16>, tile<32x128xf32>
    %285 = exti %261 signed : tile<32x1xi32> -> tile<32x1xi64>
    %286 = broadcast %285 : tile<32x1xi64> -> tile<32x128xi64>
    %287 = cmpi less_than %286, %228, unsigned : tile<32x128xi64> -> tile<32x128xi1>
    %288 = andi %221, %287 : tile<32x128xi1>
    %289 = muli %286, %231 : tile<32x128xi64>
    %290 = addi %225, %289 : tile<32x128xi64>
    %291 = andi %288, %237 : tile<32x128xi1>
    %292 = addi %290, %238 : tile<32x128xi64>
    %293 = offset %240, %292 : tile<32x128xptr<f32>>, tile<32x128xi64> -> tile<32x128xptr<f32>>
    %294, %295 = atomic_rmw_tko relaxed device %293, addf, %284, %291 token=%245 : tile<32x128xptr<f32>>, tile<32x128xf32>, tile<32x128xi1> -> tile<32x128xf32>, token
    continue %283, %275, %295 : tile<64x128xf32>, tile<64x128xf32>, token
  }
  %296 = constant <i32: 0> : tile<i32>
  %297 = reshape %241#0 : tile<64x128xf32> -> tile<1x64x128xf32>
  %298 = ftof %297 : tile<1x64x128xf32> -> tile<1x64x128xbf16>
  %299 = make_partition_view %149 : partition_view<tile=(1x64x128), tensor_view<?x?x?xbf16, strides=[?,?,1]>>
  %300 = store_view_tko weak %298, %299[%164, %160, %296] token = %60 : tile<1x64x128xbf16>, partition_view<tile=(1x64x128), tensor_view<?x?x?xbf16, strides=[?,?,1]>>, tile<i32> -> token
  %301 = constant <i32: 0> : tile<i32>
  %302 = reshape %241#1 : tile<64x128xf32> -> tile<1x64x128xf32>
  %303 = ftof %302 : tile<1x64x128xf32> -> tile<1x64x128xbf16>
  %304 = make_partition_view %157 : partition_view<tile=(1x64x128), tensor_view<?x?x?xbf16, strides=[?,?,1]>>
  %305 = store_view_tko weak %303, %304[%164, %160, %301] token = %60 : tile<1x64x128xbf16>, partition_view<tile=(1x64x128), tensor_view<?x?x?xbf16, strides=[?,?,1]>>, tile<i32> -> token
  return
}
