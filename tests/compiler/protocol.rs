//! The verifier of the asynchronous protocol accepts the pipelines that the compiler builds and
//! rejects each of them with one thing wrong.

use crate::change;
use crate::ssa;
use change::{all, last, lowered, set_int};
use tilec::compile::{Options, Stage, lower_to};
use tilec::dialect::cuda_tile::Op as C;
use tilec::dialect::nv_tileas::Op as S;
use tilec::dialect::{OpKind, enums};
use tilec::ir::{Attr, Dense, EnumAttr, Module, OpId, Type, ValueId};
use tilec::lower::tileas::protocol::verify;

/// A matmul with a pipeline, at `nv_tileas`.
fn matmul(target: &str) -> Module {
    lowered("matmul/f16_128x128x64.tilebc", target, Stage::NvTileas)
}

/// The warp-specialised form.
fn tma() -> Module {
    let m = matmul("sm_90a");
    assert!(count(&m, S::TmaLoad) == 2 && count(&m, S::TmaStore) == 1);
    m
}

/// The warp-specialised form in which the producer's threads gather an operand and tensor copies bring the other.
fn gathered() -> Module {
    let path = "production_gemm/experts_f16_128x128.tilebc";
    let m = lowered(path, "sm_90a", Stage::NvTileas);
    assert!(count(&m, S::TmaLoad) == 1 && count(&m, S::PointerCopy) == 1);
    m
}

/// The form in which all warps copy.
fn cp_async() -> Module {
    let m = matmul("sm_80");
    assert!(count(&m, S::TiledCopy) > 2 && count(&m, S::Drain) == 1);
    m
}

/// The form in which all warps load the next tiles and store them to a stage; the first, without a pipeline, are not its.
fn registers() -> Module {
    let m = matmul("sm_75");
    assert!(count(&m, S::LocalStore) == 4 && count(&m, S::Drain) == 1);
    m
}

/// The same with a single stage.
fn one_stage() -> Module {
    let m = lowered(
        "production_gemm/persistent_f16.tilebc",
        "sm_75",
        Stage::NvTileas,
    );
    let create = last(&m, S::PipelineCreate);
    let pipeline = m.op(create).results[0];
    assert_eq!(*m.types.get(m.ty(pipeline)), Type::Pipeline { stages: 1 });
    m
}

fn count(m: &Module, kind: S) -> usize {
    all(m, kind).len()
}

fn erase(m: &mut Module, kind: S) {
    all(m, kind).into_iter().for_each(|o| m.erase(o));
}

/// Removes a wait for matmuls; its result becomes what it waited for.
fn forget(m: &mut Module, wait: OpId) {
    let (acc, done) = (m.op(wait).operands[0], m.op(wait).results[0]);
    m.replace_all_uses(done, acc);
    m.erase(wait);
}

fn position(m: &Module, op: OpId) -> usize {
    let block = m.op(op).block;
    m.block(block).ops.iter().position(|&o| o == op).unwrap()
}

/// Puts `op` in front of `before`.
fn relocate(m: &mut Module, op: OpId, before: OpId) {
    let from = m.op(op).block;
    m.block_mut(from).ops.retain(|&o| o != op);
    let (block, at) = (m.op(before).block, position(m, before));
    m.place(op, block, at);
}

/// `value + n`, computed in front of `op`.
fn plus(m: &mut Module, op: OpId, value: ValueId, n: i32) -> ValueId {
    let (block, at, ty) = (m.op(op).block, position(m, op), m.ty(value));
    let data = Dense::Bytes(n.to_le_bytes().to_vec());
    let constant = Attr::Dense { data, ty };
    let mut b = m.at(block, at);
    let n = b.value(C::Constant, &[], [Some(constant)], ty);
    let none = enums::OVERFLOW.cases.iter().position(|c| *c == "none");
    let attrs = [none.map(|i| Attr::Enum(EnumAttr(i as u8)))];
    b.value(C::AddI, &[value, n], attrs, ty)
}

/// Moves the iteration of `op` (its operand `at`) by `n`.
fn shift(m: &mut Module, op: OpId, at: usize, n: i32) {
    let moved = plus(m, op, m.op(op).operands[at], n);
    m.op_mut(op).operands[at] = moved;
}

/// Changes one thing and expects an error on `operation` that says `why`.
#[track_caller]
fn rejects(m: Module, operation: &str, why: &str, change: impl FnOnce(&mut Module)) {
    let named = |kind: &&S| OpKind::from(**kind).def().name == operation;
    let kind = *S::ALL.iter().find(named).expect("an operation");
    change::rejects(verify, m, kind, why, change);
}

#[test]
fn the_corpus_keeps_the_protocol() {
    let mut pipelines = [0, 0, 0, 0];
    for path in ssa::bytecode_files() {
        let bytes = std::fs::read(&path).unwrap();
        for (i, target) in ["sm_75", "sm_80", "sm_90a", "sm_100a"]
            .into_iter()
            .enumerate()
        {
            let module = tilec::bytecode::read(&bytes).unwrap();
            if !streams(&module) {
                break;
            }
            let options = Options::new(target.parse().unwrap());
            match lower_to(module, &options, Stage::NvTileas) {
                Ok(lowered) => {
                    verify(&lowered.module).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                    pipelines[i] += count(&lowered.module, S::PipelineCreate);
                }
                // What is not compiled yet says so; only the protocol is at stake here.
                Err(e) => assert!(!e.to_string().contains("async."), "{}: {e}", path.display()),
            }
        }
    }
    assert!(pipelines.iter().all(|&n| n > 5), "{pipelines:?} pipelines");
}

