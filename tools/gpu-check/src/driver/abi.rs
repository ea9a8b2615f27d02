//! Types and constants of `cuda.h` that the calls here need. The tests' driver is compiled with NVIDIA's header and
//! would understand no other.

use std::ffi::{c_int, c_uint, c_void};

/// `CUdeviceptr`
pub type Address = u64;

/// `CUlaunchAttribute`: an id and a union of 64 bytes.
#[repr(C, align(8))]
pub struct LaunchAttribute {
    id: c_uint,
    pad: [u8; 4],
    value: [c_uint; 16],
}

impl LaunchAttribute {
    /// Blocks per cluster.
    pub fn cluster(dims: [u32; 3]) -> LaunchAttribute {
        let mut value = [0; 16];
        value[..3].copy_from_slice(&dims);
        LaunchAttribute {
            id: CLUSTER_DIMENSION,
            pad: [0; 4],
            value,
        }
    }

    /// All blocks at once.
    pub fn cooperative() -> LaunchAttribute {
        let mut value = [0; 16];
        value[0] = 1;
        LaunchAttribute {
            id: COOPERATIVE,
            pad: [0; 4],
            value,
        }
    }
}

/// `CUlaunchConfig`
#[repr(C)]
#[allow(missing_docs)]
pub struct LaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared: c_uint,
    pub stream: *mut c_void,
    pub attributes: *mut LaunchAttribute,
    pub count: c_uint,
}

/// `CUtensorMap`
#[repr(C, align(64))]
pub struct OpaqueMap(pub [u8; 128]);

/// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`
pub const COOPERATIVE: c_uint = 2;
/// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
pub const CLUSTER_DIMENSION: c_uint = 4;
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`
pub const COMPUTE_CAPABILITY_MAJOR: c_int = 75;
/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR`
pub const COMPUTE_CAPABILITY_MINOR: c_int = 76;
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
pub const MAX_DYNAMIC_SHARED: c_int = 8;
/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`
pub const NON_PORTABLE_CLUSTER: c_int = 14;
/// `CUDA_ERROR_UNSUPPORTED_PTX_VERSION`
pub const UNSUPPORTED_PTX_VERSION: c_int = 222;

/// `CUtensorMapDataType`, `CUtensorMapInterleave`, `CUtensorMapSwizzle` and `CUtensorMapFloatOOBfill` by name.
pub mod map {
    use ptxsim::tensormap::{Atomicity, Element, Fill, Interleave, Swizzle};

    /// `CU_TENSOR_MAP_DATA_TYPE_…`
    pub const ELEMENTS: &[(Element, u32, &str)] = &[
        (Element::U8, 0, "UINT8"),
        (Element::U16, 1, "UINT16"),
        (Element::U32, 2, "UINT32"),
        (Element::S32, 3, "INT32"),
        (Element::U64, 4, "UINT64"),
        (Element::S64, 5, "INT64"),
        (Element::F16, 6, "FLOAT16"),
        (Element::F32, 7, "FLOAT32"),
        (Element::F64, 8, "FLOAT64"),
        (Element::BF16, 9, "BFLOAT16"),
        (Element::F32Ftz, 10, "FLOAT32_FTZ"),
        (Element::TF32, 11, "TFLOAT32"),
        (Element::TF32Ftz, 12, "TFLOAT32_FTZ"),
    ];
    /// `CU_TENSOR_MAP_INTERLEAVE_…`
    pub const INTERLEAVES: &[(Interleave, u32, &str)] = &[
        (Interleave::None, 0, "NONE"),
        (Interleave::B16, 1, "16B"),
        (Interleave::B32, 2, "32B"),
    ];
    /// `CU_TENSOR_MAP_SWIZZLE_…`
    pub const SWIZZLES: &[((Swizzle, Atomicity), u32, &str)] = &[
        ((Swizzle::None, Atomicity::B16), 0, "NONE"),
        ((Swizzle::B32, Atomicity::B16), 1, "32B"),
        ((Swizzle::B64, Atomicity::B16), 2, "64B"),
        ((Swizzle::B128, Atomicity::B16), 3, "128B"),
        ((Swizzle::B128, Atomicity::B32), 4, "128B_ATOM_32B"),
        (
            (Swizzle::B128, Atomicity::B32Flip8),
            5,
            "128B_ATOM_32B_FLIP_8B",
        ),
        ((Swizzle::B128, Atomicity::B64), 6, "128B_ATOM_64B"),
    ];
    /// `CU_TENSOR_MAP_FLOAT_OOB_FILL_…`
    pub const FILLS: &[(Fill, u32, &str)] = &[
        (Fill::Zero, 0, "NONE"),
        (Fill::Nan, 1, "NAN_REQUEST_ZERO_FMA"),
    ];

    /// The driver's number for one of ours.
    pub fn code<T: PartialEq>(table: &[(T, u32, &str)], ours: &T) -> Option<u32> {
        table.iter().find(|row| row.0 == *ours).map(|row| row.1)
    }
}
