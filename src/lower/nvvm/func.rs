//! The function boundary: kernel ABI, launch bounds, shared memory, the manifest's entry.

use super::place::Place;
use super::shared_memory::SharedMemory;
use super::values::Values;
use super::{Asynchronous, Issuer, Kernel, Lower, Role, facts_of};
use crate::dialect::nv_tileas::view;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Diagnostic, Module, OpId, Type, TypeId};
use crate::launch;
use crate::layout::convert::Planner;
use crate::lower::tileas::shared_bytes;
use crate::lower::unsupported;
use crate::target::Target;

/// Lowers one kernel and puts `nvvm.func` in its place.
pub fn lower(
    m: &mut Module,
    op: OpId,
    target: &Target,
    conversions: &mut Planner,
) -> Result<launch::Entry, Diagnostic> {
    let facts = facts_of(m, op);
    let data = m.op(op).clone();
    let Some(body) = m.body_of(op, 0) else {
        return Err(unsupported(m, op, "a function without a body"));
    };
    let Some(v) = view::Func::of(&data) else {
        return Err(unsupported(m, op, "no kernel"));
    };
    let (warps, occupancy) = (v.num_warps() as u64, v.occupancy());
    let blocks = v.cluster().unwrap_or(1).max(1) as u32;
    let region = m.new_region();
    let old_args = m.block(body).args.to_vec();
    let mut params = Vec::new();
    let mut types = Vec::new();
    for &arg in &old_args {
        let ty = m.types.elem(m.ty(arg));
        types.push(ty);
        params.push(param(m, op, ty)?);
    }
    let block = m.new_block(region, &types);
    let values: Values = old_args
        .into_iter()
        .zip(m.block(block).args.to_vec())
        .collect();
    let role = Role {
        warps,
        barrier: 0,
        partial: false,
        issuer: Issuer::First,
        warpgroup: None,
    };
    let mut memory = SharedMemory::default();
    let allocations = super::alloca::reserve(m, body, &mut memory)?;
    let used = m
        .ops_under(body)
        .into_iter()
        .flat_map(|o| m.op(o).operands.to_vec())
        .collect();
    let early = super::settled::early(m, body);
    let operands = m.ops_under(body).into_iter();
    let operands = operands.filter_map(|o| shared_bytes(m, o).map(|b| b.end));
    let operands = operands.max().unwrap_or(0);
    let pair = m
        .ops_under(body)
        .into_iter()
        .any(|o| view::TensorDot::of(m.op(o)).is_some_and(|v| v.pair()));
    // Registers that roles redistribute are those of so many blocks, whatever their shared memory.
    let divides = m
        .ops_under(body)
        .into_iter()
        .any(|o| view::WarpSpecialize::of(m.op(o)).is_some_and(|v| v.producer_registers() > 0));
    let together = occupancy
        .filter(|_| divides)
        .and_then(|o| u64::try_from(o).ok())
        .unwrap_or(1);
    let mut lowering = Lower {
        m,
        target: *target,
        facts,
        values,
        place: Place::new(block, data.loc),
        role,
        memory,
        conversions,
        asynchronous: Asynchronous::default(),
        kernel: Kernel {
            func: op,
            together,
            occupancy,
            warps,
            entry: block,
            used,
            early,
            allocations,
            blocks: u64::from(blocks),
            pair,
            operands,
        },
    };
    lowering.keep_for_others(body);
    lowering.begin_maps()?;
    lowering.allocate_tensor_memory(op, body)?;
    lowering.block(body)?;
    let smem = lowering.memory.total();
    let occupancy = lowering.occupancy();
    let shared_map = lowering.memory.map();
    let tensor_maps = std::mem::take(&mut lowering.asynchronous.maps)
        .into_iter()
        .map(|(map, _)| map)
        .collect();
    let threads = 32 * warps as i64;
    let name = v.sym_name();
    let i32_ty = m.types.int(32);
    let int = |value: i64| Some(Attr::Int { value, ty: i32_ty });
    let attrs = [
        Some(Attr::Str(name)),
        int(threads),
        int(occupancy.unwrap_or(1)),
        occupancy.and_then(|o| int(max_registers(o, warps, target))),
        (blocks > 1).then(|| Attr::I32s(vec![blocks as i32, 1, 1])),
        int(smem as i64),
    ];
    let position = m
        .block(m.body)
        .ops
        .iter()
        .position(|&o| o == op)
        .unwrap_or(0);
    m.erase(op);
    let module_body = m.body;
    let mut b = m.at(module_body, position);
    b.loc = data.loc;
    b.op(N::Func, &[], attrs, &[], &[region]);
    Ok(launch::Entry {
        name: m.str(name).to_owned(),
        block: [threads as u32, 1, 1],
        cluster: [blocks, 1, 1],
        shared_bytes: if smem > u64::from(Target::STATIC_SHARED) {
            smem as u32
        } else {
            0
        },
        shared_map,
        params,
        tensor_maps,
    })
}

impl Lower<'_> {
    /// Blocks that share a multiprocessor, as far as the shared memory that is taken so far permits; `None`: nothing asks.
    fn occupancy(&self) -> Option<i64> {
        let fit = self.target.blocks_by_shared(self.memory.total());
        let asked = self.kernel.occupancy;
        match self.kernel.together {
            1 => asked.map(|o| o.min(fit).max(1)),
            _ => asked,
        }
    }

    /// Registers of a thread at launch.
    pub(super) fn registers_at_launch(&self) -> u64 {
        let registers = max_registers(
            self.occupancy().unwrap_or(1),
            self.kernel.warps,
            &self.target,
        );
        registers.unsigned_abs()
    }
}

/// Registers per thread that let `occupancy` blocks of `warps` share an SM.
fn max_registers(occupancy: i64, warps: u64, target: &Target) -> i64 {
    let blocks = u64::try_from(occupancy).unwrap_or(1);
    let registers = target.registers_per_thread(blocks * warps);
    i64::try_from(registers.max(24)).unwrap_or(255)
}

fn param(m: &Module, op: OpId, ty: TypeId) -> Result<launch::Param, Diagnostic> {
    let (kind, ty) = match m.types.get(ty) {
        Type::Ptr { pointee, .. } => (launch::ParamKind::Ptr, *pointee),
        Type::Int(_) | Type::Float(_) => (launch::ParamKind::Scalar, ty),
        _ => {
            return Err(unsupported(
                m,
                op,
                "a kernel parameter must be a scalar or a pointer",
            ));
        }
    };
    let ty = match m.types.get(ty) {
        Type::Int(n) => format!("i{n}"),
        Type::Float(f) => f.name().to_owned(),
        _ => "ptr".to_owned(),
    };
    Ok(launch::Param { kind, ty })
}