/// Whether a module could have pipelines at all: it has a loop and a matmul of floats.
fn streams(m: &Module) -> bool {
    !all(m, C::For).is_empty() && !all(m, C::MmaF).is_empty()
}

/// The form in which operands that are stored for matmuls find room in turn only.
fn in_turn() -> Module {
    let path = "../../filetests/pipeline/operands_in_turn_sm_90a.mlir";
    let m = lowered(path, "sm_90a", Stage::NvTileas);
    assert!(count(&m, S::AsyncDot) == 2 && count(&m, S::LocalStore) == 3);
    m
}

// ---- shared bytes --------------------------------------------------------------------------

#[test]
fn a_tile_is_stored_in_bytes_whose_last_one_was_read() {
    // The last store takes bytes that the first matmul's right operand had.
    let ops = |m: &Module| {
        let (store, reader) = (last(m, S::LocalStore), all(m, S::AsyncDot)[0]);
        let next = position(m, reader) + 1;
        (store, reader, m.block(m.op(reader).block).ops[next])
    };
    rejects(
        in_turn(),
        "async.dot",
        "reads a buffer in whose bytes another tile was stored since",
        |m| {
            let (store, reader, _) = ops(m);
            relocate(m, store, reader);
        },
    );
    rejects(
        in_turn(),
        "local_store",
        "overwrites memory that an async.dot in flight reads: missing async.dot_wait",
        |m| {
            let (store, _, wait) = ops(m);
            relocate(m, store, wait);
        },
    );
}

// ---- stages, roles, counts -----------------------------------------------------------------

#[test]
fn stage_counts_agree() {
    rejects(
        tma(),
        "async.pipeline.create",
        "has 3 stages, its type 4",
        |m| {
            let create = last(m, S::PipelineCreate);
            set_int(m, create, "stages", 3);
        },
    );
    rejects(
        tma(),
        "async.tiled_tma_load",
        "the buffer has 3 stages, the pipeline 4",
        |m| {
            let buffer = m.op(all(m, S::TmaLoad)[0]).group(4)[0];
            let mut ty = m.types.get(m.ty(buffer)).clone();
            let Type::SharedTile { stages, .. } = &mut ty else {
                panic!("not a shared buffer")
            };
            *stages = 3;
            let ty = m.types.intern(ty);
            m.value_mut(buffer).ty = ty;
        },
    );
}

#[test]
fn bytes_and_consumers_are_those_of_the_roles() {
    rejects(
        tma(),
        "async.pipeline.producer_commit",
        "32768 bytes are copied into the stage, but the pipeline's `bytes` is 100",
        |m| {
            let create = last(m, S::PipelineCreate);
            set_int(m, create, "bytes", 100);
        },
    );
    rejects(
        tma(),
        "async.pipeline.producer_commit",
        "16384 bytes are copied",
        |m| {
            let load = last(m, S::TmaLoad);
            m.erase(load);
        },
    );
    rejects(
        tma(),
        "async.pipeline.create",
        "`consumers` is 1, but the consumer role has 8 warps",
        |m| {
            let create = last(m, S::PipelineCreate);
            set_int(m, create, "consumers", 1);
        },
    );
    rejects(
        tma(),
        "async.warp_specialize",
        "are not the kernel's 8 warps",
        |m| {
            let func = last(m, S::Func);
            set_int(m, func, "num_warps", 8);
        },
    );
}

#[test]
fn every_thread_of_a_copying_producer_arrives() {
    // The stage of the right operand alone: 64 · 128 · 2 bytes.
    rejects(
        gathered(),
        "async.pipeline.producer_commit",
        "16384 bytes are copied into the stage, but the pipeline's `bytes` is 32768",
        |m| {
            let create = last(m, S::PipelineCreate);
            set_int(m, create, "bytes", 32768);
        },
    );
    // A stage that no thread copies into is not multiplied either: the matmul would read what is not there.
    rejects(
        gathered(),
        "async.pipeline.producer_commit",
        "no thread copies into the stage of iteration 0",
        |m| {
            let copy = last(m, S::PointerCopy);
            m.erase(copy);
        },
    );
    rejects(
        gathered(),
        "async.warp_specialize",
        "8 consumer warps and 4 that copy are not the kernel's 16 warps",
        |m| {
            let create = last(m, S::PipelineCreate);
            set_int(m, create, "copiers", 4);
        },
    );
    rejects(
        gathered(),
        "async.pointer_copy",
        "is in the wrong role: it belongs to the producer, not to the consumer",
        |m| {
            let (copy, wait) = (last(m, S::PointerCopy), last(m, S::ConsumerWait));
            relocate(m, copy, wait);
        },
    );
    rejects(
        gathered(),
        "async.pointer_copy",
        "copies by cp.async in a TMA pipeline of which no warps are `copiers`",
        |m| {
            let create = last(m, S::PipelineCreate);
            let place = m
                .op(create)
                .def()
                .attrs
                .iter()
                .position(|a| a.name == "copiers");
            m.op_mut(create).attrs[place.unwrap()] = None;
            let func = last(m, S::Func);
            set_int(m, func, "num_warps", 12);
        },
    );
}

