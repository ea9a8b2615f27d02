//! Events and streams, as far as they are not the driver's own.

use crate::context::enter;
use crate::driver;

export! {
    cudaEventCreate(to: *mut u64) {
        enter()?;
        driver::cuEventCreate(to, 0)
    }

    cudaStreamCreate(to: *mut u64) {
        enter()?;
        driver::cuStreamCreate(to, 0)
    }
}
