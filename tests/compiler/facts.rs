//! Facts of a function's values.

use tilec::compile::Stage;
use tilec::dialect::Traits;
use tilec::facts;
use tilec::ir::{Module, OpId};

use crate::change::lowered;

/// With loops, branches, views and none of these.
const FILES: [&str; 5] = [
    "matmul/f16_128x128x64.tilebc",
    "ops_control/if-13.5.tilebc",
    "ops_control/loop-13.5.tilebc",
    "softmax/f32_4x256.tilebc",
    "vadd/f32.tilebc",
];

/// The functions of a module.
fn functions(m: &Module) -> Vec<OpId> {
    let isolated = |&op: &OpId| {
        let data = m.op(op);
        data.def().traits.has(Traits::ISOLATED) && m.body_of(op, 0).is_some()
    };
    m.ops_under(m.body).into_iter().filter(isolated).collect()
}

/// What is found for an e-graph is what the whole walk finds, and leaves out results of pure operations only.
#[test]
fn an_egraph_is_told_the_same_facts() {
    for file in FILES {
        for stage in [
            Stage::CudaTile,
            Stage::NvTileaa,
            Stage::NvTileas,
            Stage::Nvvm,
        ] {
            let m = lowered(file, "sm_90a", stage);
            for func in functions(&m) {
                let (all, some) = (facts::of(&m, func), facts::for_egraph(&m, func));
                assert!(some.len() <= all.len());
                for op in m.ops_under(m.body_of(func, 0).expect("a body")) {
                    let data = m.op(op);
                    let computed = data.def().is_pure() && data.def().has_one_result();
                    for &value in &data.results {
                        match some.get(value) {
                            Some(facts) => assert_eq!(Some(facts), all.get(value), "{file}"),
                            None => assert!(computed, "{file}: {}", data.kind),
                        }
                    }
                    let blocks = data.regions.iter().flat_map(|&r| &m.region(r).blocks);
                    for value in blocks.flat_map(|&b| &m.block(b).args) {
                        assert_eq!(some.get(*value), all.get(*value), "{file}");
                    }
                }
            }
        }
    }
}