#[test]
fn steps_are_in_their_roles() {
    rejects(
        tma(),
        "async.pipeline.consumer_wait",
        "is in the wrong role: it belongs to the consumer, not to the producer",
        |m| {
            let (wait, acquire) = (last(m, S::ConsumerWait), last(m, S::ProducerAcquire));
            relocate(m, wait, acquire);
        },
    );
    rejects(tma(), "async.fence", "not to the producer", |m| {
        let (fence, acquire) = (last(m, S::ProxyFence), last(m, S::ProducerAcquire));
        relocate(m, fence, acquire);
    });
    rejects(
        tma(),
        "async.pipeline.create",
        "is in the wrong role: all warps create it",
        |m| {
            let (create, wait) = (last(m, S::PipelineCreate), last(m, S::ConsumerWait));
            relocate(m, create, wait);
        },
    );
}

// ---- counterparts --------------------------------------------------------------------------

#[test]
fn every_step_has_its_counterpart() {
    rejects(
        tma(),
        "async.pipeline.consumer_wait",
        "missing consumer_release for consumer_wait",
        |m| {
            erase(m, S::ConsumerRelease);
        },
    );
    rejects(
        tma(),
        "async.pipeline.producer_acquire",
        "missing producer_commit",
        |m| {
            erase(m, S::ProducerCommit);
        },
    );
    rejects(
        tma(),
        "async.pipeline.consumer_wait",
        "waits without any producer",
        |m| {
            for step in [S::ProducerAcquire, S::TmaLoad, S::ProducerCommit] {
                erase(m, step);
            }
        },
    );
    rejects(
        cp_async(),
        "async.pipeline.consumer_wait",
        "missing consumer_release for consumer_wait",
        |m| {
            erase(m, S::ConsumerRelease);
        },
    );
    rejects(
        cp_async(),
        "async.pipeline.producer_commit",
        "missing consumer_wait",
        |m| {
            erase(m, S::ConsumerWait);
        },
    );
}

#[test]
fn what_is_acquired_is_committed_once() {
    rejects(
        tma(),
        "async.pipeline.producer_acquire",
        "iteration 0 is acquired and never committed",
        |m| {
            // One more acquire, of the iteration after the loop's last.
            let acquire = last(m, S::ProducerAcquire);
            let end = all(m, S::RoleEnd)[0];
            let producer = m.op(end).block;
            let around = |&&o: &&OpId| m.op(o).kind == C::For.into();
            let loop_op = *m.block(producer).ops.iter().find(around).unwrap();
            let (pipeline, next) = (m.op(acquire).operands[0], m.op(loop_op).results[0]);
            let at = position(m, end);
            let groups: [&[ValueId]; 2] = [&[pipeline], &[next]];
            m.at(producer, at)
                .op(S::ProducerAcquire, &groups, [], &[], &[]);
        },
    );
    rejects(
        tma(),
        "async.pipeline.producer_acquire",
        "acquires iteration 0 again",
        |m| {
            let first = last(m, S::ProducerAcquire);
            let (block, at) = (m.op(first).block, position(m, first));
            let operands = m.op(first).operands.clone();
            let groups: [&[ValueId]; 2] = [&operands[..1], &operands[1..]];
            m.at(block, at)
                .op(S::ProducerAcquire, &groups, [], &[], &[]);
        },
    );
}

// ---- turns ---------------------------------------------------------------------------------

#[test]
fn turns_follow_each_other() {
    let shifted = |kind, at, n| {
        move |m: &mut Module| {
            let op = last(m, kind);
            shift(m, op, at, n);
        }
    };
    rejects(
        tma(),
        "async.pipeline.consumer_wait",
        "waits for iteration 1 out of order: 0 is next",
        shifted(S::ConsumerWait, 1, 1),
    );
    rejects(
        tma(),
        "async.pipeline.producer_acquire",
        "acquires iteration 1 out of order",
        shifted(S::ProducerAcquire, 1, 1),
    );
    rejects(
        tma(),
        "async.pipeline.producer_commit",
        "commits iteration 1, which is not acquired",
        shifted(S::ProducerCommit, 1, 1),
    );
    rejects(
        tma(),
        "async.pipeline.consumer_release",
        "releases iteration 1, which is not held",
        shifted(S::ConsumerRelease, 1, 2),
    );
    rejects(
        cp_async(),
        "async.pipeline.consumer_wait",
        "waits for iteration 1 out of order: 0 is next",
        shifted(S::ConsumerWait, 1, 1),
    );
}

#[test]
fn reads_and_writes_are_of_the_turn_at_hand() {
    rejects(
        tma(),
        "async.dot",
        "reads iteration 1, but the iteration waited for is 0: wrong iteration",
        |m| {
            let dot = last(m, S::AsyncDot);
            shift(m, dot, 3, 1);
        },
    );
    rejects(
        cp_async(),
        "local_load",
        "reads iteration 1, but the iteration waited for is 0: wrong iteration",
        |m| {
            let load = last(m, S::LocalLoad);
            shift(m, load, 1, 1);
        },
    );
    rejects(
        tma(),
        "async.tiled_tma_load",
        "writes to the stage of iteration 1, which is not acquired (acquired: 0)",
        |m| {
            let load = last(m, S::TmaLoad);
            let at = m.op(load).operands.len() - 1;
            shift(m, load, at, 1);
        },
    );
}

