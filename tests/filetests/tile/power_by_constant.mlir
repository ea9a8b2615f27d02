// Squares and reciprocals written as powers are a multiplication and a division, of integer exponents and of float ones; a
// third power stays one.
// run: compile --emit nv_tileaa
// show: mulf | divf | fpowi | fpowf | constant
entry @k(%p: tile<ptr<f32>>, %x: tile<f32>) {
  %two = constant <i32: 2> : tile<i32>
  %minus = constant <i32: -1> : tile<i32>
  %three = constant <i32: 3> : tile<i32>
  %twice = constant <f32: 2.0> : tile<f32>
  %a = fpowi %x, %two : tile<f32>, tile<i32>
  %b = fpowi %a, %minus : tile<f32>, tile<i32>
  %c = fpowi %b, %three : tile<f32>, tile<i32>
  %d = fpowf %c, %twice : tile<f32>
  %t = store_ptr_tko weak %p, %d : tile<ptr<f32>>, tile<f32> -> token
  return
}
