//! Memory, barriers and copies: accesses, offsets and masks count up to the registers moved.

use super::super::Ctx;
use crate::dialect::enums::Space;
use crate::dialect::nvvm::view::{self, View};
use crate::ir::{Attr, Op, Type, ValueId};
use crate::verify::{Check, ensure};

/// Hardware barriers of a block (PTX ISA, "barrier").
const BARRIERS: i64 = 16;

/// Where accesses go: the parts that their operations share.
struct Accesses<'m> {
    /// Addresses of each access, or one, and what they are called.
    addresses: &'m [(&'static str, Option<ValueId>)],
    offsets: &'m [i64],
}

macro_rules! accesses {
    ($v:expr) => {
        Accesses {
            addresses: &[("addresses", Some($v.addr())), ("masks", $v.mask())],
            offsets: $v.offsets(),
        }
    };
}

pub fn check(c: &Ctx, view: &View<Op>) -> Check {
    match view {
        View::Ld(v) => {
            access(c, &accesses!(v), v.vec(), v.result())?;
            space(c, v.addr(), v.space())?;
            other(c, v.other(), v.result())
        }
        View::MultimemLoad(v) => {
            access(c, &accesses!(v), v.vec(), v.result())?;
            multimem(c, v.addr(), v.vec(), v.result())?;
            other(c, v.other(), v.result())
        }
        View::St(v) => {
            access(c, &accesses!(v), v.vec(), v.value())?;
            space(c, v.addr(), v.space())
        }
        View::MultimemReduce(v) => {
            access(c, &accesses!(v), v.vec(), v.value())?;
            multimem(c, v.addr(), v.vec(), v.value())
        }
        View::MultimemStore(v) => {
            access(c, &accesses!(v), v.vec(), v.value())?;
            multimem(c, v.addr(), v.vec(), v.value())
        }
        View::RedAdd(v) => {
            access(c, &accesses!(v), v.vec(), v.value())?;
            space(c, v.addr(), Space::Global)
        }
        View::AtomicRmw(v) => {
            space(c, v.addr(), v.space())?;
            let operands = [Some(v.value()), v.other()];
            atomic(c, &accesses!(v), &operands, v.result())
        }
        View::AtomicCas(v) => {
            space(c, v.addr(), v.space())?;
            let operands = [Some(v.value()), Some(v.compare()), v.other()];
            atomic(c, &accesses!(v), &operands, v.result())
        }
        View::CpAsync(v) => copy(c, v),
        View::LdMatrix(v) => {
            ensure(!v.bytes() || v.trans() && v.num() <= 2, || {
                format!("{} matrices of bytes, transposed: {}", v.num(), v.trans())
            })?;
            let words = v.num() * (1 + i64::from(v.bytes()));
            matrices(c, v.addr(), v.offsets(), [v.num(), words], v.result())
        }
        View::StMatrix(v) => matrices(c, v.addr(), v.offsets(), [v.num(); 2], v.value()),
        View::Bar(v) => barrier(v.id(), v.threads()),
        View::BarArrive(v) => barrier(v.id(), v.threads()),
        View::MbarInit(v) => ensure(v.count() > 0, || "an mbarrier of no arrivals".into()),
        View::TmaLoad(v) => coordinates(v.coords()),
        View::TmaMulticast(v) => coordinates(v.coords()),
        View::TmaPair(v) => coordinates(v.coords()),
        View::TmaStore(v) => coordinates(v.coords()),
        View::SetMaxNReg(v) => registers(v.count()),
        View::PtrAdd(v) => offset(c, v.base(), v.offset()),
        View::Lop3(v) => ensure((0..256).contains(&v.table()), || {
            format!("the table {} has more than 8 bits", v.table())
        }),
        View::Global(v) => global(v),
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

impl Accesses<'_> {
    /// How many there are.
    fn count(&self, c: &Ctx) -> Result<usize, String> {
        let n = self.offsets.len();
        for &(what, value) in self.addresses {
            if let Some(v) = value {
                per_access(c, what, v, n)?;
            }
        }
        Ok(n)
    }
}

fn access(c: &Ctx, accesses: &Accesses, vec: i64, value: ValueId) -> Check {
    let n = accesses.count(c)?;
    let moved = usize::try_from(vec).unwrap_or(0) * n;
    ensure(vec > 0 && moved == c.regs(value), || {
        format!("{n} accesses of {vec} elements for {}", c.text(value))
    })?;
    let bytes = vec * i64::from(c.bits(value).div_ceil(8));
    ensure(bytes <= 16, || {
        format!("{bytes} bytes are more than one access can move")
    })
}

/// What a load gives where it is masked off.
fn other(c: &Ctx, other: Option<ValueId>, result: ValueId) -> Check {
    match other {
        Some(other) => c.same_type("'other' and the result", other, result),
        None => Ok(()),
    }
}

/// An access to a multicast address, which is global, moves at least 32 bits (PTX ISA, "multimem").
fn multimem(c: &Ctx, address: ValueId, vec: i64, value: ValueId) -> Check {
    space(c, address, Space::Global)?;
    let bits = vec * i64::from(c.bits(value));
    ensure(bits >= 32, || format!("a multimem access of {bits} bits"))
}

/// The space is that of the address.
fn space(c: &Ctx, address: ValueId, space: Space) -> Check {
    let shared = matches!(c.elem(address), Type::SharedPtr);
    ensure(shared == (space == Space::Shared), || {
        format!("the space is not that of {}", c.text(address))
    })
}

fn atomic(c: &Ctx, accesses: &Accesses, operands: &[Option<ValueId>], result: ValueId) -> Check {
    let n = accesses.count(c)?;
    ensure(n == c.regs(result), || {
        format!("{n} accesses for {}", c.text(result))
    })?;
    for &operand in operands.iter().flatten() {
        c.same_type("operand and result", operand, result)?;
    }
    Ok(())
}

/// `cp.async` moves 4, 8 or 16 bytes (PTX ISA, "cp.async").
fn copy(c: &Ctx, v: &view::CpAsync<Op>) -> Check {
    ensure(matches!(v.bytes(), 4 | 8 | 16), || {
        format!("copies of {} bytes", v.bytes())
    })?;
    let (to, from) = (v.dst_offsets().len(), v.src_offsets().len());
    ensure(to == from, || {
        format!("{from} sources for {to} destinations")
    })?;
    let copies = Accesses {
        addresses: &[
            ("destinations", Some(v.dst())),
            ("sources", Some(v.src())),
            ("sizes", v.read()),
            ("masks", v.mask()),
        ],
        offsets: v.dst_offsets(),
    };
    copies.count(c).map(|_| ())
}

/// `num` and `words`: the matrices of an access, and how many registers of 32 bits a thread holds of them: one of an 8x8
/// matrix, two of 16x16 bytes.
fn matrices(
    c: &Ctx,
    address: ValueId,
    offsets: &[i64],
    [num, words]: [i64; 2],
    value: ValueId,
) -> Check {
    let n = offsets.len();
    per_access(c, "addresses", address, n)?;
    let bits = 32 * n as u64 * u64::try_from(words).unwrap_or(0);
    let held = u64::from(c.bits(value)) * c.regs(value) as u64;
    ensure(matches!(num, 1 | 2 | 4) && bits == held, || {
        format!("{n} accesses of {num} matrices for {}", c.text(value))
    })
}

fn barrier(id: i64, threads: i64) -> Check {
    ensure((0..BARRIERS).contains(&id), || {
        format!("barrier {id} of {BARRIERS}")
    })?;
    ensure(threads >= 0 && threads % 32 == 0, || {
        format!("{threads} threads are no whole warps")
    })
}

fn coordinates(coords: &[ValueId]) -> Check {
    let n = coords.len();
    ensure((1..=5).contains(&n), || format!("{n} coordinates"))
}

/// PTX ISA, "setmaxnreg": a multiple of 8 from 24 to 256.
fn registers(n: i64) -> Check {
    ensure((24..=256).contains(&n) && n % 8 == 0, || {
        format!("{n} registers")
    })
}

/// Offsets are as wide as the address.
fn offset(c: &Ctx, base: ValueId, offset: ValueId) -> Check {
    ensure(c.bits(base) == c.bits(offset), || {
        format!("{} is added to {}", c.text(offset), c.text(base))
    })
}

fn global(v: &view::Global<Op>) -> Check {
    let n = v.alignment();
    ensure(n > 0 && n.count_ones() == 1, || format!("aligned to {n}"))?;
    ensure(matches!(v.value(), Attr::Dense { .. }), || {
        "a global without bytes".into()
    })
}
