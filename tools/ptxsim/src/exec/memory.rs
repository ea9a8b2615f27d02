//! Addresses to places, places to bytes; and loads.

use super::env::Env;
use super::fault::Trap;
use super::global::Region;
use super::stats::Direction;
use super::warp::{ACCUMULATOR, Warp};
use crate::check::global::Handover;
use crate::exec::access::GlobalUse;
use crate::exec::frame::Frame;
use crate::num::int::{mask, sign_extend};
use crate::program::inst::{Address, Reg, Space, Src};
use crate::program::types::Ty;
use crate::program::{LANES, Row, VECTOR, lanes, window};

/// A place in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// global or constant memory, by address
    Global(u64),
    /// shared memory of a block of this cluster
    Shared {
        /// rank within the cluster
        cta: usize,
        /// offset
        offset: u64,
    },
    /// the lane's local memory
    Local(u64),
    /// entry parameters
    Param(u64),
    /// call parameters of the lane
    CallParam(u64),
}

impl Place {
    /// The place so many bytes behind this one.
    pub fn behind(self, bytes: u64) -> Place {
        match self {
            Place::Global(address) => Place::Global(address.wrapping_add(bytes)),
            Place::Shared { cta, offset } => Place::Shared {
                cta,
                offset: offset.wrapping_add(bytes),
            },
            Place::Local(offset) => Place::Local(offset.wrapping_add(bytes)),
            Place::Param(offset) => Place::Param(offset.wrapping_add(bytes)),
            Place::CallParam(offset) => Place::CallParam(offset.wrapping_add(bytes)),
        }
    }
}

/// A shared-window offset (with a cluster rank in its upper bits, or none for the own block).
pub fn shared_place(
    env: &Env<'_>,
    own: usize,
    offset: u64,
    whole_cluster: bool,
) -> Result<Place, Trap> {
    let offset = offset & 0xffff_ffff;
    let rank = offset >> window::RANK_SHIFT;
    let inner = offset & ((1 << window::RANK_SHIFT) - 1);
    let cta = match rank {
        0 => own,
        r => r as usize - 1,
    };
    if cta >= env.ctas.len() {
        return Err(Trap::new(format!(
            "shared address {offset:#x} names block {cta} of a cluster of {}",
            env.ctas.len()
        )));
    }
    if cta != own && !whole_cluster {
        return Err(Trap::new(format!(
            "address {offset:#x} lies in the shared memory of block {cta} of the cluster; this needs .shared::cluster"
        )));
    }
    Ok(Place::Shared { cta, offset: inner })
}

/// The place of an address in a state space.
#[inline]
pub fn place(env: &Env<'_>, warp: &Warp, space: Space, address: u64) -> Result<Place, Trap> {
    match space {
        Space::Global => match address {
            // A generic address of another space in a .global access is a common mistake with one clear cause.
            a if (window::SHARED..window::LOCAL + window::SIZE).contains(&a) => Err(Trap::new(
                format!("address {a:#x} is not global: it lies in the shared or local window"),
            )),
            a => Ok(Place::Global(a)),
        },
        Space::Shared => shared_place(env, warp.cta, address, false),
        Space::SharedCluster => shared_place(env, warp.cta, address, true),
        Space::Local => Ok(Place::Local(address & 0xffff_ffff)),
        Space::Const => Ok(Place::Global(address)),
        Space::Param => Ok(Place::Param(address.wrapping_sub(window::PARAM))),
        Space::CallParam => Ok(Place::CallParam(address)),
        Space::Generic => match address {
            a if (window::SHARED..window::SHARED + window::SIZE).contains(&a) => {
                shared_place(env, warp.cta, a - window::SHARED, true)
            }
            a if (window::LOCAL..window::LOCAL + window::SIZE).contains(&a) => {
                Ok(Place::Local(a - window::LOCAL))
            }
            a if (window::PARAM_GENERIC..window::PARAM_GENERIC + window::CONST).contains(&a) => Ok(
                Place::Param((a - window::PARAM_GENERIC).wrapping_sub(window::PARAM)),
            ),
            a if (window::PARAM..window::CONST).contains(&a) => Err(Trap::new(format!(
                "address {a:#x} is one in .param, not a generic one: cvta.param makes it one"
            ))),
            a => Ok(Place::Global(a)),
        },
    }
}

fn small<'b>(bytes: &'b [u8], offset: u64, size: u32, what: &str) -> Result<&'b [u8], Trap> {
    let slice = usize::try_from(offset)
        .ok()
        .and_then(|o| bytes.get(o..o.checked_add(size as usize)?));
    slice.ok_or_else(|| outside(what, offset, size, bytes.len()))
}

/// The number that up to 8 bytes are.
#[inline]
pub fn word(bytes: &[u8]) -> u64 {
    // A copy whose length is known is a plain load.
    match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => bytes
            .iter()
            .rev()
            .fold(0, |word, &b| word << 8 | u64::from(b)),
    }
}

