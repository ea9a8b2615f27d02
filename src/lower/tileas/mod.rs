//! `nv_tileaa` → `nv_tileas`: how the work is spread over threads, warps and time.
//!
//! 1. [`plan`] decides for each kernel: how many warps, which loops become pipelines, by which means.
//!    Before that, loads have the type that is worked with ([`retype`]), permutations are absorbed by the loads they
//!    permute ([`transpose`]), and a tile block is shared
//!    among the blocks of a cluster ([`mod@cluster`]) and cut in strips ([`strips`]).
//! 2. Accesses and matmuls become their `nv_tileas` forms; planned loops become pipelines
//!    ([`pipeline::cp_async`], [`pipeline::tma`]).
//! 3. Matmuls choose their unit: [`wgmma`], [`tcgen05`], or a warp's own ([`matmul`]). Iterations of loops with several
//!    asynchronous ones overlap ([`modulo`]).
//! 4. [`assign`] gives every tile a layout and inserts conversions; operands are read where their matmul stands
//!    ([`sink`]). What stays the same in a loop is in shared memory where registers are short ([`stationary`]).

mod agreed;
mod ahead;
mod alike;
mod along_k;
mod anchors;
mod arrange;
mod assign;
mod atoms;
pub(super) mod buffers;
mod carried_sum;
mod cluster;
mod coalesced;
mod convert;
mod decided;
mod deep;
mod distinct;
mod early;
mod elements;
mod expected;
mod few_warps;
mod flow;
mod for_groups;
mod for_itself;
mod fragments;
mod gathered;
mod hold;
mod joined;
mod late;
mod lifetime;
mod limits;
pub(super) mod look;
mod made;
mod matmul;
mod missed;
mod modulo;
mod neighbours;
mod numbers;
mod one_matrix;
mod operands;
mod options;
mod order;
mod overlap;
mod own_places;
mod pages;
mod paired;
mod paired_k;
mod parked;
pub mod pipeline;
mod places;
mod plan;
mod prefetched;
mod pressure;
mod promote;
pub mod protocol;
mod relation;
mod reload;
mod remake;
mod repeated;
mod reread;
mod retype;
mod rounded;
mod rows_first;
mod sharing;
mod shorter;
mod shown;
mod sink;
mod soon;
mod staged;
mod staging;
mod stationary;
mod strips;
mod swap;
pub mod tcgen05;
mod transpose;
mod turn;
mod unread;
mod used_up;
mod variables;
mod waited;
mod warps_own;
mod wgmma;
mod whole;

pub use flow::jump_target;
pub use fragments::{is_fma, mma_of, scales_of, taken, wgmma_of};
pub use lifetime::intersect;
pub use missed::{COPIES, Changed, Missed, Notes, TENSOR_COPIES};
pub use options::Options;
pub use relation::{Relation, canonical, layout_of};
pub use staging::shared_bytes;

use crate::dialect::nv_tileaa::Op as A;
use crate::dialect::nv_tileas::Op as S;
use crate::facts;
use crate::ir::{BlockId, Diagnostic, Diagnostics, Module, OpId};
use crate::lower::unsupported;
use crate::target::{Feature, Target};
use decided::Kernel;
use missed::Log;
use pipeline::slice::copy_whole_beside;
use rustc_hash::FxHashSet;

/// Lowers every `nv_tileaa.func` of the module in place. Returns what was noted on the way.
pub fn run(m: &mut Module, target: &Target, options: &Options) -> Result<Notes, Diagnostics> {
    let mut notes = Notes::default();
    for op in m.block(m.body).ops.clone() {
        if A::of(m.op(op).kind) == Some(A::Func) {
            let mut log = Log::new(m.symbol(op).unwrap_or_default().to_owned());
            func(m, op, target, options, &mut log)?;
            notes.extend(log.into_notes());
        }
    }
    protocol::verify(m)?;
    Ok(notes)
}

/// What a producer should bring by tensor copies, in forms that nothing else can.
#[derive(Default)]
struct Hoped {
    pages: Vec<OpId>,
    rounded: Vec<OpId>,
}

