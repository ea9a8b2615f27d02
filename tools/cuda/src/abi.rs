//! Structures of `cuda.h` 13.5, as they lie in memory.

use std::ffi::c_void;

/// `CUlaunchConfig`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct LaunchConfig {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub stream: u64,
    pub attributes: *const LaunchAttribute,
    pub attribute_count: u32,
}

/// `CUlaunchAttribute`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct LaunchAttribute {
    pub id: i32,
    pub padding: [u8; 4],
    /// a union; its members begin with these words
    pub value: [u32; 16],
}

impl LaunchAttribute {
    /// `CU_LAUNCH_ATTRIBUTE_COOPERATIVE`
    pub const COOPERATIVE: i32 = 2;
    /// `CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION`
    pub const CLUSTER: i32 = 4;
    /// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT`
    pub const PROGRAMMATIC_EVENT: i32 = 7;
    /// `CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT`
    pub const COMPLETION_EVENT: i32 = 12;

    /// The pointer that the union begins with.
    pub fn handle(&self) -> u64 {
        u64::from(self.value[0]) | u64::from(self.value[1]) << 32
    }
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`; its first version ends before `kernel`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct KernelNode {
    pub function: u64,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub params: *const *const c_void,
    pub extra: *const *const c_void,
    pub kernel: u64,
    pub context: u64,
}

/// `CUDA_MEMSET_NODE_PARAMS`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct FillNode {
    pub to: u64,
    pub pitch: u64,
    pub value: u32,
    pub size: u32,
    pub width: u64,
    pub height: u64,
}

/// One side of `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Side2 {
    pub x: u64,
    pub y: u64,
    pub kind: i32,
    pub host: u64,
    pub device: u64,
    pub array: u64,
    pub pitch: u64,
}

/// `CUDA_MEMCPY2D`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Copy2 {
    pub from: Side2,
    pub to: Side2,
    pub width: u64,
    pub height: u64,
}

/// One side of `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Side3 {
    pub x: u64,
    pub y: u64,
    pub z: u64,
    pub level: u64,
    pub kind: i32,
    pub host: u64,
    pub device: u64,
    pub array: u64,
    pub reserved: u64,
    pub pitch: u64,
    pub height: u64,
}

/// `CUDA_MEMCPY3D`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Copy3 {
    pub from: Side3,
    pub to: Side3,
    pub width: u64,
    pub height: u64,
    pub depth: u64,
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS_v1`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct AllocateNode {
    pub pool: [u64; 11],
    pub access: u64,
    pub access_count: u64,
    pub bytes: u64,
    pub address: u64,
}

/// `CUDA_HOST_NODE_PARAMS`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct HostNode {
    pub function: Option<extern "C" fn(*mut c_void)>,
    pub data: *mut c_void,
}

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct InstantiateParams {
    pub flags: u64,
    pub stream: u64,
    pub failed_node: u64,
    pub result: i32,
}

/// `CUipcMemHandle`, `CUipcEventHandle`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct IpcHandle {
    pub words: [u64; 8],
}

/// `CUuuid`
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Uuid {
    pub bytes: [u8; 16],
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a C compiler lays out the structures of `cuda.h` 13.5; `tests/c_program.rs` compiles against the header itself.
    #[test]
    fn sizes() {
        assert_eq!(size_of::<LaunchConfig>(), 56);
        assert_eq!(size_of::<LaunchAttribute>(), 72);
        assert_eq!(size_of::<KernelNode>(), 72);
        assert_eq!(size_of::<FillNode>(), 40);
        assert_eq!(size_of::<Copy2>(), 128);
        assert_eq!(size_of::<Copy3>(), 200);
        assert_eq!(size_of::<AllocateNode>(), 120);
        assert_eq!(size_of::<InstantiateParams>(), 32);
        assert_eq!(size_of::<IpcHandle>(), 64);
    }
}
