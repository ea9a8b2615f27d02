"""Every operation, a target each: integers, floats, functions, conversions, views, pointers, atomics, products."""

from tile_build import cases

cases("ops_integer", "sm_80", "addi muli mulhii divi maxi xori cmpi")
cases("ops_integer", "sm_90", "subi negi absi remi mini andi ori shifts")
cases("ops_convert", "sm_120", "exti trunci pack")
cases("ops_float", "sm_80", "addf mulf fma remf minf absf ceil cmpf")
cases("ops_float", "sm_120", "subf divf sqrt maxf negf floor")
# tan and fpowi: tileiras is less exact than the corpus asks for.
cases("ops_math", "sm_80", "exp2 log2 sin sinh tanh pow")
cases("ops_math", "sm_90", "exp log cos cosh rsqrt atan2")
cases("ops_shape", "sm_90", "iota")
cases("ops_view", "sm_80 sm_120", "view_attributes view_shapes strided gather_scatter")
cases("ops_view", "sm_120", "four_bits")
cases("ops_pointer", "sm_90 sm_120", "orderings addresses tokens")
cases("ops_atomic", "sm_90 sm_120", "rmw red_view")
cases("ops_atomic", "sm_80 sm_90", "orderings masked cas")
cases("ops_mma", "sm_90 sm_120", "mmaf")
cases("ops_mma", "sm_80 sm_90 sm_120", "mmai")
