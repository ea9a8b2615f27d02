//! `tcgen05.mma` when it is issued: descriptors decoded, places and order checked (PTX ISA 9.7.16.10).

use super::descriptor::Descriptor;
use super::instruction::Instruction;
use super::layout::Layout;
use super::memory::{COLUMNS, Place};
use super::operands::{SharedMatrix, used_bytes};
use super::product::{Left, Product};
use super::scale::Factors;
use super::work::Work;
use super::zero_columns::ZeroColumns;
use super::{blocks, check_group, lane_value, queue, tensor_place};
use crate::check::{Agent, TensorAccess, TensorUse};
use crate::clock::cost::element;
use crate::clock::trace::Effect;
use crate::exec::env::Env;
use crate::exec::fault::Trap;
use crate::exec::frame::Frame;
use crate::exec::warp::Warp;
use crate::program::inst::{MatTy, Src};
use crate::program::tensor::{Collect, TensorA, TensorMma};

/// Issues the product of one thread.
pub fn issue(
    env: &mut Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    line: u32,
    mma: &TensorMma,
) -> Result<(), Trap> {
    check_group(env, mma.pair)?;
    let product = decode(env, warp, frame, lane, mma)?;
    collect(env, warp, frame, lane, mma, &product)?;
    let agent = env.tensor_issue(warp, line, "tcgen05.mma");
    check_shared(env, warp, agent, &product)?;
    check_tensor(env, warp, agent, line, &product)?;
    env.count_matrix(product.multiply_adds());
    let effect = Effect::TensorCore {
        work: product.multiply_adds() as u64,
        kind: element(product.instruction.a),
        pair: mma.pair,
    };
    env.note(warp, |_| Some(effect));
    queue::push(env, warp, line, Work::Product(Box::new(product)));
    Ok(())
}

fn decode(
    env: &Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    mma: &TensorMma,
) -> Result<Product, Trap> {
    let value = |src: Src| lane_value(env, warp, frame, lane, src);
    let instruction = Instruction::decode(value(mma.descriptor)? as u32, mma).map_err(Trap::new)?;
    let layout = Layout::of(&instruction, mma.pair, mma.stationary);
    let place = |address| tensor_place(env, warp, frame, address, 1 << lane);
    let d = place(mma.d)?;
    check_lane(layout, d, "D")?;
    let a = match mma.a {
        TensorA::Shared(src) => Left::Shared(matrix(value(src)?, &instruction, true)?),
        TensorA::Tensor(address) => {
            let at = place(address)?;
            same_lane(layout, d, at, "A")?;
            if instruction.transposed.0 {
                return Err(Trap::new("A in tensor memory cannot be transposed"));
            }
            Left::Tensor(at)
        }
    };
    let b = matrix(value(mma.b)?, &instruction, false)?;
    let metadata = mma.metadata.map(place).transpose()?;
    if let Some(at) = metadata {
        same_lane(layout, d, at, "the metadata")?;
    }
    let rows = layout.segments(instruction.n, d.lane)[0].lanes.len();
    let scales = match (&mma.scales, &instruction.scales) {
        (Some(places), Some(scaling)) => {
            let columns = layout.columns(instruction.n);
            Some((
                Factors::new(place(places.a)?, rows, scaling, true),
                Factors::new(place(places.b)?, columns, scaling, false),
            ))
        }
        _ => None,
    };
    let mut disabled = vec![0u128; if mma.disabled.is_empty() { 0 } else { 2 }];
    for (i, &src) in mma.disabled.iter().enumerate() {
        disabled[i / 4] |= u128::from(value(src)? as u32) << (32 * (i % 4));
    }
    let zero = match mma.zero_columns {
        None => None,
        Some(src) => Some(
            ZeroColumns::decode(value(src)?, instruction.m, instruction.n)
                .map_err(|m| Trap::new(format!("zero-column mask of tcgen05.mma.ws: {m}")))?,
        ),
    };
    Ok(Product {
        blocks: blocks(env, warp, mma.pair)?,
        layout,
        d,
        a,
        b,
        metadata,
        scales,
        disabled,
        accumulate: warp.pred(env, frame, mma.accumulate, 1 << lane)? >> lane & 1 == 1,
        scale_d: mma.scale_d,
        shift_a: mma.shift_a,
        zero,
        instruction,
    })
}

/// Tables 53 and 54.
fn matrix(bits: u64, i: &Instruction, of_a: bool) -> Result<SharedMatrix, Trap> {
    let descriptor = Descriptor::decode(bits).map_err(Trap::new)?;
    let (transposed, ty, bytes, name) = if of_a {
        (i.transposed.0, i.a, i.a_bytes(), "A")
    } else {
        (i.transposed.1, i.b, i.b_bytes(), "B")
    };
    let size = ty.container_bits(false) as usize / 8;
    let wide = ty == MatTy::TF32;
    if transposed && wide != descriptor.wide_atoms() {
        return Err(Trap::new(format!(
            "tcgen05.mma: {name} is transposed, which tf32 has only with the 128-byte swizzle of 32-byte atoms, and other \
             types only without it"
        )));
    }
    if descriptor.is_absolute() && (transposed || bytes != 48) {
        return Err(Trap::new(format!(
            "tcgen05.mma: the descriptor of {name} has an absolute leading address, which is for K-major rows of 48 bytes"
        )));
    }
    Ok(SharedMatrix {
        used: used_bytes(i.kind, ty),
        descriptor,
        transposed,
        bytes,
        size,
    })
}