#[test]
fn nobody_waits_for_ever() {
    rejects(
        tma(),
        "async.pipeline.consumer_wait",
        "waits for ever: iteration 0 has no producer",
        |m| {
            // The producer's loop ends where it begins.
            let producer = m.op(last(m, S::ProducerAcquire)).block;
            let for_op = m.region(m.block(producer).region).parent;
            m.op_mut(for_op).operands[1] = m.op(for_op).operands[0];
        },
    );
    rejects(
        tma(),
        "async.pipeline.consumer_wait",
        "iteration 0 is waited for and never released",
        |m| {
            // Releases that only ever say "none yet".
            for release in all(m, S::ConsumerRelease) {
                shift(m, release, 1, -1000);
            }
        },
    );
}

// ---- groups and proxies --------------------------------------------------------------------

#[test]
fn matmuls_are_waited_for() {
    rejects(
        tma(),
        "async.pipeline.consumer_release",
        "releases iteration 0 while an async.dot that reads it is in flight: missing async.dot_wait with `pending` at most 0",
        |m| {
            // Releases the iteration at hand, not the one before.
            let release = all(m, S::ConsumerRelease)[0];
            shift(m, release, 1, 1);
        },
    );
    rejects(
        tma(),
        "async.pipeline.consumer_release",
        "missing async.dot_wait with `pending` at most 1",
        |m| {
            let wait = all(m, S::AsyncDotWait)[0];
            forget(m, wait);
        },
    );
    let error = {
        let mut m = tma();
        // What the last matmul has read is released behind its wait.
        let release = last(&m, S::ConsumerRelease);
        m.erase(release);
        let wait = last(&m, S::AsyncDotWait);
        forget(&mut m, wait);
        verify(&m).expect_err("the accumulator is used in flight")
    };
    assert!(
        error.to_string().contains(
            "uses an accumulator that async.dot is still computing: missing async.dot_wait"
        ),
        "{error}"
    );
    rejects(
        tma(),
        "async.dot",
        "is still in flight at the end: missing async.dot_wait",
        |m| {
            let wait = last(m, S::AsyncDotWait);
            let (block, at) = (m.op(wait).block, position(m, wait));
            let epilogue = m.block(block).ops[at..].to_vec();
            let end = S::RoleEnd.into();
            for op in epilogue.into_iter().rev() {
                if m.op(op).kind != end {
                    m.erase(op);
                }
            }
        },
    );
}

#[test]
fn generic_writes_are_fenced_from_asynchronous_reads() {
    rejects(tma(), "async.tiled_tma_store", "missing async.fence", |m| {
        erase(m, S::ProxyFence)
    });
    rejects(tma(), "async.tiled_tma_store", "missing async.fence", |m| {
        let (fence, store) = (last(m, S::ProxyFence), last(m, S::LocalStore));
        relocate(m, fence, store);
    });
}

// ---- memory --------------------------------------------------------------------------------

#[test]
fn memory_is_used_again_only_when_idle() {
    rejects(
        cp_async(),
        "async.pipeline.producer_commit",
        "missing async.pipeline.drain",
        |m| erase(m, S::Drain),
    );
    rejects(
        cp_async(),
        "async.pipeline.consumer_wait",
        "missing consumer_release for consumer_wait",
        |m| {
            let release = all(m, S::ConsumerRelease)[0];
            shift(m, release, 1, -1000);
        },
    );
    rejects(
        tma(),
        "local_store",
        "while copies into them may be in flight",
        |m| {
            // The epilogue's buffer is written before the loop.
            let store = last(m, S::LocalStore);
            let (tile, buffer) = (m.op(store).operands[0], m.op(store).operands[1]);
            let alloc = m.def_op(buffer).unwrap();
            let body = m.op(last(m, S::ConsumerWait)).block;
            let for_op = m.region(m.block(body).region).parent;
            relocate(m, alloc, for_op);
            let (block, at) = (m.op(for_op).block, position(m, for_op));
            let groups: [&[ValueId]; 4] = [&[tile], &[buffer], &[], &[]];
            m.at(block, at).op(S::LocalStore, &groups, [], &[], &[]);
        },
    );
}

// ---- registers -----------------------------------------------------------------------------

#[test]
fn stores_fill_stages_of_pipelines_through_registers() {
    rejects(
        registers(),
        "local_store",
        "fills a stage of a pipeline that is not through registers",
        |m| {
            let create = last(m, S::PipelineCreate);
            change::set(m, create, "kind", kind("cp_async"));
        },
    );
    rejects(
        cp_async(),
        "async.tiled_copy",
        "copies into a pipeline through registers",
        |m| {
            let create = last(m, S::PipelineCreate);
            change::set(m, create, "kind", kind("registers"));
        },
    );
    rejects(
        registers(),
        "local_store",
        "writes to a buffer that a pipeline's copies fill",
        |m| {
            let store = last(m, S::LocalStore);
            m.op_mut(store).operands.pop();
            m.op_mut(store).groups = [1, 2, 3, 3].into_iter().collect();
        },
    );
    rejects(
        registers(),
        "local_store",
        "fills a stage without saying which iteration",
        |m| {
            let store = last(m, S::LocalStore);
            m.op_mut(store).operands.remove(2);
            m.op_mut(store).groups = [1, 2, 2, 3].into_iter().collect();
        },
    );
}

