//! Stores.

use super::env::Env;
use super::fault::Trap;
use super::memory::{Place, addresses, check_alignment, place, write};
use super::stats::Direction;
use super::warp::Warp;
use crate::exec::access::GlobalUse;
use crate::exec::frame::Frame;
use crate::num::int::mask;
use crate::program::inst::{Address, Src};
use crate::program::types::Ty;
use crate::program::{LANES, VECTOR, WIDEST, lanes};

/// `st`
pub fn store(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    srcs: &[Src],
    address: &Address,
    ty: Ty,
) -> Result<(), Trap> {
    let base = addresses(env, warp, frame, address, active)?;
    let (size, total) = (ty.bytes(), ty.bytes() * srcs.len() as u32);
    env.count_access(warp, address.space, &base, total, active, Direction::Store);
    let mut rows = [[0; LANES]; VECTOR];
    for (row, &src) in rows.iter_mut().zip(srcs) {
        *row = warp.source(env, frame, src, active)?;
    }
    for lane in lanes(active) {
        let words: [u64; VECTOR] = std::array::from_fn(|i| rows[i][lane]);
        let words = &words[..srcs.len()];
        let at = check_alignment(base[lane], total)
            .and_then(|()| place(env, warp, address.space, base[lane]))
            .map_err(|t| t.at(lane))?;
        if words.len() > 1 && !env.strong && write_at_once(env, warp, lane, at, size, words) {
            continue;
        }
        for (i, &word) in (0..).zip(words) {
            let at = at.behind(i * u64::from(size));
            write(env, warp, lane, at, size, word).map_err(|t| t.at(lane))?;
        }
    }
    Ok(())
}

/// Writes neighbours of `size` bytes, up to 8, each as one access. False where they must be taken one by one, because
/// something is wrong or because some of them may be written at the same time as by others, who write the same.
fn write_at_once(
    env: &mut Env<'_>,
    warp: &mut Warp,
    lane: usize,
    place: Place,
    size: u32,
    words: &[u64],
) -> bool {
    let total = size as usize * words.len();
    match place {
        Place::Shared { cta, offset } => {
            let mut bytes = [0; WIDEST];
            for (to, word) in bytes.chunks_exact_mut(size as usize).zip(words) {
                to.copy_from_slice(&word.to_le_bytes()[..size as usize]);
            }
            let bytes = &bytes[..total];
            env.write_shared(warp, lane, cta, offset, bytes).is_ok()
        }
        Place::Global(address) => {
            let global = &env.shared.global;
            let Ok((region, offset)) = global.locate(address, total as u64, &mut warp.hint) else {
                return false;
            };
            if region.read_only {
                return false;
            }
            let each = || (0..).step_by(size as usize).zip(words);
            let mask = mask(8 * size);
            let is_same = |(i, &word): (u64, &u64)| region.load(offset + i, size) == word & mask;
            let how = GlobalUse {
                store: true,
                same: u32::from(each().all(is_same)),
                agent: None,
            };
            let checked = env.check_global_bytes(warp, address, total as u64, how);
            if checked.is_err() {
                return false;
            }
            each().for_each(|(i, &word)| region.store(offset + i, size, word & mask));
            true
        }
        _ => false,
    }
}

/// `st.bulk`: zeroes, in 8-byte steps, as much shared memory as each lane asks for.
pub fn zero_shared(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    address: &Address,
    size: Src,
) -> Result<(), Trap> {
    env.strong = false;
    let base = addresses(env, warp, frame, address, active)?;
    let sizes = warp.source(env, frame, size, active)?;
    for lane in lanes(active) {
        let bytes = sizes[lane];
        if base[lane] % 8 != 0 || bytes % 8 != 0 || bytes > 1 << 24 {
            return Err(Trap::lane(
                lane,
                format!(
                    "st.bulk of {bytes} bytes at {:#x}: both must be multiples of 8",
                    base[lane]
                ),
            ));
        }
        for at in (0..bytes).step_by(8) {
            let place = place(env, warp, address.space, base[lane] + at).map_err(|t| t.at(lane))?;
            write(env, warp, lane, place, 8, 0).map_err(|t| t.at(lane))?;
        }
    }
    Ok(())
}
