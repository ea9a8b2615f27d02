//! Addresses of a distributed tile in memory.
//!
//! With a register layout L and a memory layout S of the same tile, the offset
//! `S⁻¹ ∘ L` of a place is linear: the xor of one constant per bit of the thread's
//! number and of the register's. Register bits whose constants stay clear of all bits
//! that a thread can set become immediates, since there xor is addition; only the
//! remainder (a swizzle at work) costs an xor of the thread's base.

use super::gf2::{Matrix, low_mask, ones};
use super::shared::SharedLayout;
use super::{In, Layout, LayoutError};

/// How the threads of a block reach their elements of a tile in memory.
///
/// The byte offset of the access is
/// `(xor of base for the bits of tid set) ^ group.xor + access.offset`.
/// Where a buffer's address is folded into the thread's base before the xor, it must be
/// aligned to [`AccessPlan::xor_alignment`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessPlan {
    /// Byte offsets to xor for each bit of the thread's number (lane, then warp) that
    /// matters: (bit of tid, offset).
    pub thread_base: Vec<(u32, u64)>,
    /// Accesses by the constant with which the thread's base is xor-ed, 0 first.
    pub groups: Vec<XorGroup>,
    /// Elements of one access.
    pub vector_elems: u64,
    /// Bits of one access.
    pub vector_bits: u32,
    /// Registers that repeat another: (register, the one in `groups` that holds the same).
    pub copies: Vec<(u32, u32)>,
    /// Bits of tid that only repeat elements: a store is needed only where they are all 0.
    pub redundant_tid: u64,
    /// Bytes to whose multiple the buffer must be aligned for xor on whole addresses.
    pub xor_alignment: u64,
}

/// Accesses that share one xor-ed thread base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XorGroup {
    /// Byte offset to xor to the thread's base.
    pub xor: u64,
    /// The accesses, by ascending offset.
    pub accesses: Vec<Access>,
}

/// One vector access of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Byte offset to add (an immediate).
    pub offset: u64,
    /// The registers read or written, lowest address first.
    pub registers: Vec<u32>,
}

impl AccessPlan {
    /// The accesses of all groups with their xor constants.
    pub fn accesses(&self) -> impl Iterator<Item = (u64, &Access)> {
        self.groups
            .iter()
            .flat_map(|g| g.accesses.iter().map(move |a| (g.xor, a)))
    }

    /// Memory instructions per thread.
    pub fn instructions(&self) -> usize {
        self.groups.iter().map(|g| g.accesses.len()).sum()
    }

    /// The thread's base for thread `tid`.
    pub fn thread_offset(&self, tid: u64) -> u64 {
        offset_of(&self.thread_base, tid)
    }
}

/// What the bits of a thread's number that are set contribute to an offset.
pub(super) fn offset_of(by_bit: &[(u32, u64)], tid: u64) -> u64 {
    let set = by_bit.iter().filter(|(bit, _)| tid >> bit & 1 == 1);
    set.fold(0, |offset, (_, part)| offset ^ part)
}

/// The plan for reading or writing `distributed` in `shared` with accesses of at most
/// `max_bits` bits. Errors if an element is under a byte and threads split bytes.
pub fn plan(
    distributed: &Layout,
    shared: &SharedLayout,
    max_bits: u32,
) -> Result<AccessPlan, LayoutError> {
    let offsets = Offsets::new(distributed, shared)?;
    let vector_elems = offsets.max_vector(max_bits / shared.element_bits());
    let vector_bits = vector_elems * shared.element_bits();
    if vector_bits < 8 {
        return Err(LayoutError::Unsupported(format!(
            "threads split a byte of {}-bit elements: {distributed}",
            shared.element_bits()
        )));
    }
    let bytes = |elems: u64| elems * u64::from(shared.element_bits()) / 8;
    let (free_registers, redundant_tid) = redundant(distributed);
    let (chosen, copies) = offsets.registers(free_registers);
    let thread_mask = offsets.thread.columns().iter().fold(0, |m, c| m | c);
    let vectors = chosen
        .chunks(vector_elems as usize)
        .map(|v| (v[0].0, v.iter().map(|c| c.1).collect()));
    Ok(AccessPlan {
        thread_base: offsets
            .thread
            .columns()
            .iter()
            .enumerate()
            .filter(|(_, c)| **c != 0)
            .map(|(bit, &c)| (bit as u32, bytes(c)))
            .collect(),
        groups: group_by_xor(vectors, thread_mask, bytes),
        vector_elems: u64::from(vector_elems),
        vector_bits,
        copies,
        redundant_tid,
        xor_alignment: bytes(thread_mask).checked_ilog2().map_or(1, |top| 2 << top),
    })
}