#[test]
fn stages_of_registers_are_filled_and_read_between_barriers() {
    // Nothing has brought the first tiles when the loop waits for them.
    rejects(
        registers(),
        "async.pipeline.consumer_wait",
        "waits for iteration 0, which is not committed: missing producer_commit",
        |m| {
            for step in [S::ProducerAcquire, S::ProducerCommit] {
                let first = all(m, step)[0];
                m.erase(first);
            }
            for store in all(m, S::LocalStore).into_iter().take(2) {
                m.erase(store);
            }
        },
    );
    rejects(
        registers(),
        "local_load",
        "reads a buffer that no copy of iteration 1 fills",
        |m| {
            let store = last(m, S::LocalStore);
            m.erase(store);
        },
    );
    rejects(
        registers(),
        "local_store",
        "writes to the stage of iteration 2, which is not acquired (acquired: 1)",
        |m| {
            let store = last(m, S::LocalStore);
            shift(m, store, 2, 1);
        },
    );
    // The stores of an iteration's tiles in front of what reads the only stage.
    rejects(
        one_stage(),
        "async.pipeline.consumer_wait",
        "iteration 0 is waited for and not released before its stage is overwritten",
        |m| {
            let release = last(m, S::ConsumerRelease);
            let commit = last(m, S::ProducerCommit);
            let (block, at) = (m.op(commit).block, position(m, commit));
            m.block_mut(block).ops.retain(|&o| o != release);
            m.place(release, block, at);
        },
    );
    for m in [registers(), one_stage()] {
        rejects(
            m,
            "async.pipeline.producer_commit",
            "missing async.pipeline.drain",
            |m| erase(m, S::Drain),
        );
    }
}

/// The form in which threads copy what matmuls read once.
fn once() -> Module {
    let path = "../../filetests/pipeline/operands_once.mlir";
    let m = lowered(path, "sm_80", Stage::NvTileas);
    assert!(count(&m, S::TiledCopy) == 3 && count(&m, S::Drain) == 2);
    m
}

#[test]
fn single_stages_of_copies_are_consumed() {
    rejects(
        once(),
        "async.pipeline.drain",
        "drains a single stage that nobody has waited for: missing consumer_wait",
        |m| {
            let (drain, wait) = (last(m, S::Drain), last(m, S::ConsumerWait));
            relocate(m, drain, wait);
        },
    );
    rejects(
        once(),
        "async.pipeline.consumer_wait",
        "whose copies are not committed 0 groups before",
        |m| {
            let (wait, commit) = (last(m, S::ConsumerWait), all(m, S::ProducerCommit)[0]);
            relocate(m, wait, commit);
        },
    );
}

/// The attribute for what fills a pipeline.
fn kind(name: &str) -> Attr {
    let case = enums::PIPELINE_KIND.cases.iter().position(|c| *c == name);
    Attr::Enum(EnumAttr(case.expect("a kind") as u8))
}

// ---- tensor memory -------------------------------------------------------------------------

/// The form with an accumulator in tensor memory; rings are emptied by matmuls.
fn tensor() -> Module {
    let m = matmul("sm_100a");
    assert!(count(&m, S::TensorDot) == 1 && count(&m, S::TensorLoad) == 1);
    m
}

/// A matmul that reads in tensor memory what was computed from the one before.
fn attention() -> Module {
    let file = "production_attention/forward_f16_even.tilebc";
    let m = lowered(file, "sm_100a", Stage::NvTileas);
    assert!(count(&m, S::TensorDot) > 1 && count(&m, S::TensorStore) > 0);
    m
}

#[test]
fn accumulators_are_read_when_matmuls_are_done() {
    rejects(
        tensor(),
        "tensor_load",
        "touches tensor memory that an async.tensor_dot in flight uses: missing consumer_wait",
        |m| {
            let store = last(m, S::LocalStore);
            for step in [last(m, S::ConsumerWait), last(m, S::ConsumerRelease)] {
                relocate(m, step, store);
            }
        },
    );
    rejects(
        tensor(),
        "async.tensor_dot",
        "is still in flight at the end",
        |m| {
            let end = last(m, S::RoleEnd);
            let (block, at) = (m.op(end).block, position(m, end));
            let dot = last(m, S::TensorDot);
            let acc = m.op(dot).operands[2];
            // Another matmul behind the last commit, whose result nobody reads.
            let ty = m.ty(acc);
            let body = m.body_of(last(m, S::Func), 0).unwrap();
            let other = m.at(body, 0).value(S::AllocTensorMemory, &[], [None], ty);
            let alloc = m.def_op(other).unwrap();
            set_int(m, alloc, "column", 256);
            let (lhs, rhs) = (m.op(dot).operands[0], m.op(dot).operands[1]);
            let (a, b) = (own(m, body, lhs), own(m, body, rhs));
            let groups: [&[ValueId]; 7] = [&[a], &[b], &[other], &[], &[], &[], &[]];
            m.at(block, at)
                .op(S::TensorDot, &groups, [None, None], &[], &[]);
        },
    );
}

/// A buffer like `buffer` that no ring fills.
fn own(m: &mut Module, body: tilec::ir::BlockId, buffer: ValueId) -> ValueId {
    let ty = m.ty(buffer);
    m.at(body, 0).value(S::AllocTensor, &[], [], ty)
}

#[test]
fn matmuls_follow_what_warps_do_in_tensor_memory() {
    rejects(
        attention(),
        "async.tensor_dot",
        "writes tensor memory that warps have touched: missing consumer_release",
        |m| {
            // The operand that the last matmul reads there is stored behind what hands it over.
            let (release, store) = (handed_over(m), last(m, S::TensorStore));
            relocate(m, release, store);
        },
    );
}

