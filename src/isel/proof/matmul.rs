//! Does a matrix instruction, on fragments as the layouts say where they lie, compute the matmul that it is chosen for?
//!
//! Registers of all lanes hold names of elements: which row and column of which operand. The selected instructions run on
//! them as the PTX ISA's figures of fragments say ("Matrix multiply-accumulate operation using mma instruction"). Each
//! element of the result then is a sum of products of names, and must be the one of a matmul.

use std::collections::HashMap;

use super::super::alone::Alone;
use super::super::choose::Tables;
use super::fragments::{Fragments, LANES};
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Float, Module, TypeId, ValueId};
use crate::layout::mma::{MatmulShape, MmaSync, Paired};
use crate::layout::scales::MmaScales;
use crate::layout::{Layout, LayoutError};
use crate::machine::mir::{Atom, Func, Inst, Op, VReg};
use crate::machine::table::{Table, Width};
use crate::rules::Wrong;
use crate::target::Target;

/// What an instruction multiplies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Matmul {
    /// Rows, columns and products of an instruction.
    pub shape: [u64; 3],
    pub a: Multiplicand,
    pub b: Multiplicand,
    pub accumulator: Accumulator,
    /// The type of the scales, and elements along K that share one.
    pub scales: Option<(ScaleType, u64)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Multiplicand {
    Float(Float),
    Int { signed: bool },
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Accumulator {
    F16,
    F32,
    F64,
    I32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ScaleType {
    Power,
    Float,
}

impl Multiplicand {
    pub(super) fn bits(self) -> u64 {
        match self {
            Multiplicand::Float(float) => u64::from(float.bits()),
            Multiplicand::Int { .. } => 8,
        }
    }

    pub(super) fn signed(self) -> bool {
        self == Multiplicand::Int { signed: true }
    }

    pub(super) fn ty(self, module: &mut Module) -> TypeId {
        match self {
            Multiplicand::Float(float) => module.types.float(float),
            Multiplicand::Int { .. } => module.types.int(8),
        }
    }
}

impl Accumulator {
    pub(super) fn ty(self, module: &mut Module) -> TypeId {
        match self {
            Accumulator::F16 => module.types.float(Float::F16),
            Accumulator::F32 => module.types.float(Float::F32),
            Accumulator::F64 => module.types.float(Float::F64),
            Accumulator::I32 => module.types.int(32),
        }
    }

    pub(super) fn bits(self) -> u64 {
        match self {
            Accumulator::F16 => 16,
            Accumulator::F32 | Accumulator::I32 => 32,
            Accumulator::F64 => 64,
        }
    }
}

/// A place in an operand: row and column.
type Place = [u64; 2];

/// What a register holds a piece of.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Held {
    A(Place),
    B(Place),
    ScaleA(Place),
    ScaleB(Place),
    Sum(Sum),
    Nothing,
}

/// An element of the accumulator and the products that were added to it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Sum {
    from: Place,
    products: Vec<Product>,
}

/// Elements of A and B, and their scales.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Product {
    a: Place,
    b: Place,
    scales: Option<(Place, Place)>,
}

/// What a register holds in each lane, the lowest element first.
type Fragment = Vec<Vec<Held>>;

/// Checks the instruction on warps that share out a tile of several instructions in each direction; its mnemonic, and
/// how many elements of results were compared.
pub fn check(matmul: Matmul, tables: &Tables) -> Result<(String, usize), Wrong> {
    let mut compared = 0;
    let mut name = String::new();
    for (tiles, warps) in [
        ([1, 1, 1], [1, 1]),
        ([2, 2, 2], [2, 2]),
        ([1, 4, 3], [1, 2]),
    ] {
        let [m, n, k] = matmul.shape;
        let tile = MatmulShape {
            m: m * tiles[0] * warps[0],
            n: n * tiles[1] * warps[1],
            // Layouts are of powers of two.
            k: k * u64::next_power_of_two(tiles[2]),
        };
        let mma = MmaSync {
            tile,
            instruction: MatmulShape { m, n, k },
            element_bits: matmul.a.bits() as u32,
            warps_m: warps[0],
            warps_n: warps[1],
            batch: None,
            paired: Paired::NONE,
        };
        let (mnemonic, elements) = tiled(matmul, &mma, tables)?;
        name = mnemonic;
        compared += elements;
    }
    Ok((name, compared))
}

