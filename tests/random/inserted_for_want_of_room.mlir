// grid: 3,1,1
// arg: buffer i32 1 whole 0 1 seed 0
// arg: buffer f64 12288 uniform -1 1 seed 0
// arg: buffer f64 2048 uniform -1 1 seed 0
// arg: buffer i32 3072 whole 0 15 seed 0
// arg: buffer i32 6144 whole 7 7 seed 0
// arg: buffer f64 130037 whole 7 7 seed 0 within 2.8421709430404007e-13
entry @main(%a18: tile<ptr<i32>>, %a19: tile<ptr<f64>>, %a20: tile<ptr<f64>>, %a21: tile<ptr<i32>>, %a22: tile<ptr<i32>>, %a24: tile<ptr<f64>>) {
  %bx, %by, %bz = get_tile_block_id : tile<i32>
  %22 = constant <i32: 0> : tile<i32>
  %23 = iota : tile<2048xi32>
  %24 = reshape %23 : tile<2048xi32> -> tile<32x64xi32>
  %25 = constant <i32: 2048> : tile<i32>
  %26 = muli %22, %25 : tile<i32>
  %27 = reshape %26 : tile<i32> -> tile<1x1xi32>
  %28 = broadcast %27 : tile<1x1xi32> -> tile<32x64xi32>
  %29 = addi %24, %28 : tile<32x64xi32>
  %137 = constant <f64: 0.0> : tile<2x128x64xf64>
  %138 = constant <i32: 0> : tile<i32>
  %139 = constant <i32: 0> : tile<i32>
  %140 = offset %a18, %139 : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %141, %142 = load_ptr_tko weak %140 : tile<ptr<i32>> -> tile<i32>, token
  %143 = constant <i32: 1> : tile<i32>
  %144 = mini %141, %143 signed : tile<i32>
  %147 = constant <i32: 1> : tile<i32>
  %148 = for %145 in (%138 to %144, step %147) : tile<i32> iter_values(%146 = %137) -> (tile<2x128x64xf64>) {
    %149 = constant <i32: 0> : tile<i32>
    %150 = make_tensor_view %a19, shape = [2, 384, 16], strides = [6144, 16, 1] : tensor_view<2x384x16xf64, strides=[6144,16,1]>
    %151 = make_partition_view %150 : partition_view<tile=(2x128x16), padding_value = zero, tensor_view<2x384x16xf64, strides=[6144,16,1]>>
    %152, %153 = load_view_tko weak %151[%149, %bx, %145] : partition_view<tile=(2x128x16), padding_value = zero, tensor_view<2x384x16xf64, strides=[6144,16,1]>>, tile<i32> -> tile<2x128x16xf64>, token
    %154 = constant <i32: 0> : tile<i32>
    %155 = make_tensor_view %a20, shape = [2, 16, 64], strides = [1024, 64, 1] : tensor_view<2x16x64xf64, strides=[1024,64,1]>
    %156 = make_partition_view %155 : partition_view<tile=(2x16x64), padding_value = zero, tensor_view<2x16x64xf64, strides=[1024,64,1]>>
    %157, %158 = load_view_tko weak %156[%154, %145, %by] : partition_view<tile=(2x16x64), padding_value = zero, tensor_view<2x16x64xf64, strides=[1024,64,1]>>, tile<i32> -> tile<2x16x64xf64>, token
    %160 = mmaf %152, %157, %146 : tile<2x128x16xf64>, tile<2x16x64xf64>, tile<2x128x64xf64>
    continue %160 : tile<2x128x64xf64>
  }
  %161 = constant <i32: 0> : tile<i32>
  %162 = constant <i32: 0> : tile<i32>
  %163 = constant <i32: 0> : tile<i32>
  %164 = make_tensor_view %a21, shape = [16, 192], strides = [192, 1] : tensor_view<16x192xi32, strides=[192,1]>
  %165 = make_partition_view %164 : partition_view<tile=(16x64), padding_value = zero, tensor_view<16x192xi32, strides=[192,1]>>
  %166, %167 = load_view_tko weak %165[%163, %bx] : partition_view<tile=(16x64), padding_value = zero, tensor_view<16x192xi32, strides=[192,1]>>, tile<i32> -> tile<16x64xi32>, token
  %168 = insert %166, %29[%161, %162] : tile<16x64xi32>, tile<32x64xi32>
  %170 = iota : tile<2048xi32>
  %171 = reshape %170 : tile<2048xi32> -> tile<32x64xi32>
  %172 = constant <i32: 2048> : tile<i32>
  %173 = muli %bx, %172 : tile<i32>
  %174 = reshape %173 : tile<i32> -> tile<1x1xi32>
  %175 = broadcast %174 : tile<1x1xi32> -> tile<32x64xi32>
  %176 = addi %171, %175 : tile<32x64xi32>
  %177 = reshape %a22 : tile<ptr<i32>> -> tile<1x1xptr<i32>>
  %178 = broadcast %177 : tile<1x1xptr<i32>> -> tile<32x64xptr<i32>>
  %179 = offset %178, %176 : tile<32x64xptr<i32>>, tile<32x64xi32> -> tile<32x64xptr<i32>>
  %180 = store_ptr_tko weak %179, %168 : tile<32x64xptr<i32>>, tile<32x64xi32> -> token
  %187 = constant <i32: 0> : tile<i32>
  %188 = constant <i32: 0> : tile<i32>
  %189 = make_tensor_view %a24, shape = [5, 127, 64], strides = [1, 16, 2032] : tensor_view<5x127x64xf64, strides=[1,16,2032]>
  %190 = make_partition_view %189 : partition_view<tile=(2x128x64), tensor_view<5x127x64xf64, strides=[1,16,2032]>>
  %191 = store_view_tko weak %148, %190[%bx, %187, %188] : tile<2x128x64xf64>, partition_view<tile=(2x128x64), tensor_view<5x127x64xf64, strides=[1,16,2032]>>, tile<i32> -> token
  return
}