/// The last release that hands an iteration over to matmuls.
fn handed_over(m: &Module) -> OpId {
    let hands = |o: &OpId| {
        let create = m.def_op(m.op(*o).operands[0]).unwrap();
        m.op(create).has_unit("handed_over")
    };
    all(m, S::ConsumerRelease).into_iter().rfind(hands).unwrap()
}

#[test]
fn iterations_are_handed_over_in_order_when_the_last_one_is_done() {
    rejects(
        attention(),
        "async.pipeline.consumer_release",
        "hands iteration 2 over out of order: 1 is next",
        |m| shift(m, handed_over(m), 1, 1),
    );
    rejects(
        attention(),
        "async.pipeline.consumer_release",
        "hands iteration 1 over before iteration 0 of its stage is waited for: missing consumer_wait",
        |m| {
            let release = handed_over(m);
            let (block, pipeline) = (m.op(release).block, m.op(release).operands[0]);
            let wait = all(m, S::ConsumerWait).into_iter();
            let mut wait = wait.filter(|&o| m.op(o).block == block);
            let wait = wait.find(|&o| m.op(o).operands[0] == pipeline).unwrap();
            let behind = m.block(block).ops[position(m, release) + 1];
            relocate(m, wait, behind);
        },
    );
    rejects(
        attention(),
        "async.pipeline.producer_acquire",
        "waits for ever: iteration 0 is not handed over: missing consumer_release",
        |m| {
            let pipeline = m.op(handed_over(m)).operands[0];
            let releases = all(m, S::ConsumerRelease).into_iter();
            let own = releases.filter(|&o| m.op(o).operands[0] == pipeline);
            for release in own.collect::<Vec<_>>() {
                shift(m, release, 1, -1000);
            }
        },
    );
    rejects(
        attention(),
        "async.pipeline.create",
        "only consumers of matmuls of one block hand iterations over",
        |m| {
            let create = m.def_op(m.op(handed_over(m)).operands[0]).unwrap();
            set_int(m, create, "consumers", 0);
        },
    );
}

/// A kernel for sm_100a whose matmuls are a role of their own.
fn with_warp_of_matmuls(file: &str) -> Module {
    let m = lowered(file, "sm_100a", Stage::NvTileas);
    assert!(m.op(last(&m, S::WarpSpecialize)).regions.len() > 2);
    m
}

#[test]
fn the_matmuls_thread_waits_for_what_nobody_hands_over() {
    // The warps read a vector that comes with an operand: they hand the stage back, and let matmuls in before they wait for it.
    let shared = || with_warp_of_matmuls("production_widened/across_f16.tilebc");
    let own_wait = |m: &Module| {
        let waits = all(m, S::ConsumerWait);
        let dot = all(m, S::TensorDot)[0];
        let is_own = |o: &&OpId| m.op(**o).block == m.op(dot).block;
        *waits.iter().find(is_own).unwrap()
    };
    rejects(
        shared(),
        "async.tensor_dot",
        "reads iteration 0, which its own role has not waited for, and nobody handed over: missing consumer_wait",
        |m| m.erase(own_wait(m)),
    );
}

/// A kernel whose scores are multiplied by a role of their own while the warps compute with the ones before.
fn ahead() -> Module {
    with_two_warps_of_matmuls("../../filetests/pipeline/scores_ahead_sm_100a.mlir")
}

/// The same of tiles that both roles of matmuls read.
fn read_by_both() -> Module {
    with_two_warps_of_matmuls("../../random/keys_that_are_values.mlir")
}

fn with_two_warps_of_matmuls(file: &str) -> Module {
    let m = lowered(file, "sm_100a", Stage::NvTileas);
    assert_eq!(m.op(last(&m, S::WarpSpecialize)).regions.len(), 4);
    m
}

#[test]
fn roles_of_matmuls_beside_a_lone_producer_have_a_warp_each() {
    let file = "../../filetests/pipeline/scores_ahead_by_one_warp_sm_100a.mlir";
    // Two roles of matmuls in one warp, and a warp without a role.
    for warps in [6, 9] {
        rejects(
            with_two_warps_of_matmuls(file),
            "async.warp_specialize",
            &format!("are not the kernel's {warps} warps"),
            |m| {
                let func = last(m, S::Func);
                set_int(m, func, "num_warps", warps);
            },
        );
    }
}

/// The steps of a kind in the loop of the role number `role`, in order.
fn steps_of(m: &Module, role: usize, kind: S) -> Vec<OpId> {
    let body = m.body_of(last(m, S::WarpSpecialize), role).unwrap();
    let of = |&o: &OpId| m.op(o).kind == OpKind::from(kind) && m.op(o).block != body;
    m.ops_under(body).into_iter().filter(of).collect()
}

#[test]
fn scores_are_let_in_when_they_are_loaded() {
    rejects(
        ahead(),
        "async.tensor_dot",
        "writes tensor memory that warps have touched: missing consumer_release",
        |m| {
            // The scores are loaded behind what lets the next ones in.
            let (release, load) = (steps_of(m, 1, S::ConsumerRelease)[0], first_load(m));
            relocate(m, release, load);
        },
    );
    rejects(
        ahead(),
        "async.tensor_dot",
        "writes tensor memory that warps have touched: missing consumer_release",
        |m| {
            // They are loaded before they are waited for.
            let (wait, load) = (steps_of(m, 1, S::ConsumerWait)[0], first_load(m));
            let behind = m.block(m.op(load).block).ops[position(m, load) + 1];
            relocate(m, wait, behind);
        },
    );
}

