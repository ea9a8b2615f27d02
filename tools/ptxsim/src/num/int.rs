//! Integer operations of the ISA that Rust does not have by name (PTX ISA 9.7.1, 9.7.8).

/// The low `bits` bits of `x`, sign-extended.
pub fn sign_extend(x: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    ((x << shift) as i64) >> shift
}

/// All ones in the low `bits` bits.
pub fn mask(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

/// `lop3`: bit `i` of the table is the result for a, b, c = the bits of `i` from high to low.
pub fn lop3(a: u32, b: u32, c: u32, table: u8) -> u32 {
    let mut result = 0;
    for i in 0..8u32 {
        if table >> i & 1 == 1 {
            let pick = |x: u32, want: u32| if want == 1 { x } else { !x };
            result |= pick(a, i >> 2 & 1) & pick(b, i >> 1 & 1) & pick(c, i & 1);
        }
    }
    result
}

/// Modes of `prmt`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prmt {
    /// four selectors of four bits
    Index,
    /// forward four extract
    F4e,
    /// backward four extract
    B4e,
    /// replicate eight
    Rc8,
    /// edge clamp left
    Ecl,
    /// edge clamp right
    Ecr,
    /// replicate sixteen
    Rc16,
}

/// `prmt`: bytes of {b, a} picked by `selector`.
pub fn prmt(a: u32, b: u32, selector: u32, mode: Prmt) -> u32 {
    let source = u64::from(b) << 32 | u64::from(a);
    let s = selector & 3;
    let index = |i: u32| -> u32 {
        match mode {
            Prmt::Index => selector >> (4 * i) & 15,
            Prmt::F4e => s + i,
            Prmt::B4e => (8 + s - i) & 7,
            Prmt::Rc8 => s,
            Prmt::Ecl => i.max(s),
            Prmt::Ecr => i.min(s),
            Prmt::Rc16 => (s & 1) * 2 + (i & 1),
        }
    };
    let mut result = 0;
    for i in 0..4 {
        let pick = index(i);
        let byte = (source >> (8 * (pick & 7))) as u32 & 0xff;
        let byte = if pick & 8 != 0 {
            (byte >> 7) * 0xff
        } else {
            byte
        };
        result |= byte << (8 * i);
    }
    result
}

/// `bfe` on `width`-bit values.
pub fn bfe(a: u64, position: u32, length: u32, width: u32, signed: bool) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    let top = width - 1;
    let sign = if !signed || length == 0 {
        0
    } else {
        a >> (position + length - 1).min(top) & 1
    };
    let mut result = if sign == 1 { mask(width) } else { 0 };
    for i in 0..length.min(width) {
        let bit = if position + i <= top {
            a >> (position + i) & 1
        } else {
            sign
        };
        result = result & !(1 << i) | bit << i;
    }
    result
}

/// `bfi` on `width`-bit values: `a`'s low `length` bits into `b` at `position`.
pub fn bfi(a: u64, b: u64, position: u32, length: u32, width: u32) -> u64 {
    let (position, length) = (position & 0xff, length & 0xff);
    if position >= width || length == 0 {
        return b;
    }
    let field = mask(length.min(width - position)) << position;
    b & !field | a << position & field
}

/// `bfind` on `width`-bit values.
pub fn bfind(a: u64, width: u32, signed: bool, shift_amount: bool) -> u32 {
    let x = if signed && a >> (width - 1) & 1 == 1 {
        !a & mask(width)
    } else {
        a & mask(width)
    };
    if x == 0 {
        return u32::MAX;
    }
    let position = 63 - x.leading_zeros();
    if shift_amount {
        width - 1 - position
    } else {
        position
    }
}

