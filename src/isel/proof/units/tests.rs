use super::memory::Lies;
use super::{Types, floats, prove, tensor, wgmma};
use crate::isel::Tables;
use crate::rules::prove::Class;

fn tables() -> Tables {
    Tables::load(None).expect("the built-in tables")
}

fn f16() -> Types {
    floats("16")[0]
}

/// A matmul of one warpgroup, both operands in shared memory, with 64 columns of two.
fn warpgroup() -> wgmma::Matmul {
    let matmul = wgmma::Matmul::new(
        f16(),
        wgmma::TILES[1],
        Some(Lies::PLAINLY),
        Lies::PLAINLY,
        false,
    );
    matmul.expect("a case")
}

fn tensor_memory(source: &str) -> tensor::Matmul {
    let matmul = tensor::Matmul::new(f16(), tensor::TILES[0], source, [Lies::PLAINLY; 2], false);
    matmul.expect("a case")
}

/// 256 rows of 64 columns: two warpgroups with two instructions each.
#[test]
fn the_sums_of_a_warpgroup_are_the_matmuls() {
    assert_eq!(warpgroup().check(&tables()), Ok(256 * 64));
}

/// Every way to break the atom has a counterexample: an element, and the product that is not its own.
#[test]
fn a_broken_atom_of_warpgroups_is_seen() {
    let says = |change: &dyn Fn(&mut wgmma::Matmul), why: &str| {
        let mut broken = warpgroup();
        change(&mut broken);
        let error = broken.check(&tables()).expect_err(why);
        assert!(error.contains(why), "{error}");
    };
    // The second instruction along K reads what the third should: columns 32 to 47 of A in place of 16 to 31.
    says(
        &|m| m.left.as_mut().expect("in memory").k_steps[1] += 32,
        "has the product A[0, 32] · B[16, 0]",
    );
    says(
        &|m| m.right.k_steps.swap(0, 1),
        "has the product A[0, 0] · B[16, 0]",
    );
    // The stride between groups of eight rows is wrong: another row's elements.
    says(
        &|m| m.left.as_mut().expect("in memory").constant += 64 << 32,
        "element (16, 0) has the product A[32, 0]",
    );
    // No swizzle where there is one, and K contiguous where N is said to be.
    says(&|m| m.right.constant &= !(3 << 62), "element");
    says(&|m| m.right.transposed = true, "element");
    // Rows in pairs in the registers of the accumulator, which the instruction does not know.
    says(
        &|m| m.of.paired = true,
        "element (2, 0) has the product A[1, 0] · B[0, 0]",
    );
    // The second warpgroup's rows begin elsewhere.
    says(
        &|m| m.left.as_mut().expect("in memory").mn_steps.swap(1, 2),
        "element (64, 0) has the product A[128, 0]",
    );
}

/// 128 rows of 128 columns; of a pair, each block has so many.
#[test]
fn the_sums_in_tensor_memory_are_the_matmuls() {
    assert_eq!(tensor_memory("ss").check(&tables()), Ok(128 * 128));
    assert_eq!(tensor_memory("ts").check(&tables()), Ok(128 * 128));
    assert_eq!(tensor_memory("pair").check(&tables()), Ok(2 * 128 * 128));
}

#[test]
fn a_broken_atom_of_tensor_memory_is_seen() {
    let says = |source: &str, change: &dyn Fn(&mut tensor::Matmul), why: &str| {
        let mut broken = tensor_memory(source);
        change(&mut broken);
        let error = broken.check(&tables()).expect_err(why);
        assert!(error.contains(why), "{error}");
    };
    says(
        "ss",
        &|m| m.right.k_steps.swap(1, 2),
        "has the product A[0, 16] · B[32, 0]",
    );
    says(
        "pair",
        &|m| m.right.constant &= !(1 << 46),
        "is no matrix descriptor",
    );
    says("ss", &|m| m.right.transposed = true, "element");
    // As the descriptor of bf16 has it, where f16 is asked for.
    says("ss", &|m| m.types = floats("16")[2], "does not describe");
    // The accumulator as instructions of 64 rows leave it.
    says(
        "ss",
        &|m| m.sums.lanes = 64,
        "element (64, 0) has 0 products, not 64",
    );
    // The left operand in registers of tensor memory that are as wide as its elements are not.
    let wide = |m: &mut tensor::Matmul| {
        if let tensor::Left::Tensor(left) = &mut m.left {
            left.cell = 32;
        }
    };
    says("ts", &wide, "no element of the left operand is at");
}

/// All others are proven by `tests/toolkit/proofs.rs`, too: that takes longer.
#[test]
fn an_instruction_is_proven_and_one_with_scales_says_that_it_is_not() {
    let tables = tables();
    let class = |name: &str| {
        assert!(super::names(&tables).contains(name), "{name}");
        prove(name, &tables).map(|verdict| (verdict.class, verdict.instances))
    };
    // The one way that operands lie in first, then each of them in all four.
    assert_eq!(class("tcgen05.pair.tf32"), Ok((Class::Proven, 9)));
    assert_eq!(class("tcgen05.mxf4.block32"), Ok((Class::Exempt, 0)));
}