fn tiled(matmul: Matmul, mma: &MmaSync, tables: &Tables) -> Result<(String, usize), Wrong> {
    let layouts = Layouts::of(matmul, mma).map_err(|why| why.to_string())?;
    let mut module = Module::new("proof");
    let op = operation(&mut module, matmul, mma, &layouts);
    let selected = Target::all().find_map(|target| {
        let mut alone = Alone::new(&module, tables, target);
        alone.select(module.def_op(op)?).ok()
    });
    let Some(selected) = selected else {
        return Err(format!("no target has an instruction for {matmul:?}").into());
    };
    let mut name = String::new();
    let mut compared = 0;
    for warp in 0..mma.warps_m * mma.warps_n {
        let mut lanes = Lanes::default();
        for (i, (_, registers)) in selected.operands.iter().enumerate() {
            lanes.fill(registers, &layouts.list[i], i, warp, layouts.bits[i]);
        }
        name = lanes.run(&selected.func, &tables.insns, matmul)?;
        let result = selected.results.first().map_or(&[][..], Vec::as_slice);
        compared += lanes.compare(result, &layouts.list[2], warp, matmul, mma.tile.k)?;
    }
    Ok((name, compared))
}

/// The layouts of A, B, C and the scales, and the bits of their elements.
struct Layouts {
    list: Vec<Layout>,
    bits: Vec<u64>,
}

impl Layouts {
    fn of(matmul: Matmul, mma: &MmaSync) -> Result<Layouts, LayoutError> {
        let mut list = vec![mma.a()?, mma.b()?, mma.c()?];
        let mut bits = vec![matmul.a.bits(), matmul.b.bits(), matmul.accumulator.bits()];
        if let Some((_, block)) = matmul.scales {
            let scales = MmaScales {
                mma: *mma,
                along_k: mma.tile.k / block,
            };
            list.extend([scales.a()?, scales.b()?]);
            bits.extend([8, 8]);
        }
        Ok(Layouts { list, bits })
    }
}

/// The operation of the nvvm stage on registers as the layouts count them.
fn operation(module: &mut Module, matmul: Matmul, mma: &MmaSync, layouts: &Layouts) -> ValueId {
    let region = module.new_region();
    let numbers = |v: &[u64]| Some(Attr::I32s(v.iter().map(|&x| x as i32).collect()));
    let byte = module.types.int(8);
    let (a, b) = (matmul.a.ty(module), matmul.b.ty(module));
    let c = matmul.accumulator.ty(module);
    let elements = [a, b, c, byte, byte];
    let types: Vec<TypeId> = layouts
        .list
        .iter()
        .zip(&layouts.bits)
        .zip(elements)
        .map(|((layout, &bits), element)| {
            let registers = layout.registers() as u32;
            match bits {
                4 => module.types.regs(byte, registers / 2),
                // Scales come in words of four.
                8 => module.types.regs(element, registers.next_multiple_of(4)),
                _ => module.types.regs(element, registers),
            }
        })
        .collect();
    let block = module.new_block(region, &types);
    let operands = module.block(block).args.clone();
    let mut attrs = vec![
        numbers(&matmul.shape),
        numbers(&mma.instructions()),
        Some(Attr::Type(a)),
        Some(Attr::Type(b)),
    ];
    let kind = match matmul.scales {
        None => {
            attrs.push(Some(Attr::Bool(matmul.a.signed())));
            attrs.push(Some(Attr::Bool(matmul.b.signed())));
            N::MmaSync
        }
        Some((ty, per)) => {
            let ty = match ty {
                ScaleType::Power => Float::F8E8M0FNU,
                ScaleType::Float => Float::F8E4M3FN,
            };
            attrs.push(Some(Attr::Type(module.types.float(ty))));
            attrs.push(Some(Attr::Int {
                value: (matmul.shape[2] / per.max(1)) as i64,
                ty: module.types.int(32),
            }));
            N::MmaScaled
        }
    };
    let result = types.get(2).copied().unwrap_or(c);
    module.at_end(block).value(kind, &operands, attrs, result)
}

