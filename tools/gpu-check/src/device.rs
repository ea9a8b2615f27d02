//! A launch of the simulator on a GPU.

use crate::driver::{Driver, DriverError, Memory, Parameter, Shape};
use ptxsim::{Arg, Launch};
use std::time::{Duration, Instant};

/// What a launch left.
pub struct Outcome {
    /// the buffers afterwards, in the launch's order
    pub buffers: Vec<Vec<u8>>,
    /// from the launch to the end of the kernel, on the host's clock
    pub time: Duration,
}

/// Runs a launch on the GPU, from machine code if there is any.
pub fn run(
    driver: &Driver,
    ptx: &str,
    code: Option<&[u8]>,
    launch: &Launch<'_>,
) -> Result<Outcome, DriverError> {
    let (given, wanted) = (launch.args.len(), launch.program.params.len());
    if given != wanted {
        let message = format!("{given} arguments for {wanted} parameters");
        return Err(DriverError::Launch(message));
    }
    let kernel = driver.load(ptx, code, &launch.program.entry)?;
    let memory: Vec<Memory<'_>> = launch
        .buffers
        .iter()
        .map(|b| driver.upload(&b.bytes))
        .collect::<Result<_, _>>()?;
    let addresses: Vec<u64> = memory.iter().map(|m| m.address).collect();
    let mut parameters: Vec<Parameter> = launch
        .args
        .iter()
        .map(|arg| parameter(driver, arg, &addresses))
        .collect::<Result<_, _>>()?;
    let shape = Shape {
        grid: launch.grid,
        block: launch.block,
        cluster: launch.cluster,
        shared: launch.dynamic_shared,
        cooperative: launch.cooperative,
    };
    let start = Instant::now();
    driver.run(&kernel, shape, &mut parameters)?;
    let time = start.elapsed();
    let buffers = memory.iter().map(Memory::read).collect::<Result<_, _>>()?;
    Ok(Outcome { buffers, time })
}

fn parameter(driver: &Driver, arg: &Arg, addresses: &[u64]) -> Result<Parameter, DriverError> {
    match arg {
        Arg::Scalar(bytes) => Parameter::new(bytes),
        Arg::Buffer { index, offset } => {
            let missing = || DriverError::Launch(format!("buffer {index} does not exist"));
            let address = addresses.get(*index).ok_or_else(missing)? + offset;
            Parameter::new(&address.to_le_bytes())
        }
        Arg::TensorMap(map) => Parameter::new(&driver.encode(map, addresses)?),
    }
}
