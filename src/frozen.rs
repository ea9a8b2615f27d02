//! Constants of a shipped Tile IR assembler that its describers call frozen.
//!
//! `tilec` emits PTX of its own and needs few of them; they are kept here, each with what it is
//! for, so that tools which compare against that assembler have one place to ask. Source: the
//! notes on wire-format constants, layers 5 to 10.

/// Data layout of every NVPTX64 LLVM module; address space 3 (shared) has 32-bit pointers.
pub const DATA_LAYOUT: &str = "e-p:64:64:64-p3:32:32:32-i1:8:8-i8:8:8-i16:16:16-i32:32:32-\
    i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64";

/// Producer in the bitcode's identification block.
pub const BITCODE_PRODUCER: &str = "LLVM21.0.0git";
/// Third line of the PTX header comment.
pub const PTX_HEADER_PRODUCER: &str = "Based on LLVM 21.0.0git";
/// Name under which a module reaches libNVVM.
pub const LIBNVVM_MODULE_NAME: &str = "mlir-input";

/// Opcodes of the typed proxy registers (i16, i32, i64, f32/f64): one contiguous range.
pub const PROXY_REGISTERS: std::ops::RangeInclusive<u16> = 3156..=3159;

/// Whether a machine opcode is a proxy register.
pub fn is_proxy_register(opcode: u16) -> bool {
    PROXY_REGISTERS.contains(&opcode)
}

/// Selection of fused multiply-add by flush-to-zero mode.
pub mod ftz {
    /// FMA that flushes subnormals.
    pub const FMA_FTZ: u16 = 0x65;
    /// Wrapper of the IEEE FMA.
    pub const FMA_NON_FTZ: u16 = 0xF7;
    /// Node flag that permits the flushing form whatever the function says.
    pub const AUTHORIZE_FLAG: u16 = 0x40;
    /// Inner multiply-add of the flushing chain.
    pub const FMAD: u16 = 0x63;
    /// Wrapper instruction of the IEEE path.
    pub const INST_WRAPPER: u16 = 0xD2;
    pub const COPY_TO_REG: u16 = 0x11;
    pub const MUL_ADD_F32: u16 = 207;
    pub const MUL_ADD_F64: u16 = 208;

    /// The opcode chosen for an FMA node with these flags in a function of this mode.
    pub fn select(flags: u16, function_flushes: bool) -> u16 {
        match flags & AUTHORIZE_FLAG != 0 || function_flushes {
            true => FMA_FTZ,
            false => FMA_NON_FTZ,
        }
    }
}

/// Gates of the packed-float conversion. `tilec` itself asks `isel/ptx.insn`, which has what the PTX ISA
/// says and `ptxas` accepts: two of these conversions exist since `sm_89`.
pub mod cvt_packfloat {
    /// `sm_90`, times ten.
    pub const SM_FLOOR: u32 = 0x384;
    /// PTX 7.7, although the message says 78.
    pub const PTX_FLOOR: u32 = 0x4D;
    /// Architecture number of the sm_100a forms (UE8M0x2, fp6x2, fp4x2).
    pub const SM_100A: u32 = 0xA0;
    /// Minor number of the family-conditional target.
    pub const SM_100F_MINOR: u32 = 0xF;
    /// Place of the `tmem` byte in the subtarget's feature array.
    pub const TMEM_FEATURE: usize = 80;
    /// The first gate's words, its spelling and its number included.
    pub const GATE_ONE: &str = "cvt_packfloat intrinsic needs atleast SM90 and PTX >= 78";

    /// The first gate.
    ///
    /// # Errors
    /// [`GATE_ONE`] when the target is too old.
    pub fn gate_one(sm_times_ten: u32, ptx: u32) -> Result<(), &'static str> {
        match sm_times_ten >= SM_FLOOR && ptx >= PTX_FLOOR {
            true => Ok(()),
            false => Err(GATE_ONE),
        }
    }
}

/// The cipher of the mnemonic pools: byte `i` is combined with `3·i` modulo 256. Its own inverse.
pub fn xor3(data: &mut [u8]) {
    let mut key = 0u8;
    for byte in data {
        *byte ^= key;
        key = key.wrapping_add(3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_as_long_as_stated_for_its_text() {
        assert!(DATA_LAYOUT.starts_with("e-p:64:64:64-p3:32:32:32-"));
        assert!(DATA_LAYOUT.ends_with("-n16:32:64"));
        assert!(!DATA_LAYOUT.contains(' '));
        assert_eq!(DATA_LAYOUT.len(), 0x9A);
    }

    #[test]
    fn the_cipher_undoes_itself() {
        let plain: Vec<u8> = b"setmaxregister".repeat(20);
        let mut data = plain.clone();
        xor3(&mut data);
        // By the definition: key 3·i mod 256.
        assert!(
            data.iter()
                .zip(&plain)
                .enumerate()
                .all(|(i, (c, p))| *c == p ^ (3 * i % 256) as u8)
        );
        xor3(&mut data);
        assert_eq!(data, plain);
    }

    #[test]
    fn gates_and_ranges() {
        assert_eq!(cvt_packfloat::gate_one(900, 77), Ok(()));
        assert_eq!(
            cvt_packfloat::gate_one(890, 80),
            Err(cvt_packfloat::GATE_ONE)
        );
        assert_eq!(
            cvt_packfloat::gate_one(900, 76),
            Err(cvt_packfloat::GATE_ONE)
        );
        assert!((3156..3160).all(is_proxy_register) && !is_proxy_register(3155));
        assert_eq!(ftz::select(0x240, false), ftz::FMA_FTZ);
        assert_eq!(ftz::select(0x200, false), ftz::FMA_NON_FTZ);
    }
}
