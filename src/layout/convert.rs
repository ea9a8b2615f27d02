//! Moving a tile from one distributed layout to another.
//!
//! Every place of the destination is looked up in the source: a linear map G from
//! (register, lane, warp) to (register, lane, warp). If G keeps lanes and warps, threads
//! only rename registers; if it keeps warps, shuffles do; else the tile goes through
//! shared memory.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::addr::{self, AccessPlan};
use super::bank::Taken;
use super::ldmatrix::{self, MatrixPlan};
use super::lookup::Lookup;
use super::shared::SharedLayout;
use super::shuffle::ShufflePlan;
use super::swizzle::{self, Access, Capabilities, Wanted};
use super::{In, Layout, LayoutError};

/// How a tile gets from one distributed layout to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// Every thread already has what it needs, in the same registers.
    Identity,
    /// Threads have what they need: destination register `i` is source register `.0[i]`.
    Registers(Vec<u32>),
    /// Lanes of each warp exchange registers.
    Shuffle(ShufflePlan),
    /// The block exchanges elements through shared memory.
    Shared(Box<SharedPlan>),
}

/// A conversion and an estimate of what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// What to do.
    pub conversion: Conversion,
    /// Issue slots per warp: instructions and further wavefronts of shared memory, and
    /// [`BARRIER_COST`] for waiting.
    pub cost: u64,
}

impl Planned {
    /// Whether not even free shared memory would be cheaper than this, for the sake of the waits.
    fn beats_memory(&self) -> bool {
        self.cost <= BARRIER_COST
    }
}

/// What the two waits of a trip through shared memory are taken to cost, in issue slots.
pub const BARRIER_COST: u64 = 40;

/// A trip through shared memory: all threads store, the block or each warp waits, all threads load
/// (and they wait again before the memory is used anew).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedPlan {
    /// Where the elements lie.
    pub shared: SharedLayout,
    /// How the source's registers are stored.
    pub store: Transfer,
    /// How the destination's registers are loaded.
    pub load: Transfer,
    /// Whether each warp loads only what it has stored itself: then warps need not wait for each other.
    pub in_warp: bool,
}

/// Instructions between registers and shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// `ld.shared` or `st.shared`, maybe vectors.
    Plain(AccessPlan),
    /// `ldmatrix` or `stmatrix`.
    Matrix(MatrixPlan),
}

/// Plans conversions, each once: a module converts between the same few layouts again and again, and choosing where
/// elements lie in shared memory takes long.
#[derive(Debug)]
pub struct Planner {
    capabilities: Capabilities,
    known: FxHashMap<Key, Rc<Planned>>,
    /// Ways through shared memory, by whether `stmatrix` may be used.
    parts: FxHashMap<(Key, bool), Rc<Planned>>,
}

/// A conversion: from one layout to another, whose elements are taken so, of so many bits each.
type Key = (Layout, Layout, Taken, u32);

fn key(source: &Layout, destination: Wanted<'_>, element_bits: u32) -> Key {
    let Wanted { layout, taken } = destination;
    (source.clone(), layout.clone(), taken, element_bits)
}

impl Planner {
    /// A planner that knows no conversion yet.
    pub fn new(capabilities: Capabilities) -> Planner {
        Planner {
            capabilities,
            known: FxHashMap::default(),
            parts: FxHashMap::default(),
        }
    }

    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// What [`convert`] gives.
    ///
    /// # Errors
    /// As [`convert`].
    pub fn plan(
        &mut self,
        source: &Layout,
        destination: Wanted<'_>,
        element_bits: u32,
    ) -> Result<Rc<Planned>, LayoutError> {
        let key = key(source, destination, element_bits);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let plan = convert(source, destination, element_bits, self.capabilities)?;
        Ok(self.known.entry(key).or_insert(Rc::new(plan)).clone())
    }

    /// What [`through_shared`] gives for a part of a tile; `whole`: every lane holds some of it, as matrix stores need.
    ///
    /// # Errors
    /// As [`through_shared`].
    pub fn part(
        &mut self,
        source: &Layout,
        destination: Wanted<'_>,
        element_bits: u32,
        whole: bool,
    ) -> Result<Rc<Planned>, LayoutError> {
        let key = (key(source, destination, element_bits), whole);
        if let Some(known) = self.parts.get(&key) {
            return Ok(known.clone());
        }
        let capabilities = Capabilities {
            stmatrix: whole && self.capabilities.stmatrix,
            ..self.capabilities
        };
        let plan = through_shared(source, destination, element_bits, capabilities)?;
        Ok(self.parts.entry(key).or_insert(Rc::new(plan)).clone())
    }
}