/// Element offsets by bits of the register number and of tid.
pub(super) struct Offsets {
    pub(super) register: Matrix,
    pub(super) thread: Matrix,
}

impl Offsets {
    pub(super) fn new(distributed: &Layout, shared: &SharedLayout) -> Result<Offsets, LayoutError> {
        Ok(Offsets::of(distributed, &shared.offsets_from(distributed)?))
    }

    /// From the offsets of all places of `distributed`.
    pub(super) fn of(distributed: &Layout, all: &Matrix) -> Offsets {
        let registers = distributed.in_bits(In::Register);
        let threads = distributed.in_bits(In::Lane) + distributed.in_bits(In::Warp);
        Offsets {
            register: all.columns_range(0, registers),
            thread: all.columns_range(registers, registers + threads),
        }
    }

    /// Most elements of an access, up to `max_elems`.
    pub(super) fn max_vector(&self, max_elems: u32) -> u32 {
        let span = self.register.image();
        let element = |n: u32| {
            let low = low_mask(n);
            (0..n).all(|i| span.contains(1 << i))
                && self.thread.columns().iter().all(|c| c & low == 0)
        };
        let limit = max_elems.max(1).ilog2().min(self.register.rows());
        1 << (0..=limit).rev().find(|&n| element(n)).unwrap_or(0)
    }

    /// (offset, register) by ascending offset, without the registers that repeat
    /// others, and (repeating register, the one that stands for it).
    #[allow(clippy::type_complexity)]
    fn registers(&self, free: u64) -> (Vec<(u64, u32)>, Vec<(u32, u32)>) {
        let mut chosen: Vec<(u64, u32)> = (0..1u64 << self.register.cols())
            .filter(|r| r & free == 0)
            .map(|r| (self.register.apply(r), r as u32))
            .collect();
        chosen.sort_unstable();
        let copies = (0..1u64 << self.register.cols())
            .filter(|r| r & free != 0)
            .filter_map(|r| {
                let at = chosen
                    .binary_search_by_key(&self.register.apply(r), |c| c.0)
                    .ok()?;
                Some((r as u32, chosen[at].1))
            })
            .collect();
        (chosen, copies)
    }
}

/// Groups accesses, given as (element offset, registers), by the part of their offset
/// that meets bits a thread can set.
pub(super) fn group_by_xor(
    accesses: impl Iterator<Item = (u64, Vec<u32>)>,
    thread_mask: u64,
    bytes: impl Fn(u64) -> u64,
) -> Vec<XorGroup> {
    let mut groups: std::collections::BTreeMap<u64, Vec<Access>> = Default::default();
    for (offset, registers) in accesses {
        let access = Access {
            offset: bytes(offset & !thread_mask),
            registers,
        };
        groups.entry(offset & thread_mask).or_default().push(access);
    }
    let group = |(xor, accesses)| XorGroup {
        xor: bytes(xor),
        accesses,
    };
    groups.into_iter().map(group).collect()
}

/// Redundant register bits, and redundant bits of tid.
fn redundant(distributed: &Layout) -> (u64, u64) {
    let free = distributed.free_variable_masks();
    let tid = free[In::Lane as usize] | free[In::Warp as usize] << distributed.in_bits(In::Lane);
    (free[In::Register as usize], tid)
}

/// The coordinate along one dimension of a thread's elements, split like an address:
/// `(xor of base for the bits of tid set) ^ xor + add`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoordPlan {
    /// Coordinates to xor for each bit of tid that matters: (bit of tid, coordinate).
    pub thread_base: Vec<(u32, u64)>,
    /// For each register, (xor, add).
    pub registers: Vec<(u64, u64)>,
}