/// `shf.l`/`shf.r` on {b, a}; `wrap` takes the amount modulo 32, otherwise it is clamped to 32.
pub fn shf(a: u32, b: u32, amount: u32, left: bool, wrap: bool) -> u32 {
    let n = if wrap { amount & 31 } else { amount.min(32) };
    let joined = u64::from(b) << 32 | u64::from(a);
    if left {
        (joined << n >> 32) as u32
    } else {
        (joined >> n) as u32
    }
}

/// `fns`: the position of the `offset`-th set bit of `mask` from `base`, or all ones.
pub fn fns(mask: u32, base: u32, offset: i32) -> u32 {
    let base = base & 31;
    if offset == 0 {
        return if mask >> base & 1 == 1 {
            base
        } else {
            u32::MAX
        };
    }
    let step = if offset > 0 { 1i32 } else { -1 };
    let (mut position, mut left) = (base as i32, offset.unsigned_abs());
    while (0..32).contains(&position) {
        if mask >> position & 1 == 1 {
            left -= 1;
            if left == 0 {
                return position as u32;
            }
        }
        position += step;
    }
    u32::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lop3_follows_its_recipe() {
        // PTX ISA 9.7.8.6: the table is F(0xF0, 0xCC, 0xAA).
        let (a, b, c) = (0x1234_5678u32, 0x9abc_def0, 0x0f0f_1234);
        assert_eq!(lop3(a, b, c, 0xf0 & 0xcc & 0xaa), a & b & c);
        assert_eq!(lop3(a, b, c, 0xf0 | 0xcc | 0xaa), a | b | c);
        assert_eq!(lop3(a, b, c, 0xf0 ^ 0xcc ^ 0xaa), a ^ b ^ c);
        assert_eq!(
            lop3(a, b, c, (0xf0 & 0xcc) | (!0xf0 & 0xaa)),
            a & b | !a & c
        );
    }

    #[test]
    fn prmt_modes() {
        // PTX ISA 9.7.9.7
        let (a, b) = (0x3322_1100, 0x7766_5544);
        assert_eq!(prmt(a, b, 0x7531, Prmt::Index), 0x7755_3311);
        assert_eq!(prmt(0x0000_0080, 0, 0x8888, Prmt::Index), 0xffff_ffff);
        assert_eq!(prmt(a, b, 1, Prmt::F4e), 0x4433_2211);
        assert_eq!(prmt(a, b, 1, Prmt::B4e), 0x6677_0011);
        assert_eq!(prmt(a, b, 2, Prmt::Rc8), 0x2222_2222);
        assert_eq!(prmt(a, b, 2, Prmt::Ecl), 0x3322_2222);
        assert_eq!(prmt(a, b, 2, Prmt::Ecr), 0x2222_1100);
        assert_eq!(prmt(a, b, 1, Prmt::Rc16), 0x3322_3322);
    }

    #[test]
    fn bit_fields() {
        assert_eq!(bfe(0xf0, 4, 4, 32, false), 0xf);
        assert_eq!(bfe(0xf0, 4, 4, 32, true), 0xffff_ffff);
        assert_eq!(bfe(0x8000_0000, 31, 8, 32, true), 0xffff_ffff);
        assert_eq!(bfe(0x1234, 0, 0, 32, true), 0);
        assert_eq!(bfe(0x1234, 40, 4, 32, false), 0);
        assert_eq!(bfi(0xff, 0, 28, 8, 32), 0xf000_0000);
        assert_eq!(bfi(0xff, 7, 32, 8, 32), 7);
        assert_eq!(bfind(0, 32, false, false), u32::MAX);
        assert_eq!(bfind(0xffff_fffe, 32, true, false), 0);
        assert_eq!(bfind(1, 32, false, true), 31);
        assert_eq!(shf(0x8000_0001, 0xf, 4, true, true), 0xf8);
        assert_eq!(shf(1, 0xf, 40, false, false), 0xf);
        assert_eq!(fns(0b1010, 0, 2), 3);
        assert_eq!(fns(0b1010, 4, -1), 3);
        assert_eq!(fns(0b1010, 1, 0), 1);
    }
}