/// The registers of a warp.
#[derive(Default)]
struct Lanes {
    held: HashMap<VReg, Fragment>,
}

impl Lanes {
    /// Puts the elements of operand `i` where its layout has them.
    fn fill(&mut self, registers: &[VReg], layout: &Layout, i: usize, warp: u64, bits: u64) {
        let per = (32 / bits).max(1);
        let element = |register: u64, lane: u64| {
            if register >= layout.registers() {
                return Held::Nothing;
            }
            let coords = layout.coords(register, lane, warp);
            let &[row, column] = coords.as_slice() else {
                return Held::Nothing;
            };
            let place = [row, column];
            match i {
                0 => Held::A(place),
                1 => Held::B(place),
                2 => Held::Sum(Sum {
                    from: place,
                    products: Vec::new(),
                }),
                3 => Held::ScaleA(place),
                _ => Held::ScaleB(place),
            }
        };
        for (number, &register) in registers.iter().enumerate() {
            let first = number as u64 * per;
            let lane = |lane| (first..first + per).map(|e| element(e, lane)).collect();
            self.held.insert(register, (0..LANES).map(lane).collect());
        }
    }

    /// Runs matrix instructions; their mnemonic.
    fn run(&mut self, func: &Func, table: &Table, matmul: Matmul) -> Result<String, Wrong> {
        let mut name = String::new();
        for inst in &func.insts {
            let Inst::Op(op) = inst else {
                return Err("something else than instructions was selected"
                    .to_owned()
                    .into());
            };
            if !op.insn.mnemonic.starts_with("mma.sync.aligned.") {
                return Err(format!("'{}' is not described", op.insn.mnemonic).into());
            }
            name = op.insn.mnemonic.to_string();
            for rep in 0..op.reps as usize {
                self.multiply(op, table, rep, matmul)
                    .ok_or_else(|| format!("the operands of '{name}' are not its fragments"))?;
            }
        }
        Ok(name)
    }

    /// One instruction.
    fn multiply(&mut self, op: &Op, table: &Table, rep: usize, matmul: Matmul) -> Option<()> {
        let slots = &table.row(&op.insn).slots;
        let mut operands = slots.iter().zip(&op.operands).map(|(slot, operand)| {
            let Width::Each(n) = slot.width else {
                return None;
            };
            let n = usize::from(n);
            operand.atoms.get(rep * n..(rep + 1) * n)
        });
        let [d, a, b, c] = [(); 4].map(|()| operands.next().flatten());
        let (d, a, b, c) = (d?, a?, b?, c?);
        let mut scales = None;
        if let Some((_, block)) = matmul.scales {
            let rest = [(); 6].map(|()| operands.next().flatten());
            let [
                Some(&[word_a]),
                Some(&[byte_a]),
                Some(&[thread_a]),
                Some(&[word_b]),
                Some(&[byte_b]),
                Some(&[thread_b]),
            ] = rest
            else {
                return None;
            };
            scales = Some(Scales {
                block,
                a: (word_a, number(byte_a)?, number(thread_a)?),
                b: (word_b, number(byte_b)?, number(thread_b)?),
            });
        }
        let per_word = |bits: u64| (32 / bits).max(1);
        let fragments = Fragments::new(matmul.shape, per_word(matmul.a.bits()));
        let per_sum = per_word(matmul.accumulator.bits());
        let columns = matmul.shape[2];
        let mut results: Vec<Fragment> = vec![vec![Vec::new(); LANES as usize]; d.len()];
        for (lane, element, [row, column]) in fragments.sums() {
            let held = self.at(c, element / per_sum, lane, element % per_sum)?;
            let Held::Sum(mut sum) = held else {
                return None;
            };
            for k in 0..columns {
                let (lane_a, register, element) = fragments.a([row, k])?;
                let Held::A(a) = self.at(a, register, lane_a, element)? else {
                    return None;
                };
                let (lane_b, register, element) = fragments.b([k, column])?;
                let Held::B(b) = self.at(b, register, lane_b, element)? else {
                    return None;
                };
                let scales = match &scales {
                    Some(scales) => Some(self.scales(scales, row, k, column)?),
                    None => None,
                };
                sum.products.push(Product { a, b, scales });
            }
            let register = usize::try_from(element / per_sum).ok()?;
            let fragment = results.get_mut(register)?;
            fragment.get_mut(lane as usize)?.push(Held::Sum(sum));
        }
        for (atom, fragment) in d.iter().zip(results) {
            self.held.insert(atom.reg()?, fragment);
        }
        Some(())
    }