/// How each thread computes the coordinates along `dim` of its elements.
pub fn coordinates(distributed: &Layout, dim: usize) -> Result<CoordPlan, LayoutError> {
    distributed.shape().check_dim(dim)?;
    let coord = |flat: u64| distributed.shape().coord(flat, dim);
    let thread: Vec<u64> = [In::Lane, In::Warp]
        .iter()
        .flat_map(|&i| distributed.bases(i))
        .map(|&f| coord(f))
        .collect();
    let mask = thread.iter().fold(0, |m, c| m | c);
    let of_register = |r: u64| {
        let c = ones(r).fold(0, |acc, i| {
            acc ^ coord(distributed.bases(In::Register)[i as usize])
        });
        (c & mask, c & !mask)
    };
    Ok(CoordPlan {
        thread_base: (0..).zip(thread).filter(|(_, c)| *c != 0).collect(),
        registers: (0..distributed.registers()).map(of_register).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Shape;
    use super::super::blocked::Blocked;
    use super::super::fixtures::mma_sync;
    use super::super::mma::{MatmulShape, Wgmma};
    use super::super::shared::Swizzle;
    use super::*;

    /// Follows the plan thread by thread and finds every element where the layouts say.
    fn check(l: &Layout, s: &SharedLayout, max_bits: u32) -> AccessPlan {
        let p = plan(l, s, max_bits).unwrap();
        let bytes = u64::from(s.element_bits()) / 8;
        let mut seen = vec![0; l.registers() as usize];
        for tid in 0..32 * l.warps() {
            for (xor, access) in p.accesses() {
                let address = (p.thread_offset(tid) ^ xor) + access.offset;
                assert_eq!(
                    address % (u64::from(p.vector_bits) / 8),
                    0,
                    "unaligned vector"
                );
                assert_eq!(access.registers.len() as u64, p.vector_elems);
                for (i, &r) in (0..).zip(&access.registers) {
                    let at = l.coords(u64::from(r), tid % 32, tid / 32);
                    assert_eq!(
                        s.byte_offset(&at),
                        address + i * bytes,
                        "register {r} of thread {tid}"
                    );
                    seen[r as usize] += u32::from(tid == 0);
                }
            }
            for &(copy, of) in &p.copies {
                assert_eq!(
                    l.flat(copy.into(), tid % 32, tid / 32),
                    l.flat(of.into(), tid % 32, tid / 32)
                );
                seen[copy as usize] += u32::from(tid == 0);
            }
        }
        assert!(seen.iter().all(|&n| n == 1), "every register once");
        assert_eq!(p.groups.first().map(|g| g.xor), Some(0));
        p
    }

    fn f16_a() -> Layout {
        mma_sync(16, 16).a().unwrap()
    }

    #[test]
    fn plans_reach_the_elements() {
        let shape = Shape::new(&[64, 64]).unwrap();
        let blocked = |order: &[usize], max_vector| {
            let b = Blocked {
                shape: shape.clone(),
                order: order.to_vec(),
                max_vector,
                element_bits: 16,
                warps: 4,
            };
            b.layout().unwrap()
        };
        let wgmma = Wgmma {
            tile: MatmulShape {
                m: 64,
                n: 64,
                k: 64,
            },
            element_bits: 16,
            warpgroups_m: 1,
            warpgroups_n: 1,
            paired: false,
        };
        let layouts = [
            blocked(&[1, 0], 8),
            blocked(&[0, 1], 4),
            blocked(&[1, 0], 1),
            f16_a(),
            wgmma.accumulator().unwrap(),
        ];
        for l in &layouts {
            for order in [[1, 0], [0, 1]] {
                for swizzle in [Swizzle::None, Swizzle::B32, Swizzle::B64, Swizzle::B128] {
                    for bits in [16, 32] {
                        check(
                            l,
                            &SharedLayout::strips(&shape, &order, bits, swizzle).unwrap(),
                            128,
                        );
                    }
                }
                check(
                    l,
                    &SharedLayout::swizzled(&shape, &order, 16, 8, 1, 8).unwrap(),
                    64,
                );
            }
        }
    }

    #[test]
    fn swizzled_row_vectors_need_no_xor() {
        // 8 lanes across a row of 128 bytes: each register step moves whole rows by 16.
        let shape = Shape::new(&[64, 64]).unwrap();
        let b = Blocked {
            shape: shape.clone(),
            order: vec![1, 0],
            max_vector: 8,
            element_bits: 16,
            warps: 4,
        };
        let s = SharedLayout::strips(&shape, &[1, 0], 16, Swizzle::B128).unwrap();
        let p = check(&b.layout().unwrap(), &s, 128);
        assert_eq!(
            (
                p.vector_elems,
                p.vector_bits,
                p.groups.len(),
                p.instructions()
            ),
            (8, 128, 1, 4)
        );
        let offsets: Vec<u64> = p.groups[0].accesses.iter().map(|a| a.offset).collect();
        assert_eq!(offsets, [0, 2048, 4096, 6144]);
    }

    #[test]
    fn fragments_in_swizzled_rows_need_one_xor_per_chunk() {
        let s = SharedLayout::strips(&Shape::new(&[64, 64]).unwrap(), &[1, 0], 16, Swizzle::B128)
            .unwrap();
        let p = check(&f16_a(), &s, 128);
        assert_eq!((p.vector_bits, p.groups.len()), (32, 8));
        assert_eq!(
            p.groups.iter().map(|g| g.xor).collect::<Vec<_>>(),
            (0..8).map(|i| i * 16).collect::<Vec<_>>()
        );
        assert_eq!(p.redundant_tid, 1 << 6);
    }

    #[test]
    fn narrow_accesses_reach_every_element() {
        let shape = Shape::new(&[64, 64]).unwrap();
        let b = Blocked {
            shape: shape.clone(),
            order: vec![1, 0],
            max_vector: 8,
            element_bits: 16,
            warps: 4,
        };
        let s = SharedLayout::strips(&shape, &[1, 0], 16, Swizzle::B128).unwrap();
        for bits in [16, 32, 64] {
            let p = check(&b.layout().unwrap(), &s, bits);
            assert_eq!((p.vector_bits, p.groups.len()), (bits, 1));
        }
    }

    #[test]
    fn repeated_registers_are_copied() {
        let shape = Shape::new(&[64]).unwrap();
        let l =
            Layout::distributed(shape.clone(), vec![0, 1], vec![2, 4, 8, 16, 32], vec![]).unwrap();
        let p = check(&l, &SharedLayout::row_major(&shape, &[0], 32).unwrap(), 128);
        assert_eq!(p.copies, [(1, 0), (3, 2)]);
        assert_eq!(p.vector_elems, 2);
    }

    #[test]
    fn nibbles_come_in_whole_bytes_or_not_at_all() {
        let shape = Shape::new(&[64]).unwrap();
        let s = SharedLayout::row_major(&shape, &[0], 4).unwrap();
        let pair =
            Layout::distributed(shape.clone(), vec![1], vec![2, 4, 8, 16, 32], vec![]).unwrap();
        assert_eq!(plan(&pair, &s, 128).unwrap().vector_bits, 8);
        let single = Layout::distributed(shape, vec![32], vec![1, 2, 4, 8, 16], vec![]).unwrap();
        assert!(
            plan(&single, &s, 128)
                .unwrap_err()
                .to_string()
                .contains("split a byte")
        );
    }

    #[test]
    fn coordinates_of_all_elements() {
        let l = f16_a();
        for dim in 0..2 {
            let p = coordinates(&l, dim).unwrap();
            for tid in 0..128u64 {
                let base = p
                    .thread_base
                    .iter()
                    .filter(|(b, _)| tid >> b & 1 == 1)
                    .fold(0, |a, (_, c)| a ^ c);
                for (r, (xor, add)) in (0..).zip(&p.registers) {
                    assert_eq!((base ^ xor) + add, l.coords(r, tid % 32, tid / 32)[dim]);
                }
            }
            assert!(
                p.registers.iter().all(|r| r.0 == 0),
                "fragment coordinates need no xor"
            );
        }
    }
}
