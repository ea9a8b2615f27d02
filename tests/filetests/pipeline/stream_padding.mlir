// A ring brings zeros from outside of the tensor; what the load pads with takes their place in registers, in rows that the
// loop counts and in columns. The second kernel's tile goes through one stage: two do not fit.
// run: explain --gpu-name sm_90a
// run: compile --emit nv_tileas --gpu-name sm_90a
// show: pipeline of | warp roles | no tensor | no async | kernel k | local_load | select | cmpi | consumer_
entry @kernel_of_few(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [100, 1000], strides = [1000, 1] : tensor_view<100x1000xf32, strides=[1000,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x1024), padding_value = neg_inf, tensor_view<100x1000xf32, strides=[1000,1]>>
  %vb = make_tensor_view %b, shape = [100], strides = [1] : tensor_view<100xf32, strides=[1]>
  %tb = make_partition_view %vb : partition_view<tile=(1), tensor_view<100xf32, strides=[1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 100> : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  for %k in (%i to %n, step %c1) : tile<i32> {
    %l, %t0 = load_view_tko weak %ta[%k, %zero] : partition_view<tile=(1x1024), padding_value = neg_inf, tensor_view<100x1000xf32, strides=[1000,1]>>, tile<i32> -> tile<1x1024xf32>, token
    %s = reduce %l dim=1 identities=[0xFF800000 : f32] : tile<1x1024xf32> -> tile<1xf32>
    (%x: tile<f32>, %y: tile<f32>) {
      %m = maxf %x, %y : tile<f32>
      yield %m : tile<f32>
    }
    %t1 = store_view_tko weak %s, %tb[%k] : tile<1xf32>, partition_view<tile=(1), tensor_view<100xf32, strides=[1]>>, tile<i32> -> token
    continue
  }
  return
}
entry @kernel_of_many(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
  %pa = assume div_by<16>, %a : tile<ptr<f32>>
  %va = make_tensor_view %pa, shape = [100, 32000], strides = [32000, 1] : tensor_view<100x32000xf32, strides=[32000,1]>
  %ta = make_partition_view %va : partition_view<tile=(1x32768), padding_value = neg_inf, tensor_view<100x32000xf32, strides=[32000,1]>>
  %vb = make_tensor_view %b, shape = [100], strides = [1] : tensor_view<100xf32, strides=[1]>
  %tb = make_partition_view %vb : partition_view<tile=(1), tensor_view<100xf32, strides=[1]>>
  %i, %j, %z = get_tile_block_id : tile<i32>
  %c1 = constant <i32: 1> : tile<i32>
  %n = constant <i32: 100> : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  for %k in (%i to %n, step %c1) : tile<i32> {
    %l, %t0 = load_view_tko weak %ta[%k, %zero] : partition_view<tile=(1x32768), padding_value = neg_inf, tensor_view<100x32000xf32, strides=[32000,1]>>, tile<i32> -> tile<1x32768xf32>, token
    %s = reduce %l dim=1 identities=[0xFF800000 : f32] : tile<1x32768xf32> -> tile<1xf32>
    (%x: tile<f32>, %y: tile<f32>) {
      %m = maxf %x, %y : tile<f32>
      yield %m : tile<f32>
    }
    %t1 = store_view_tko weak %s, %tb[%k] : tile<1xf32>, partition_view<tile=(1), tensor_view<100xf32, strides=[1]>>, tile<i32> -> token
    continue
  }
  return
}