fn outside(what: &str, offset: u64, size: u32, len: usize) -> Trap {
    Trap::new(format!(
        "access of {size} bytes at offset {offset:#x} is outside the {len} bytes of {what}"
    ))
}

/// Message for an access outside a block's shared memory.
pub fn shared_outside(env: &Env<'_>, offset: u64, size: u64, len: usize) -> Trap {
    let last = env
        .shared
        .program
        .shared_names
        .iter()
        .filter(|(_, at, _)| u64::from(*at) <= offset)
        .max_by_key(|(_, at, _)| *at);
    let near = last.map_or(String::new(), |(name, at, bytes)| {
        format!("; the variable before it is `{name}` ({bytes} bytes at {at:#x})")
    });
    Trap::new(format!(
        "shared access of {size} bytes at {offset:#x} is out of bounds: shared memory runs from {:#x} to {len:#x} \
         (dynamic shared memory is what the launch gives){near}",
        window::SHARED_BASE
    ))
}

/// Reads up to 8 bytes.
#[inline]
pub fn read(
    env: &mut Env<'_>,
    warp: &mut Warp,
    lane: usize,
    place: Place,
    size: u32,
) -> Result<u64, Trap> {
    let mut value = 0;
    read_each(env, warp, lane, place, size, 1, &mut |_, word| value = word)?;
    Ok(value)
}

/// Reads `count` neighbours of `size` bytes, up to 8, each, and hands them to `each` with their numbers. They are
/// located and checked as one access.
#[inline]
fn read_each(
    env: &mut Env<'_>,
    warp: &mut Warp,
    lane: usize,
    place: Place,
    size: u32,
    count: u32,
    each: &mut dyn FnMut(usize, u64),
) -> Result<(), Trap> {
    let total = size * count;
    let bytes = match place {
        Place::Global(address) => {
            let global = &env.shared.global;
            let (region, offset) = global.locate(address, total.into(), &mut warp.hint)?;
            for i in 0..count {
                each(i as usize, region.load(offset + u64::from(i * size), size));
            }
            return Ok(());
        }
        Place::Shared { cta, offset } => {
            env.before_shared_read(warp, lane, cta, offset, total.into())?;
            &env.ctas[cta].shared[offset as usize..(offset + u64::from(total)) as usize]
        }
        Place::Local(offset) => small(&warp.local[lane], offset, total, "the lane's local memory")?,
        Place::Param(offset) => {
            small(&env.shared.params, offset, total, "the kernel's parameters")?
        }
        Place::CallParam(offset) => small(&warp.params[lane], offset, total, "call parameters")?,
    };
    let words = bytes.chunks_exact(size as usize);
    words
        .enumerate()
        .for_each(|(i, bytes)| each(i, word(bytes)));
    Ok(())
}

/// True if memory holds `value` in a moment, because a block on another thread of the host has announced its store and
/// not yet done it.
fn becomes(region: &Region, offset: u64, size: u32, value: u64) -> bool {
    (0..20).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        region.load(offset, size) == value
    })
}

/// Writes up to 8 bytes.
#[inline]
pub fn write(
    env: &mut Env<'_>,
    warp: &mut Warp,
    lane: usize,
    place: Place,
    size: u32,
    value: u64,
) -> Result<(), Trap> {
    let value = value & mask(8 * size);
    let put = |bytes: &mut [u8], offset: u64, what: &str| {
        let len = bytes.len();
        let slice = usize::try_from(offset)
            .ok()
            .and_then(|o| bytes.get_mut(o..o.checked_add(size as usize)?));
        match slice {
            Some(slice) => {
                slice.copy_from_slice(&value.to_le_bytes()[..size as usize]);
                Ok(())
            }
            None => Err(outside(what, offset, size, len)),
        }
    };
    match place {
        Place::Global(address) => {
            let (region, offset) =
                env.shared
                    .global
                    .locate(address, size.into(), &mut warp.hint)?;
            if region.read_only {
                return Err(Trap::new(format!(
                    "write to constant variable `{}`",
                    region.name
                )));
            }
            if !env.strong {
                // Layouts with copies of an element make warps write the same value to the same place.
                let how = GlobalUse {
                    store: true,
                    same: u32::from(region.load(offset, size) == value),
                    agent: None,
                };
                let same = GlobalUse { same: 1, ..how };
                match env.check_global_bytes(warp, address, size.into(), how) {
                    // Another block may be about to store the same.
                    Err(_) if how.same == 0 && becomes(region, offset, size, value) => {
                        env.check_global_bytes(warp, address, size.into(), same)?;
                    }
                    found => found?,
                }
                region.store(offset, size, value);
                return Ok(());
            }
            let how = GlobalUse {
                store: true,
                ..GlobalUse::default()
            };
            env.check_global_bytes(warp, address, size.into(), how)?;
            let handover = Handover {
                load: false,
                store: true,
                ordered: env.ordered,
            };
            let _place = env.strong_global(warp, address, handover);
            region.store(offset, size, value);
            Ok(())
        }
        Place::Shared { cta, offset } => {
            let bytes = &value.to_le_bytes()[..size as usize];
            env.write_shared(warp, lane, cta, offset, bytes)
        }
        Place::Local(offset) => put(&mut warp.local[lane], offset, "the lane's local memory"),
        Place::CallParam(offset) => put(&mut warp.params[lane], offset, "call parameters"),
        Place::Param(_) => Err(Trap::new("the kernel's parameters are read-only")),
    }
}