    fn at(&self, atoms: &[Atom], register: u64, lane: u64, element: u64) -> Option<Held> {
        let register = atoms.get(register as usize)?.reg()?;
        let fragment = self.held.get(&register)?;
        fragment.get(lane as usize)?.get(element as usize).cloned()
    }

    /// PTX ISA, "Block Scaling for mma.sync": rows `lane / 4` and `lane / 4 + 8` are scaled by the even and odd thread of
    /// the pair that thread-id-a selects, a column by the thread of its quad that thread-id-b selects; the byte-id is
    /// the first of their bytes.
    fn scales(&self, s: &Scales, row: u64, k: u64, column: u64) -> Option<(Place, Place)> {
        let (word, byte, thread) = s.a;
        let lane = row % 8 * 4 + thread * 2 + row / 8;
        let Held::ScaleA(a) = self.at(&[word], 0, lane, byte + k / s.block)? else {
            return None;
        };
        let (word, byte, thread) = s.b;
        let Held::ScaleB(b) = self.at(&[word], 0, column * 4 + thread, byte + k / s.block)? else {
            return None;
        };
        Some((a, b))
    }

    /// Compares each element of the result with the matmul's.
    fn compare(
        &self,
        registers: &[Atom],
        layout: &Layout,
        warp: u64,
        matmul: Matmul,
        depth: u64,
    ) -> Result<usize, Wrong> {
        let per = (32 / matmul.accumulator.bits()).max(1);
        let mut compared = 0;
        for (lane, element) in (0..LANES).flat_map(|l| (0..layout.registers()).map(move |e| (l, e)))
        {
            let coords = layout.coords(element, lane, warp);
            let &[row, column] = coords.as_slice() else {
                return Err("an accumulator has two dimensions".to_owned().into());
            };
            let held = self.at(registers, element / per, lane, element % per);
            let Some(Held::Sum(mut sum)) = held else {
                return Err(format!("element {element} of lane {lane} is no sum").into());
            };
            sum.products.sort_unstable();
            let block = matmul.scales.map(|s| s.1);
            let product = |k| Product {
                a: [row, k],
                b: [k, column],
                scales: block.map(|block| ([row, k / block], [k / block, column])),
            };
            let want = Sum {
                from: [row, column],
                products: (0..depth).map(product).collect(),
            };
            if sum != want {
                let odd = sum
                    .products
                    .iter()
                    .zip(&want.products)
                    .find(|(a, b)| a != b);
                return Err(format!(
                    "element ({row}, {column}), in register {element} of lane {lane} of warp {warp}, is not the sum of \
                     its products: {odd:?}"
                )
                .into());
            }
            compared += 1;
        }
        Ok(compared)
    }
}

/// The scales of an instruction: register, first byte, thread.
struct Scales {
    block: u64,
    a: (Atom, u64, u64),
    b: (Atom, u64, u64),
}

fn number(atom: Atom) -> Option<u64> {
    match atom {
        Atom::Imm(value) => Some(value),
        _ => None,
    }
}