fn check_lane(layout: Layout, place: Place, what: &str) -> Result<(), Trap> {
    let good = match layout {
        Layout::Half => matches!(place.lane, 0 | 16),
        _ => place.lane == 0,
    };
    if good {
        return Ok(());
    }
    Err(Trap::new(format!(
        "tcgen05.mma: {what} lies at lane {} of tensor memory; this shape wants lane 0{}",
        place.lane,
        if layout == Layout::Half { " or 16" } else { "" }
    )))
}

/// A and the metadata have the lane of D.
fn same_lane(layout: Layout, d: Place, other: Place, what: &str) -> Result<(), Trap> {
    check_lane(layout, other, what)?;
    if d.lane == other.lane {
        return Ok(());
    }
    Err(Trap::new(format!(
        "tcgen05.mma: D begins at lane {} of tensor memory and {what} at lane {}; they must agree",
        d.lane, other.lane
    )))
}

/// Collector buffers: what is used again must be what has been filled in.
fn collect(
    env: &mut Env<'_>,
    warp: &Warp,
    frame: Frame,
    lane: usize,
    mma: &TensorMma,
    product: &Product,
) -> Result<(), Trap> {
    let i = &product.instruction;
    let source = match (mma.stationary, mma.a) {
        (true, _) => lane_value(env, warp, frame, lane, mma.b)?,
        (false, TensorA::Shared(src)) => lane_value(env, warp, frame, lane, src)?,
        (false, TensorA::Tensor(_)) => match product.a {
            Left::Tensor(p) => (p.lane << 16 | p.column) as u64 | 1 << 63,
            Left::Shared(_) => 0,
        },
    };
    let shape = if mma.stationary { i.n } else { i.m } as u64;
    let operand = (source, shape << 8 | i.kind as u64);
    let (number, what) = mma.collect;
    let slot = if mma.stationary { number as usize } else { 4 };
    for &cta in &product.blocks {
        let buffer = &mut env.ctas[cta].tensor.collectors[slot];
        if matches!(what, Collect::Use | Collect::LastUse) && *buffer != Some(operand) {
            return Err(Trap::new(
                "tcgen05.mma uses a collector buffer that has not been filled with this operand since it was last \
                 discarded; give the first product with it .collector::…::fill",
            ));
        }
        *buffer = match what {
            Collect::Fill | Collect::Use => Some(operand),
            Collect::LastUse | Collect::Discard => None,
        };
    }
    Ok(())
}

/// Operands in shared memory must be there, written, waited for, and visible to the async proxy.
fn check_shared(
    env: &mut Env<'_>,
    warp: &Warp,
    agent: Agent,
    product: &Product,
) -> Result<(), Trap> {
    let i = &product.instruction;
    let count = product.blocks.len();
    let a_rows = product.layout.segments(i.n, product.d.lane)[0].lanes.len();
    let shift = product.zero.as_ref().map_or(0, |z| z.shift);
    let b = (product.b, shift..shift + i.n / count);
    let a = match &product.a {
        Left::Shared(a) => Some((*a, 0..a_rows)),
        Left::Tensor(_) => None,
    };
    for (matrix, rows) in [Some(b), a].into_iter().flatten() {
        for &at in &matrix.chunks(rows) {
            for &cta in &product.blocks {
                check_chunk(env, warp, agent, cta, (at, matrix.used), "tcgen05.mma")?;
            }
        }
    }
    Ok(())
}

/// Bytes of a chunk of 16 that an operation will read.
pub fn check_chunk(
    env: &mut Env<'_>,
    warp: &Warp,
    agent: Agent,
    cta: usize,
    (at, used): (u64, u64),
    what: &str,
) -> Result<(), Trap> {
    let block = &env.ctas[cta];
    if !block.holds(at, 16) {
        let end = block.shared.len();
        return Err(crate::exec::memory::shared_outside(env, at, 16, end));
    }
    if env.shared.checks.uninitialised
        && block.written[at as usize..(at + used) as usize].contains(&false)
    {
        return Err(Trap::new(format!(
            "{what} reads shared memory at {at:#x} that nothing has written"
        )));
    }
    env.async_read(agent, warp, cta, at, used)
}

fn check_tensor(
    env: &mut Env<'_>,
    warp: &Warp,
    agent: Agent,
    line: u32,
    product: &Product,
) -> Result<(), Trap> {
    let i = &product.instruction;
    let shape = (i.m << 16 | i.n << 4 | product.layout as usize) as u32;
    let address = (product.d.lane << 16 | product.d.column) as u32;
    for &cta in &product.blocks {
        let mut access = |columns: std::ops::Range<usize>, groups, how, name: &str| {
            if columns.end > COLUMNS {
                return Err(Trap::new(format!(
                    "tcgen05.mma: {name} takes tensor memory columns {} to {}; there are {COLUMNS}",
                    columns.start,
                    columns.end - 1
                )));
            }
            env.ctas[cta].tensor.check(&columns, "tcgen05.mma")?;
            env.tensor_access(TensorAccess {
                warp: env.serial(warp),
                cta,
                groups,
                columns,
                how,
                number: agent.number(),
                line,
            })
        };
        for (columns, groups, name) in product.reads() {
            access(columns, groups, TensorUse::Operand, name)?;
        }
        let groups = product.layout.groups(product.d.lane);
        access(
            product.d_columns(),
            groups,
            TensorUse::Accumulator(address, shape),
            "D",
        )?;
    }
    Ok(())
}
