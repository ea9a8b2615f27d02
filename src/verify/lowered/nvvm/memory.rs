//! Memory, barriers and copies: accesses, offsets and masks count up to the registers moved.

use super::super::Ctx;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Type, ValueId};
use crate::verify::{Check, ensure};

/// Hardware barriers of a block (PTX ISA, "barrier").
const BARRIERS: i64 = 16;

pub fn check(c: &Ctx, kind: N) -> Check {
    match kind {
        N::Ld | N::MultimemLoad => {
            let result = c.op.results[0];
            access(c, result)?;
            if kind == N::MultimemLoad {
                words(c, result)?;
            }
            match c.operand("other") {
                Some(other) => c.same_type("'other' and the result", other, result),
                None => Ok(()),
            }
        }
        N::St => access(c, c.op.operands[1]),
        N::MultimemReduce | N::MultimemStore => {
            access(c, c.op.operands[1])?;
            words(c, c.op.operands[1])
        }
        N::AtomicRmw | N::AtomicCas => atomic(c),
        N::CpAsync => copy(c),
        N::LdMatrix => matrices(c, c.op.results[0]),
        N::StMatrix => matrices(c, c.op.operands[1]),
        N::Bar | N::BarArrive => barrier(c),
        N::MbarInit => ensure(c.int("count") > 0, || "an mbarrier of no arrivals".into()),
        N::TmaLoad | N::TmaMulticast | N::TmaPair | N::TmaStore => coordinates(c),
        N::SetMaxNReg => registers(c),
        N::PtrAdd => offset(c),
        N::Lop3 => ensure((0..256).contains(&c.int("table")), || {
            format!("the table {} has more than 8 bits", c.int("table"))
        }),
        N::Global => global(c),
        _ => Ok(()),
    }
}

/// One address, or one for each access; one mask, or one for each access.
fn per_access(c: &Ctx, what: &str, value: ValueId, accesses: usize) -> Check {
    let n = c.regs(value);
    ensure(n == 1 || n == accesses, || {
        format!("{n} {what} for {accesses} accesses")
    })
}

fn accesses(c: &Ctx, offsets: &str) -> Result<usize, String> {
    let n = c.ints(offsets).len();
    for (what, name) in [("addresses", "addr"), ("masks", "mask")] {
        if let Some(v) = c.operand(name) {
            per_access(c, what, v, n)?;
        }
    }
    Ok(n)
}

fn access(c: &Ctx, value: ValueId) -> Check {
    let (n, vec) = (accesses(c, "offsets")?, c.int("vec"));
    let moved = usize::try_from(vec).unwrap_or(0) * n;
    ensure(vec > 0 && moved == c.regs(value), || {
        format!("{n} accesses of {vec} elements for {}", c.text(value))
    })?;
    let bytes = vec * i64::from(c.bits(value).div_ceil(8));
    ensure(bytes <= 16, || {
        format!("{bytes} bytes are more than one access can move")
    })?;
    space(c)
}

/// An access to a multicast address moves at least 32 bits (PTX ISA, "multimem").
fn words(c: &Ctx, value: ValueId) -> Check {
    let bits = c.int("vec") * i64::from(c.bits(value));
    ensure(bits >= 32, || format!("a multimem access of {bits} bits"))
}

/// The space is that of the address.
fn space(c: &Ctx) -> Check {
    let address = c.op.operands[0];
    let shared = matches!(c.elem(address), Type::SharedPtr);
    let space = c.op.enum_named("space").unwrap_or(0);
    ensure(shared == (space == 1), || {
        format!("the space is not that of {}", c.text(address))
    })
}

fn atomic(c: &Ctx) -> Check {
    space(c)?;
    let (n, result) = (accesses(c, "offsets")?, c.op.results[0]);
    ensure(n == c.regs(result), || {
        format!("{n} accesses for {}", c.text(result))
    })?;
    for name in ["value", "compare", "other"] {
        if let Some(v) = c.operand(name) {
            c.same_type("operand and result", v, result)?;
        }
    }
    Ok(())
}

/// `cp.async` moves 4, 8 or 16 bytes (PTX ISA, "cp.async").
fn copy(c: &Ctx) -> Check {
    ensure(matches!(c.int("bytes"), 4 | 8 | 16), || {
        format!("copies of {} bytes", c.int("bytes"))
    })?;
    let (to, from) = (c.ints("dst_offsets").len(), c.ints("src_offsets").len());
    ensure(to == from, || {
        format!("{from} sources for {to} destinations")
    })?;
    for (what, name) in [
        ("destinations", "dst"),
        ("sources", "src"),
        ("sizes", "read"),
        ("masks", "mask"),
    ] {
        if let Some(v) = c.operand(name) {
            per_access(c, what, v, to)?;
        }
    }
    Ok(())
}

/// A thread holds 32 bits of each 8x8 matrix.
fn matrices(c: &Ctx, value: ValueId) -> Check {
    let (n, num) = (accesses(c, "offsets")?, c.int("num"));
    let bits = 32 * n as u64 * u64::try_from(num).unwrap_or(0);
    let held = u64::from(c.bits(value)) * c.regs(value) as u64;
    ensure(matches!(num, 1 | 2 | 4) && bits == held, || {
        format!("{n} accesses of {num} matrices for {}", c.text(value))
    })
}

fn barrier(c: &Ctx) -> Check {
    let (id, threads) = (c.int("id"), c.int("threads"));
    ensure((0..BARRIERS).contains(&id), || {
        format!("barrier {id} of {BARRIERS}")
    })?;
    ensure(threads >= 0 && threads % 32 == 0, || {
        format!("{threads} threads are no whole warps")
    })
}

fn coordinates(c: &Ctx) -> Check {
    let n = c.group("coords").len();
    ensure((1..=5).contains(&n), || format!("{n} coordinates"))
}

/// PTX ISA, "setmaxnreg": a multiple of 8 from 24 to 256.
fn registers(c: &Ctx) -> Check {
    let n = c.int("count");
    ensure((24..=256).contains(&n) && n % 8 == 0, || {
        format!("{n} registers")
    })
}

/// Offsets are as wide as the address.
fn offset(c: &Ctx) -> Check {
    let (base, offset) = (c.op.operands[0], c.op.operands[1]);
    ensure(c.bits(base) == c.bits(offset), || {
        format!("{} is added to {}", c.text(offset), c.text(base))
    })
}

fn global(c: &Ctx) -> Check {
    let n = c.int("alignment");
    ensure(n > 0 && n.count_ones() == 1, || format!("aligned to {n}"))?;
    ensure(
        matches!(c.op.attr_named("value"), Some(Attr::Dense { .. })),
        || "a global without bytes".into(),
    )
}
