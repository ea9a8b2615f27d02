//! What the fuzz targets share: the checks, the bound on memory, the mutation of modules.

pub mod checks;
pub mod memory;
pub mod mutate;

/// A libFuzzer mutator: mostly of the module that the bytes are, sometimes of the bytes.
pub fn mutator(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> usize {
    if seed % 8 != 0
        && let Some(new) = data
            .get(..size)
            .and_then(|data| mutate::module(data, u64::from(seed)))
        && new.len() <= max_size.min(data.len())
    {
        data[..new.len()].copy_from_slice(&new);
        return new.len();
    }
    libfuzzer_sys::fuzzer_mutate(data, size, max_size)
}