impl Hoped {
    fn is_nothing(&self) -> bool {
        self.pages.is_empty() && self.rounded.is_empty()
    }

    /// Whether all of it is brought by tensor copies in the end.
    fn is_brought(&self, m: &Module, body: BlockId, plan: &decided::Plan) -> bool {
        if self.is_nothing() {
            return true;
        }
        let brought: FxHashSet<OpId> = plan.roles.iter().flat_map(|r| r.by_tensor()).collect();
        let hoped = |&op: &OpId| {
            !self.pages.is_empty() && pages::are_listed(m, op)
                || !self.rounded.is_empty() && rounded::is_to_round(m, op)
        };
        let mut loads = m.ops_under(body).into_iter().filter(hoped);
        loads.all(|l| brought.contains(&l))
    }
}

/// Spreads a kernel. Whether a producer can bring operands' pages by tensor copies, and round them to tf32, shows when it is
/// planned: where not, they are loaded through pointers, and converted, from the start.
fn func(
    m: &mut Module,
    mut op: OpId,
    target: &Target,
    options: &Options,
    log: &mut Log,
) -> Result<(), Diagnostic> {
    rename(m, op);
    for rounds in [true, false] {
        let body = body_of(m, op)?;
        let rounded = match rounds {
            true => rounded::find(m, op, target, options),
            false => Vec::new(),
        };
        if rounds && rounded.is_empty() {
            continue;
        }
        let pages = pages::find(m, op, body, target, options);
        let hoped = Hoped { pages, rounded };
        if hoped.is_nothing() {
            break;
        }
        let other = copy_whole_beside(m, op);
        let mut tried = log.clone();
        if spread(m, op, target, options, &hoped, &mut tried) == Ok(true) {
            m.erase(other);
            *log = tried;
            return Ok(());
        }
        m.erase(op);
        op = other;
    }
    spread(m, op, target, options, &Hoped::default(), log).map(drop)
}

fn body_of(m: &Module, func: OpId) -> Result<BlockId, Diagnostic> {
    m.body_of(func, 0)
        .ok_or_else(|| unsupported(m, func, "a function without a body"))
}