impl Warp {
    /// The row of a source, after checking that `active` lanes have been written.
    #[inline]
    pub fn source(&self, env: &Env<'_>, frame: Frame, src: Src, active: u32) -> Result<Row, Trap> {
        match src {
            Src::Const(index) => Ok(env.shared.program.constants[index as usize]),
            Src::Reg(row) => {
                let row = (frame.rows + row) as usize;
                if self.defined[row] & active != active && env.shared.checks.uninitialised {
                    return Err(undefined(active & !self.defined[row]));
                }
                if self.any_in_flight && self.in_flight[row] & ACCUMULATOR != 0 {
                    return Err(self.touch_trap());
                }
                Ok(self.regs[row])
            }
        }
    }

    /// Writes the active lanes of a register.
    #[inline]
    pub fn set(&mut self, frame: Frame, reg: Reg, active: u32, value: &Row) {
        let row = (frame.rows + reg.0) as usize;
        self.defined[row] |= active;
        self.written_at[row] = self.steps;
        self.touched |= self.any_in_flight && self.in_flight[row] != 0;
        if active == u32::MAX {
            self.regs[row] = *value;
            return;
        }
        let target = &mut self.regs[row];
        for lane in 0..LANES {
            if active >> lane & 1 == 1 {
                target[lane] = value[lane];
            }
        }
    }
}

/// The trap for reading registers that nothing wrote.
pub fn undefined(lanes: u32) -> Trap {
    Trap::lane(
        lanes.trailing_zeros() as usize,
        "reads a register that nothing has written on this path; initialise it before the branch that skips its definition",
    )
}

/// Addresses of the active lanes.
pub fn addresses(
    env: &Env<'_>,
    warp: &Warp,
    frame: Frame,
    address: &Address,
    active: u32,
) -> Result<Row, Trap> {
    let mut row = warp.source(env, frame, address.base, active)?;
    let mut add = address.offset as u64;
    if address.in_frame {
        add = add.wrapping_add(
            if address.space == Space::Local {
                frame.local
            } else {
                frame.params
            }
            .into(),
        );
    }
    row.iter_mut().for_each(|a| *a = a.wrapping_add(add));
    Ok(row)
}

/// Refuses an address that is no multiple of `bytes`, a power of two.
pub fn check_alignment(address: u64, bytes: u32) -> Result<(), Trap> {
    if address & (u64::from(bytes) - 1) == 0 {
        return Ok(());
    }
    Err(Trap::new(format!(
        "address {address:#x} is misaligned: this access needs a multiple of {bytes}"
    )))
}

/// `ld`
#[allow(clippy::too_many_arguments)]
pub fn load(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    dsts: &[Option<Reg>],
    address: &Address,
    ty: Ty,
    extend_to: u32,
) -> Result<(), Trap> {
    let base = addresses(env, warp, frame, address, active)?;
    let (size, total) = (ty.bytes(), ty.bytes() * dsts.len() as u32);
    let checked = env.shared.races.is_some()
        && lanes(active).next().is_some_and(|first| {
            matches!(
                place(env, warp, address.space, base[first]),
                Ok(Place::Global(_))
            )
        });
    if checked {
        env.check_global(warp, &base, active, total.into(), GlobalUse::default())?;
    }
    let mut rows = [[0u64; LANES]; VECTOR];
    let extend = ty.is_signed() && extend_to > ty.bits();
    env.count_access(warp, address.space, &base, total, active, Direction::Load);
    for lane in lanes(active) {
        let at = base[lane];
        let mut set = |i: usize, value| {
            rows[i][lane] = if extend {
                sign_extend(value, ty.bits()) as u64 & mask(extend_to)
            } else {
                value
            };
        };
        let count = dsts.len() as u32;
        check_alignment(at, total)
            .and_then(|()| place(env, warp, address.space, at))
            .and_then(|place| read_each(env, warp, lane, place, size, count, &mut set))
            .map_err(|t| t.at(lane))?;
    }
    if checked && env.strong {
        // After the loads: what has been seen has been handed on.
        let handover = Handover {
            load: true,
            store: false,
            ordered: env.ordered,
        };
        for lane in lanes(active) {
            env.strong_global(warp, base[lane], handover);
        }
    }
    for (dst, row) in dsts.iter().zip(&rows) {
        if let Some(reg) = dst {
            warp.set(frame, *reg, active, row);
        }
    }
    Ok(())
}
