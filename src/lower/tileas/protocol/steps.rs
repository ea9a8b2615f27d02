//! The operations of the protocol as what they do to its state.

use super::events::{Action, RingIteration, StageUse};
use super::trace::{Tracer, Val};
use crate::dialect::nv_tileas::Op as S;
use crate::dialect::nv_tileas::view::{self, View};
use crate::ir::{Diagnostic, Op, OpId, Type, ValueId};
use crate::lower::unsupported;

impl Tracer<'_> {
    fn at(
        &mut self,
        op: OpId,
        pipeline: ValueId,
        at: ValueId,
    ) -> Result<RingIteration, Diagnostic> {
        let pipeline = self.object(op, pipeline, "pipeline", &[S::PipelineCreate])?;
        let iteration = self.iteration(op, at, "iteration")?;
        Ok(RingIteration {
            pipeline,
            iteration,
        })
    }

    /// The object that `value`, an operand called `name`, stands for: what one of `creators` made.
    fn object(
        &mut self,
        op: OpId,
        value: ValueId,
        name: &str,
        creators: &[S],
    ) -> Result<ValueId, Diagnostic> {
        let creator = |v| self.m.def_op(v).and_then(|d| S::of(self.m.op(d).kind));
        match self.run.env.get(&value) {
            Some(&Val::Object(v)) if creator(v).is_some_and(|k| creators.contains(&k)) => Ok(v),
            _ => Err(unsupported(
                self.m,
                op,
                format!("its {name} is not one that this kernel creates"),
            )),
        }
    }

    fn buffer(&mut self, op: OpId, value: ValueId, name: &str) -> Result<ValueId, Diagnostic> {
        self.object(op, value, name, &[S::AllocTensor, S::AllocTensorMemory])
    }

    fn iteration(&mut self, op: OpId, value: ValueId, name: &str) -> Result<i64, Diagnostic> {
        match self.get(value) {
            Val::Int(n) => Ok(n),
            _ => Err(unsupported(
                self.m,
                op,
                format!(
                    "its {name} does not count from a constant by constant steps, so that it is not known which one it is"
                ),
            )),
        }
    }

    /// The use of a buffer at an optional iteration; both with their names.
    fn stage(
        &mut self,
        op: OpId,
        (buffer, name): (ValueId, &str),
        (at, at_name): (Option<ValueId>, &str),
    ) -> Result<StageUse, Diagnostic> {
        let buffer = self.buffer(op, buffer, name)?;
        let iteration = at.map(|at| self.iteration(op, at, at_name)).transpose()?;
        Ok(StageUse { buffer, iteration })
    }

    /// Notes what an operation of the protocol does; false for any other.
    pub(super) fn step(&mut self, op: OpId, view: &View<'_, Op>) -> Result<bool, Diagnostic> {
        let action = match view {
            View::ProducerAcquire(v) => {
                Action::Acquire(self.at(op, v.pipeline(), v.iteration())?)
            }
            View::ProducerCommit(v) => Action::Commit(self.at(op, v.pipeline(), v.iteration())?),
            View::ConsumerWait(v) => Action::Wait(self.at(op, v.pipeline(), v.iteration())?),
            View::ConsumerRelease(v) => match self.release(op, v)? {
                Some(action) => action,
                None => return Ok(true),
            },
            View::Drain(v) => {
                Action::Drain(self.object(op, v.pipeline(), "pipeline", &[S::PipelineCreate])?)
            }
            View::TiledCopy(v) => {
                self.thread_copy(op, v.destination(), v.pipeline(), v.iteration())?
            }
            View::PointerCopy(v) => {
                self.thread_copy(op, v.destination(), v.pipeline(), v.iteration())?
            }
            View::TmaLoad(v) => self.copy(op, v.destination(), v.pipeline(), v.iteration())?,
            View::SharedView(v) => {
                let source = self.buffer(op, v.source(), "source")?;
                self.bind(&[v.result()], &[Val::Object(source)]);
                return Ok(true);
            }
            View::LocalLoad(v) => {
                let stage = self.stage(op, (v.source(), "source"), (v.iteration(), "iteration"))?;
                self.bind(&[v.result()], &[]);
                Action::Read(stage)
            }
            View::LocalStore(v) => {
                self.uses_of(op, &[v.tile()]);
                self.local_store(op, v)?
            }
            View::ProxyFence(_) => Action::Fence,
            View::StoreWait(_) => Action::StoreWait,
            View::TmaStore(v) => Action::StoreOut(self.buffer(op, v.source(), "source")?),
            View::TensorDot(v) => self.tensor_dot(op, v)?,
            View::TensorLoad(v) => {
                let stage = self.stage(op, (v.source(), "source"), (v.iteration(), "iteration"))?;
                self.bind(&[v.result()], &[]);
                Action::TensorLoad(stage)
            }
            View::TensorStore(v) => {
                self.uses_of(op, &[v.tile()]);
                let to = (v.destination(), "destination");
                Action::TensorStore(self.stage(op, to, (v.iteration(), "iteration"))?)
            }
            View::AsyncDot(v) => self.dot(op, v)?,
            View::AsyncDotWait(v) => {
                let val = self.run.env.get(&v.acc()).copied().unwrap_or(Val::Other);
                self.bind(&[v.result()], &[val]);
                match usize::try_from(v.pending()) {
                    Ok(pending) => Action::DotWait(pending),
                    Err(_) => {
                        let why = "pending is not a number of groups";
                        return Err(unsupported(self.m, op, why));
                    }
                }
            }
            _ => return Ok(false),
        };
        self.event(op, action);
        Ok(true)
    }

    fn copy(
        &mut self,
        op: OpId,
        buffer: ValueId,
        pipeline: ValueId,
        at: ValueId,
    ) -> Result<Action, Diagnostic> {
        let buffer = self.buffer(op, buffer, "destination")?;
        Ok(Action::Copy(self.at(op, pipeline, at)?, buffer))
    }

    fn thread_copy(
        &mut self,
        op: OpId,
        buffer: ValueId,
        pipeline: ValueId,
        at: ValueId,
    ) -> Result<Action, Diagnostic> {
        let buffer = self.buffer(op, buffer, "destination")?;
        Ok(Action::CopyByThreads(self.at(op, pipeline, at)?, buffer))
    }

    /// A store to a buffer; with a pipeline, each thread brings its part of the tile to a stage.
    fn local_store(
        &mut self,
        op: OpId,
        v: &view::LocalStore<'_, Op>,
    ) -> Result<Action, Diagnostic> {
        match (v.pipeline(), v.iteration()) {
            (Some(pipeline), Some(at)) => self.thread_copy(op, v.destination(), pipeline, at),
            (Some(_), None) => Err(unsupported(
                self.m,
                op,
                "fills a stage without saying which iteration",
            )),
            (None, at) => {
                let to = (v.destination(), "destination");
                Ok(Action::Write(self.stage(op, to, (at, "iteration"))?))
            }
        }
    }

    /// What a release does; nothing where it is not enabled.
    fn release(
        &mut self,
        op: OpId,
        v: &view::ConsumerRelease<'_, Op>,
    ) -> Result<Option<Action>, Diagnostic> {
        match v.enable().map(|e| self.get(e)) {
            Some(Val::Int(0)) => Ok(None),
            None | Some(Val::Int(_)) => {
                let at = self.at(op, v.pipeline(), v.iteration())?;
                Ok(Some(match v.matmuls() {
                    true => Action::ReleaseByMatmuls(at),
                    false => Action::Release(at),
                }))
            }
            Some(_) => Err(unsupported(
                self.m,
                op,
                "whether it releases does not follow from iteration numbers",
            )),
        }
    }

    fn tensor_dot(&mut self, op: OpId, v: &view::TensorDot<'_, Op>) -> Result<Action, Diagnostic> {
        let mut shared = Vec::new();
        let acc = (v.acc_iteration(), "acc_iteration");
        let mut tensor = vec![self.stage(op, (v.acc(), "acc"), acc)?];
        let sides = [
            ((v.lhs(), "lhs"), (v.lhs_iteration(), "lhs_iteration")),
            ((v.rhs(), "rhs"), (v.rhs_iteration(), "rhs_iteration")),
        ];
        for (operand, at) in sides {
            let stage = self.stage(op, operand, at)?;
            match self.m.types.get(self.m.ty(operand.0)) {
                Type::TensorTile { .. } => tensor.push(stage),
                _ => shared.push(stage),
            }
        }
        let scales = [
            (
                v.lhs_scale(),
                "lhs_scale",
                (v.lhs_scale_iteration(), "lhs_scale_iteration"),
            ),
            (
                v.rhs_scale(),
                "rhs_scale",
                (v.rhs_scale_iteration(), "rhs_scale_iteration"),
            ),
        ];
        for (scale, name, at) in scales {
            if let Some(scale) = scale {
                shared.push(self.stage(op, (scale, name), at)?);
            }
        }
        if let Some(scales) = v.scales() {
            tensor.push(self.stage(op, (scales, "scales"), (None, ""))?);
        }
        Ok(Action::TensorDot(shared, tensor))
    }

    fn dot(&mut self, op: OpId, v: &view::AsyncDot<'_, Op>) -> Result<Action, Diagnostic> {
        let mut reads = Vec::new();
        let sides = [
            ((v.lhs(), "lhs"), (v.lhs_iteration(), "lhs_iteration")),
            ((v.rhs(), "rhs"), (v.rhs_iteration(), "rhs_iteration")),
        ];
        for (operand, at) in sides {
            if matches!(
                self.m.types.get(self.m.ty(operand.0)),
                Type::SharedTile { .. }
            ) {
                reads.push(self.stage(op, operand, at)?);
            } else {
                self.uses_of(op, &[operand.0]);
            }
        }
        self.run.groups += 1;
        let group = self.run.groups;
        self.bind(&[v.result()], &[Val::Group(group)]);
        Ok(Action::Dot(group, reads))
    }
}