/// Spreads a kernel of which a producer should bring what is `hoped`; whether it does. Where not, the kernel is left half done.
fn spread(
    m: &mut Module,
    op: OpId,
    target: &Target,
    options: &Options,
    hoped: &Hoped,
    log: &mut Log,
) -> Result<bool, Diagnostic> {
    let body = body_of(m, op)?;
    unread::release_only(m, body, log);
    repeated::absorb(m, body, log);
    alike::absorb(m, op, body, log);
    numbers::load_alone(m, op, body);
    prefetched::undo(m, body);
    retype::absorb(m, body);
    rows_first::reduce(m, body);
    rounded::load(m, &hoped.rounded);
    pages::list(m, &hoped.pages);
    gathered::absorb(m, body, target, &hoped.pages);
    soon::compute(m, body);
    strips::batches(m, op, body, target, log);
    one_matrix::flatten(m, body);
    swap::few_rows(m, body, target);
    transpose::absorb(m, body);
    deep::cut(m, body, target, log);
    let split = cluster::split(m, op, body, target, options, log);
    strips::scaled(m, op, body, target, log);
    // Tensor memory holds what matmuls add and registers do not, unless it is worked over between matmuls.
    let multiplies = m.ops_under(body).iter().any(|&o| look::is_matmul(m, o));
    if !target.has(Feature::Tcgen05) || !multiplies || look::is_chained(m, body) {
        strips::apply(m, op, body, target, log);
    } else {
        strips::beside(m, op, body, log);
    }
    matmul::unscale(m, body, target, log)?;
    let mut facts = facts::of(m, op);
    tcgen05::across::mark(m, body, target, &facts);
    if shorter::steps(m, body, target, &facts, log) {
        facts = facts::of(m, op);
    }
    if pipeline::induction::rewrite(m, body, &facts) {
        facts = facts::of(m, op);
    }
    arrange::loops(m, body);
    matmul::keep_rows(m, body);
    let plan = plan::of(m, op, target, options, &facts, split.as_ref(), log)?;
    if !hoped.is_brought(m, body, &plan) {
        return Ok(false);
    }
    if options.pipelines {
        waited::note(m, body, target, &facts, &plan, log);
    }
    m.set_i32(op, "num_warps", plan.all_warps() as i64);
    if let Some(roles) = &plan.roles {
        pipeline::roles::apply(m, op, roles, target, &facts)?;
    }
    let mut rings = Vec::new();
    for stream in &plan.cp_async {
        pipeline::cp_async::apply(m, op, stream, &facts, &mut rings)?;
    }
    pipeline::once::apply(m, body, &facts, &plan.once)?;
    if options.pipelines {
        let available = plan.registers(target, decided::sharing(plan.occupancy));
        pipeline::next::carry(m, body, &facts, plan.tile_warps, available);
    }
    if plan.roles.is_none() {
        early::start(m, op, body, target, plan.tile_warps);
    }
    matmul::choose(m, body, target)?;
    swap::apply(m, body, target, plan.tile_warps / 4);
    let room = wgmma::convert(m, body, target, &plan, log)?;
    let registers = plan.registers(target, decided::sharing(plan.occupancy));
    let warps = plan.tile_warps;
    let blocks = plan.blocks();
    let room = tcgen05::convert(m, body, target, (warps, registers, blocks), room, log)?;
    let (occupancy, room) = stationary::place(m, body, target, &plan, room, log)?;
    let kernel = Kernel {
        body,
        target,
        plan: &plan,
        occupancy,
    };
    let room = staged::place(m, body, kernel.warps(), kernel.registers(), room, log)?;
    if let Some(blocks) = occupancy {
        m.set_i32(op, "occupancy", blocks);
    }
    used_up::in_parts(m, &kernel, log);
    overlap::chain_all(m, body);
    modulo::schedule(m, &kernel, log);
    overlap::relax(m, body);
    tcgen05::sliced::load(m, op, body, kernel.warps());
    tcgen05::epilogue::in_parts(m, op, &kernel, room, log)?;
    late::loads(m, &kernel);
    ahead::start(m, &kernel);
    parked::tiles(m, &kernel, log)?;
    tcgen05::apart::split(m, op, body, target, log);
    if occupancy.is_none()
        && let Some(blocks) = sharing::blocks(m, body, target, &plan)
    {
        m.set_i32(op, "occupancy", blocks);
    }
    let reread = reread::pays(m, &kernel);
    paired::matmuls(m, body, plan.tile_warps, target);
    sink::split(m, body);
    let facts = facts::of(m, op);
    assign::run(m, &facts, body, plan.tile_warps)?;
    sink::operands(m, body);
    if reread {
        reread::apply(m, body);
    }
    whole::reduce(m, body)?;
    Ok(true)
}

/// Every `nv_tileaa` operation under its `nv_tileas` name, operands and attributes unchanged.
fn rename(m: &mut Module, func: OpId) {
    const NAMES: &[(A, S)] = &[
        (A::Return, S::Return),
        (A::TiledLoad, S::TiledLoad),
        (A::TiledStore, S::TiledStore),
        (A::TiledAtomic, S::TiledAtomic),
        (A::MultimemLoad, S::MultimemLoad),
        (A::MultimemReduce, S::MultimemReduce),
        (A::MultimemStore, S::MultimemStore),
        (A::Load, S::Load),
        (A::Store, S::Store),
        (A::AtomicRmw, S::AtomicRmw),
        (A::AtomicCas, S::AtomicCas),
    ];
    let Some(body) = m.body_of(func, 0) else {
        return;
    };
    for op in m.ops_under(body) {
        let kind = A::of(m.op(op).kind);
        if let Some((_, to)) = NAMES.iter().find(|(from, _)| Some(*from) == kind) {
            let mut data = m.op_mut(op);
            data.kind = (*to).into();
            if *to == S::TiledLoad {
                data.attrs.push(None);
            }
        }
    }
    let data = m.op(func);
    let attrs = [
        data.attr_named("sym_name").cloned(),
        None,
        data.attr_named("hints").cloned(),
        None,
        None,
    ];
    m.become_op(func, S::Func, attrs);
}