/// The first load from tensor memory in the consumers' loop.
fn first_load(m: &Module) -> OpId {
    steps_of(m, 1, S::TensorLoad)[0]
}

#[test]
fn a_role_of_matmuls_knows_what_is_handed_over_to_it() {
    rejects(
        ahead(),
        "tensor_store",
        "touches tensor memory that an async.tensor_dot in flight uses: missing consumer_wait",
        |m| {
            // The operand of the output is stored before the output of the iteration before is waited for.
            let (wait, store) = (
                steps_of(m, 1, S::ConsumerWait)[1],
                steps_of(m, 1, S::TensorStore)[0],
            );
            relocate(m, store, wait);
        },
    );
    rejects(
        ahead(),
        "async.tensor_dot",
        "writes tensor memory that warps have touched: missing consumer_release",
        |m| {
            // What is stored is handed over with the scores alone, to the other role.
            let releases = steps_of(m, 1, S::ConsumerRelease);
            let store = *steps_of(m, 1, S::TensorStore).last().unwrap();
            relocate(m, releases[1], store);
            let end = m.block(m.op(store).block).ops[position(m, store) + 1];
            relocate(m, releases[0], end);
        },
    );
}

#[test]
fn two_roles_of_matmuls_have_no_columns_in_common() {
    rejects(
        ahead(),
        "async.tensor_dot",
        "uses columns of tensor memory that another role's matmuls use: they are done in no order",
        |m| {
            let operand = m.op(steps_of(m, 3, S::TensorDot)[0]).operands[0];
            let scores = m.op(steps_of(m, 2, S::TensorDot)[0]).operands[2];
            let [operand, scores] = [operand, scores].map(|v| m.def_op(v).unwrap());
            let column = m.op(scores).attrs[0].clone();
            m.op_mut(operand).attrs[0] = column;
        },
    );
}

#[test]
fn a_stage_that_both_roles_read_is_waited_for_by_both_and_handed_back_behind_both() {
    for role in [2, 3] {
        rejects(
            read_by_both(),
            "async.tensor_dot",
            "missing consumer_wait",
            |m| m.erase(steps_of(m, role, S::ConsumerWait)[0]),
        );
    }
    rejects(
        read_by_both(),
        "async.pipeline.consumer_release",
        "is in flight: missing consumer_wait",
        |m| {
            // The role of the output hands the stage back before it knows that the scores are done.
            let (release, acquire) = (
                steps_of(m, 3, S::ConsumerRelease)[0],
                steps_of(m, 3, S::ProducerAcquire)[0],
            );
            relocate(m, release, acquire);
        },
    );
}

#[test]
fn stages_are_handed_back_by_matmuls_or_behind_them() {
    rejects(
        tensor(),
        "async.pipeline.create",
        "`consumers` is 1, but the consumer role has 4 warps",
        |m| {
            hand_back_by_warps(m);
        },
    );
    rejects(
        tensor(),
        "async.pipeline.consumer_release",
        "releases iteration 0 while an async.tensor_dot that reads it is in flight: missing consumer_wait",
        |m| {
            let release = hand_back_by_warps(m);
            let ring = m.op(release).operands[0];
            let create = m.def_op(ring).unwrap();
            set_int(m, create, "consumers", 4);
        },
    );
}

#[test]
fn releases_by_matmuls_arrive_before_the_block_ends() {
    let file = "../../filetests/pipeline/operand_read_again_in_a_loop_sm_100a.mlir";
    let again = || lowered(file, "sm_100a", Stage::NvTileas);
    rejects(
        again(),
        "async.pipeline.consumer_release",
        "is still in flight at the end: missing producer_commit and consumer_wait",
        |m| {
            let release = by_matmuls(m);
            relocate(m, release, last(m, S::RoleEnd));
        },
    );
    rejects(
        again(),
        "async.pipeline.consumer_release",
        "is in the wrong role: it belongs to the matmuls' thread",
        |m| {
            by_matmuls(m);
        },
    );
}

/// Lets matmuls hand back the stage that the warps hand back last; its release.
fn by_matmuls(m: &mut Module) -> OpId {
    let by_warps = |o: &OpId| !m.op(*o).has_unit("matmuls");
    let release = all(m, S::ConsumerRelease)
        .into_iter()
        .rfind(by_warps)
        .unwrap();
    m.op_mut(release).attrs[0] = Some(Attr::Unit);
    let create = m.def_op(m.op(release).operands[0]).unwrap();
    set_int(m, create, "consumers", 1);
    release
}

/// The ring's stages are released by the consumer's warps; the release.
fn hand_back_by_warps(m: &mut Module) -> OpId {
    let release = all(m, S::ConsumerRelease)[0];
    m.op_mut(release).attrs[0] = None;
    release
}

/// The form in which a thread of its own multiplies.
#[test]
fn matmuls_of_persistent_kernels_have_a_role() {
    let persistent = || with_warp_of_matmuls("production_gemm/persistent_f16.tilebc");
    rejects(
        persistent(),
        "tensor_load",
        "is in the wrong role: one thread issues matmuls and nothing else",
        |m| {
            let (load, dot) = (last(m, S::TensorLoad), last(m, S::TensorDot));
            relocate(m, load, dot);
        },
    );
    rejects(
        persistent(),
        "async.pipeline.consumer_wait",
        "iteration 0 is waited for and never released",
        |m| {
            // Accumulators that are never handed back: the last release of the consumer is theirs.
            let release = accumulator_release(m);
            shift(m, release, 1, -1000);
        },
    );
}

