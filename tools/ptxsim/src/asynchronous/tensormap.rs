//! `tensormap.replace` and `tensormap.cp_fenceproxy` (PTX ISA 9.7.9.28, 9.7.13.15.18).

use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::memory::{addresses, place, read, write};
use crate::exec::warp::Warp;
use crate::program::inst::{Address, MapField, Space, Src};
use crate::program::lanes;
use crate::tensormap::{
    Atomicity, Element, Fill, Interleave, MAX_RANK, MapBase, Swizzle, TensorMap,
};

fn load(
    env: &mut Env<'_>,
    warp: &mut Warp,
    lane: usize,
    space: Space,
    address: u64,
) -> Result<[u8; 128], Trap> {
    let mut bytes = [0; 128];
    for (i, word) in bytes.chunks_exact_mut(8).enumerate() {
        let at = place(env, warp, space, address + 8 * i as u64)?;
        word.copy_from_slice(&read(env, warp, lane, at, 8)?.to_le_bytes());
    }
    Ok(bytes)
}

fn store(
    env: &mut Env<'_>,
    warp: &mut Warp,
    lane: usize,
    space: Space,
    address: u64,
    bytes: &[u8; 128],
) -> Result<(), Trap> {
    for (i, word) in bytes.chunks_exact(8).enumerate() {
        let at = place(env, warp, space, address + 8 * i as u64)?;
        let value = word.iter().rev().fold(0u64, |w, &b| w << 8 | u64::from(b));
        write(env, warp, lane, at, 8, value)?;
    }
    Ok(())
}

/// Replaces one field of a tensor map in memory.
#[allow(clippy::too_many_arguments)]
pub fn replace(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    address: &Address,
    field: MapField,
    index: u32,
    value: Src,
) -> Result<(), Trap> {
    let base = addresses(env, warp, frame, address, active)?;
    let values = warp.source(env, frame, value, active)?;
    for lane in lanes(active) {
        let bytes = load(env, warp, lane, address.space, base[lane]).map_err(|t| t.at(lane))?;
        let mut map = if bytes == [0; 128] {
            TensorMap::blank()
        } else {
            TensorMap::from_bytes(&bytes).map_err(|e| Trap::lane(lane, e.to_string()))?
        };
        set_field(&mut map, field, index as usize, values[lane])
            .map_err(|m| Trap::lane(lane, m))?;
        store(env, warp, lane, address.space, base[lane], &map.to_bytes())
            .map_err(|t| t.at(lane))?;
    }
    Ok(())
}

fn set_field(map: &mut TensorMap, field: MapField, index: usize, value: u64) -> Result<(), String> {
    if index >= MAX_RANK || field == MapField::GlobalStride && index + 1 >= MAX_RANK {
        return Err(format!("tensormap.replace of dimension {index}"));
    }
    let unknown = || format!("tensormap.replace: {value} is no value of this field");
    let small = |limit: u64| {
        if value <= limit {
            Ok(value as u32)
        } else {
            Err(unknown())
        }
    };
    match field {
        MapField::GlobalAddress => map.base = MapBase::Address(value),
        // The field holds rank - 1.
        MapField::Rank => map.rank = small(MAX_RANK as u64 - 1)? as usize + 1,
        MapField::BoxDim => map.box_dims[index] = small(256)?,
        MapField::GlobalDim => map.dims[index] = value & 0xffff_ffff,
        MapField::GlobalStride => map.strides[index + 1] = value,
        MapField::ElementStride => map.element_strides[index] = small(8)?,
        MapField::Elemtype => map.element = Element::from_code(value).ok_or_else(unknown)?,
        MapField::Interleave => {
            map.interleave = *[Interleave::None, Interleave::B16, Interleave::B32]
                .get(value as usize)
                .ok_or_else(unknown)?;
        }
        MapField::Swizzle => {
            map.swizzle = Swizzle::from_code(value).ok_or_else(unknown)?;
        }
        MapField::SwizzleAtomicity => {
            map.atomicity = Atomicity::from_code(value).ok_or_else(unknown)?;
        }
        MapField::Fill => {
            map.fill = if small(1)? == 0 {
                Fill::Zero
            } else {
                Fill::Nan
            }
        }
    }
    Ok(())
}

/// Copies a tensor map from shared to global memory.
pub fn copy(
    env: &mut Env<'_>,
    warp: &mut Warp,
    frame: Frame,
    active: u32,
    dst: &Address,
    src: &Address,
) -> Result<(), Trap> {
    let (to, from) = (
        addresses(env, warp, frame, dst, active)?,
        addresses(env, warp, frame, src, active)?,
    );
    // All lanes name the same objects; one copy is enough.
    let Some(lane) = lanes(active).next() else {
        return Ok(());
    };
    let bytes = load(env, warp, lane, src.space, from[lane]).map_err(|t| t.at(lane))?;
    store(env, warp, lane, dst.space, to[lane], &bytes).map_err(|t| t.at(lane))
}
