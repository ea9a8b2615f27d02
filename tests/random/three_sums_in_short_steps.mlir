// A loop with three sums, each over tiles of its own, that takes shorter steps along K: all three do.
// grid: 1,1,1
// arg: buffer tf32 4096 uniform -1 1 seed 0
// arg: buffer tf32 4096 uniform -1 1 seed 0
// arg: buffer tf32 4096 uniform -1 1 seed 0
// arg: buffer tf32 4096 uniform -1 1 seed 0
// arg: buffer tf32 4096 uniform -1 1 seed 0
// arg: buffer tf32 4096 uniform -1 1 seed 0
// arg: buffer f32 4096 whole 7 7 seed 0 within 2.0751953125e-3
entry @main(%a2: tile<ptr<tf32>>, %a3: tile<ptr<tf32>>, %a4: tile<ptr<tf32>>, %a5: tile<ptr<tf32>>, %a6: tile<ptr<tf32>>, %a7: tile<ptr<tf32>>, %a8: tile<ptr<f32>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %43 = constant <f32: 0.0> : tile<64x64xf32>
  %44 = constant <f32: 0.0> : tile<64x64xf32>
  %45 = constant <f32: 0.0> : tile<64x64xf32>
  %46 = constant <i32: 0> : tile<i32>
  %47 = constant <i32: 1> : tile<i32>
  %48 = constant <i32: 1> : tile<i32>
  %53:3 = for %49 in (%46 to %47, step %48) : tile<i32> iter_values(%50 = %43, %51 = %44, %52 = %45) -> (tile<64x64xf32>, tile<64x64xf32>, tile<64x64xf32>) {
    %54 = make_tensor_view %a2, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xtf32, strides=[64,1]>
    %55 = make_partition_view %54 : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xtf32, strides=[64,1]>>
    %56, %57 = load_view_tko weak %55[%49, %bx] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xtf32, strides=[64,1]>>, tile<i32> -> tile<64x64xtf32>, token
    %58 = make_tensor_view %a3, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xtf32, strides=[64,1]>
    %59 = make_partition_view %58 : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xtf32, strides=[64,1]>>
    %60, %61 = load_view_tko weak %59[%49, %bx] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xtf32, strides=[64,1]>>, tile<i32> -> tile<64x64xtf32>, token
    %62 = mmaf %56, %60, %50 : tile<64x64xtf32>, tile<64x64xtf32>, tile<64x64xf32>
    %63 = make_tensor_view %a4, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xtf32, strides=[64,1]>
    %64 = make_partition_view %63 : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xtf32, strides=[64,1]>>
    %65, %66 = load_view_tko weak %64[%49, %bx] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xtf32, strides=[64,1]>>, tile<i32> -> tile<64x64xtf32>, token
    %67 = make_tensor_view %a5, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xtf32, strides=[64,1]>
    %68 = make_partition_view %67 : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xtf32, strides=[64,1]>>
    %69, %70 = load_view_tko weak %68[%49, %bx] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xtf32, strides=[64,1]>>, tile<i32> -> tile<64x64xtf32>, token
    %71 = mmaf %65, %69, %51 : tile<64x64xtf32>, tile<64x64xtf32>, tile<64x64xf32>
    %72 = make_tensor_view %a6, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xtf32, strides=[64,1]>
    %73 = make_partition_view %72 : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xtf32, strides=[64,1]>>
    %74, %75 = load_view_tko weak %73[%49, %bx] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xtf32, strides=[64,1]>>, tile<i32> -> tile<64x64xtf32>, token
    %76 = make_tensor_view %a7, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xtf32, strides=[64,1]>
    %77 = make_partition_view %76 : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xtf32, strides=[64,1]>>
    %78, %79 = load_view_tko weak %77[%49, %bx] : partition_view<tile=(64x64), padding_value = zero, tensor_view<64x64xtf32, strides=[64,1]>>, tile<i32> -> tile<64x64xtf32>, token
    %80 = mmaf %74, %78, %52 : tile<64x64xtf32>, tile<64x64xtf32>, tile<64x64xf32>
    continue %62, %71, %80 : tile<64x64xf32>, tile<64x64xf32>, tile<64x64xf32>
  }
  %81 = constant <i32: 0> : tile<i32>
  %82 = constant <i32: 0> : tile<i32>
  %83 = make_tensor_view %a8, shape = [64, 64], strides = [64, 1] : tensor_view<64x64xf32, strides=[64,1]>
  %84 = make_partition_view %83 : partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>
  %85 = store_view_tko weak %53#2, %84[%81, %82] : tile<64x64xf32>, partition_view<tile=(64x64), tensor_view<64x64xf32, strides=[64,1]>>, tile<i32> -> token
  return
}