/// The release of accumulators by those who load them.
fn accumulator_release(m: &Module) -> OpId {
    let found = all(m, S::ConsumerRelease);
    let load = last(m, S::TensorLoad);
    let mut from = found.into_iter().filter(|&o| !m.op(o).has_unit("matmuls"));
    from.next_back().unwrap_or(load)
}

// ---- clusters ------------------------------------------------------------------------------

/// Two blocks that fill each other's stages.
fn cluster() -> Module {
    let m = lowered(
        "production_cluster/plain_f16_256x128.tilebc",
        "sm_90a",
        Stage::NvTileas,
    );
    assert_eq!(count(&m, S::ClusterRank), 1);
    m
}

#[test]
fn stages_that_other_blocks_fill_are_empty_in_all_blocks() {
    rejects(
        cluster(),
        "async.tiled_tma_load",
        "which do not say when they are empty: missing `blocks` of the pipeline",
        |m| {
            let create = last(m, S::PipelineCreate);
            *m.attr_mut(create, "blocks") = None;
        },
    );
    rejects(
        cluster(),
        "async.pipeline.create",
        "`blocks` is not the number of blocks of the cluster",
        |m| {
            let create = last(m, S::PipelineCreate);
            set_int(m, create, "blocks", 4);
        },
    );
}

/// A block that takes one step more than the others waits for them for ever.
#[test]
fn blocks_that_share_stages_take_the_same_steps() {
    for (role, bound) in [(0, 0), (0, 1), (1, 1), (1, 2)] {
        let m = cluster();
        let same = "follows from the block's number in the cluster, but the blocks share stages";
        change::rejects(verify, m, C::For, same, |m| {
            let rank = m.result(last(m, S::ClusterRank));
            let split = last(m, S::WarpSpecialize);
            let body = m.body_of(split, role).unwrap();
            let ops = m.ops_under(body);
            let of = ops
                .into_iter()
                .find(|&o| OpKind::from(C::For) == m.op(o).kind);
            let around = of.expect("a loop over K");
            let own = plus(m, around, rank, 1);
            m.op_mut(around).operands[bound] = own;
        });
    }
    rejects(
        cluster(),
        "async.pipeline.consumer_wait",
        "its iteration follows from the block's number",
        |m| {
            let rank = m.result(last(m, S::ClusterRank));
            let wait = last(m, S::ConsumerWait);
            m.op_mut(wait).operands[1] = rank;
        },
    );
}

// ---- pairs of blocks -----------------------------------------------------------------------

/// Two blocks, the first of which multiplies for both.
fn pair() -> Module {
    let m = lowered(
        "production_cluster/plain_f16_256x128.tilebc",
        "sm_100a",
        Stage::NvTileas,
    );
    let dot = m.op(last(&m, S::TensorDot));
    assert!(dot.attr_named("pair").is_some());
    m
}

#[test]
fn a_pair_waits_for_the_copies_of_both_blocks() {
    rejects(
        pair(),
        "async.tensor_dot",
        "multiplies for a pair of blocks what no pipeline with `pair` brings",
        |m| {
            let ring = all(m, S::PipelineCreate).into_iter().rev();
            for create in ring.take(1) {
                *m.attr_mut(create, "pair") = None;
            }
        },
    );
    rejects(
        pair(),
        "async.tensor_dot",
        "multiplies for a pair of blocks what no pipeline with `pair` brings",
        |m| {
            let load = last(m, S::TmaLoad);
            *m.attr_mut(load, "multicast") = Some(Attr::Unit);
        },
    );
}

#[test]
fn a_pair_hands_accumulators_to_both_blocks() {
    rejects(
        pair(),
        "async.pipeline.producer_commit",
        "the matmuls are a pair's: missing `pair` of the pipeline",
        |m| {
            let matmuls = all(m, S::PipelineCreate)[0];
            *m.attr_mut(matmuls, "pair") = None;
        },
    );
}

#[test]
fn all_matmuls_are_a_pairs_or_none() {
    rejects(
        pair(),
        "async.pipeline.create",
        "`pair`, but no matmul is a pair's",
        |m| {
            let dot = last(m, S::TensorDot);
            *m.attr_mut(dot, "pair") = None;
        },
    );
    rejects(
        pair(),
        "async.pipeline.create",
        "`pair`: TMA or matmuls fill the stages of a cluster of two blocks",
        |m| {
            let func = last(m, S::Func);
            set_int(m, func, "cluster", 4);
        },
    );
}

/// Only in the first block does an mbarrier know that a stage is full.
#[test]
fn nobody_else_reads_what_a_pair_multiplies() {
    rejects(
        pair(),
        "async.pipeline.consumer_wait",
        "only the matmuls' role of the first block knows when a stage of a pair is full",
        |m| {
            let waits = all(m, S::ConsumerWait);
            let split = last(m, S::WarpSpecialize);
            let consumer = m.body_of(split, 1).unwrap();
            let own = waits.iter().find(|&&w| m.op(w).block == consumer);
            let own = *own.expect("the consumers wait for accumulators");
            let ring = m.result(last(m, S::PipelineCreate));
            let (at, iteration) = (position(m, own), m.op(own).operands[1]);
            let mut b = m.at(consumer, at);
            b.op(S::ConsumerWait, &[&[ring], &[iteration]], [], &[], &[]);
        },
    );
}