/// The cheapest way from `source` to `destination`, which cover the same tile of elements
/// of `element_bits` bits.
pub fn convert<'l>(
    source: &Layout,
    destination: impl Into<Wanted<'l>>,
    element_bits: u32,
    capabilities: Capabilities,
) -> Result<Planned, LayoutError> {
    let destination = destination.into();
    let lookup = Lookup::new(source, destination.layout)?;
    let exchanged = match exchange(&lookup, source, element_bits) {
        Some(planned) if planned.beats_memory() => return Ok(planned),
        exchanged => exchanged,
    };
    let stays = || Ok(lookup.stays_in_warp());
    let shared = by_trip(source, destination, element_bits, capabilities, stays);
    match (exchanged, shared) {
        (Some(a), Ok(b)) => Ok(if a.cost <= b.cost { a } else { b }),
        (Some(a), Err(_)) => Ok(a),
        (None, b) => b,
    }
}

/// Whether [`convert`] takes a tile from `source` to `destination` without shared memory.
///
/// # Errors
/// As [`convert`].
pub fn needs_no_memory(
    source: &Layout,
    destination: &Layout,
    element_bits: u32,
    capabilities: Capabilities,
) -> Result<bool, LayoutError> {
    let lookup = Lookup::new(source, destination)?;
    // Where elements would lie in shared memory takes long to choose.
    match exchange(&lookup, source, element_bits) {
        None => Ok(false),
        Some(planned) if planned.beats_memory() => Ok(true),
        Some(_) => {
            let planned = convert(source, destination, element_bits, capabilities)?;
            Ok(!matches!(planned.conversion, Conversion::Shared(_)))
        }
    }
}

/// The way within threads or warps, if there is one.
fn exchange(lookup: &Lookup, source: &Layout, element_bits: u32) -> Option<Planned> {
    if let Some(registers) = lookup.registers_only() {
        let identity = registers.len() as u64 == source.registers()
            && registers.iter().enumerate().all(|(i, &r)| i as u32 == r);
        let conversion = if identity {
            Conversion::Identity
        } else {
            Conversion::Registers(registers)
        };
        return Some(Planned {
            conversion,
            cost: 0,
        });
    }
    ShufflePlan::new(lookup, element_bits).map(|plan| Planned {
        cost: plan.cost(element_bits),
        conversion: Conversion::Shuffle(plan),
    })
}

/// The way through shared memory.
pub fn through_shared<'l>(
    source: &Layout,
    destination: impl Into<Wanted<'l>>,
    element_bits: u32,
    capabilities: Capabilities,
) -> Result<Planned, LayoutError> {
    let destination = destination.into();
    let stays = || Ok(Lookup::new(source, destination.layout)?.stays_in_warp());
    by_trip(source, destination, element_bits, capabilities, stays)
}

/// The same; `stays_in_warp`: whether every warp holds what it needs, asked for where it matters.
fn by_trip(
    source: &Layout,
    destination: Wanted<'_>,
    element_bits: u32,
    capabilities: Capabilities,
    stays_in_warp: impl FnOnce() -> Result<bool, LayoutError>,
) -> Result<Planned, LayoutError> {
    if source.in_bits(In::Block) + destination.layout.in_bits(In::Block) > 0 {
        return Err(LayoutError::Unsupported(
            "a conversion between blocks of a cluster".into(),
        ));
    }
    let choice = swizzle::choose(source, destination, element_bits, capabilities)?;
    let transfer = |layout: &Layout, access: Access| match access {
        Access::Plain => addr::plan(layout, &choice.shared, 128).map(Transfer::Plain),
        Access::Matrix(kind) => {
            let plan = ldmatrix::plan(layout, &choice.shared, kind)?;
            plan.map(Transfer::Matrix).ok_or_else(|| {
                LayoutError::Unsupported("matrix access of a layout it does not fit".into())
            })
        }
    };
    let (store, load) = (
        transfer(source, choice.store)?,
        transfer(destination.layout, choice.load)?,
    );
    // What several warps hold, they store to one place.
    let apart = source.free_variable_masks()[In::Warp as usize] == 0;
    let in_warp = apart && stays_in_warp()?;
    Ok(Planned {
        cost: choice.cost.wavefronts + choice.cost.instructions + BARRIER_COST,
        conversion: Conversion::Shared(Box::new(SharedPlan {
            shared: choice.shared,
            store,
            load,
            in_warp,
        })),
    })
}

#[cfg(test)]
#[path = "convert_tests.rs"]
mod tests;
