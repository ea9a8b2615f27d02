//! `tcgen05.mma`: the accumulator in tensor memory, the left operand there or in shared memory, the right one in shared
//! memory; of a pair of blocks, each has half of the rows of the accumulator and of the left operand, and half of the
//! columns of the right one.

use rustc_hash::FxHashMap;

use super::super::super::alone::{Alone, Selected};
use super::super::super::choose::Tables;
use super::super::matmul::{Accumulator, Multiplicand};
use super::memory::{Descriptor, Lies, Operand};
use super::{Count, Line, Numbers, Place, Sum, Types};
use crate::dialect::enums;
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Dense, EnumAttr, Float, Module, OpId, ValueId};
use crate::layout::tcgen05::{Atom, K_BITS, constant, describe};
use crate::layout::tensor::TensorMatrix;
use crate::machine::mir::Op;
use crate::rules::Wrong;
use crate::target::Target;

/// Where operands begin in shared memory, and columns of tensor memory.
const LEFT: u64 = 0x4000;
const RIGHT: u64 = 0x20000;
const SUMS: u64 = 0;
const LEFT_COLUMN: u64 = 384;

/// Rows, columns, and rows of an instruction.
pub(super) const TILES: [[u64; 3]; 4] =
    [[128, 128, 128], [256, 64, 128], [64, 64, 64], [128, 8, 64]];
/// More columns than an instruction has: only with the left operand in shared memory, since nothing else fits.
const WIDE: [u64; 3] = [128, 512, 128];
/// Instructions along K.
const ALONG_K: u64 = 4;

/// The left operand.
#[derive(Clone, Debug)]
pub(super) enum Left {
    Shared(Operand),
    Tensor(TensorMatrix),
}

/// A matmul as loops are lowered to it.
#[derive(Clone, Debug)]
pub struct Matmul {
    pub(super) types: Types,
    pub(super) atom: Atom,
    /// The accumulator of a block.
    pub(super) sums: TensorMatrix,
    pub(super) left: Left,
    pub(super) right: Operand,
    depth: u64,
    pair: bool,
    fresh: bool,
}

/// All cases of the row `tcgen05.SOURCE.KIND`.
pub fn prove(name: &str, tables: &Tables) -> Result<Count, Wrong> {
    let mut parts = name.split('.').skip(1);
    let (source, kind) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let types = super::floats(match kind {
        "f16" => "16",
        "f8f6f4" => "8",
        kind => kind,
    });
    let wide = (source == "ss").then_some(WIDE);
    let mut count = Count::default();
    for (types, first) in super::first_of_width(types) {
        for tile in TILES.into_iter().chain(wide) {
            let mut ways = vec![(Lies::PLAINLY, Lies::PLAINLY)];
            let others = match first {
                true => Lies::all(types.a.bits(), &[8, 16]),
                false => Vec::new(),
            };
            for lies in others {
                ways.extend([(lies, Lies::PLAINLY), (Lies::PLAINLY, lies)]);
            }
            for (i, (left, right)) in ways.into_iter().enumerate() {
                if source == "ts" && left != Lies::PLAINLY {
                    continue;
                }
                let Some(matmul) = Matmul::new(types, tile, source, [left, right], i == 0) else {
                    continue;
                };
                let what = || format!("{types:?}, {tile:?}, left {left:?}, right {right:?}");
                count.case(matmul.check(tables), what)?;
            }
        }
    }
    Ok(count)
}

/// As the dialects call elements.
fn name(multiplicand: Multiplicand) -> &'static str {
    match multiplicand {
        Multiplicand::Int { .. } => "i8",
        Multiplicand::Float(float) => float.name(),
    }
}

impl Matmul {
    /// None where so small a tile does not lie like this, or is not multiplied like this.
    pub(super) fn new(
        types: Types,
        [rows, columns, lanes]: [u64; 3],
        source: &str,
        [left, right]: [Lies; 2],
        fresh: bool,
    ) -> Option<Matmul> {
        let pair = source == "pair";
        let sum = match types.sum {
            Accumulator::F16 => "f16",
            Accumulator::I32 => "i32",
            _ => "f32",
        };
        let half = sum == "f16" || source != "ss";
        if lanes < 128 && half || pair && rows > 128 {
            return None;
        }
        let bits = types.a.bits();
        let depth = ALONG_K * K_BITS / bits;
        let blocks = 1 + u64::from(pair);
        let operand = |shape: [u64; 2], dim: usize, lies, address, each| {
            Operand::new(shape, dim, bits, lies, address, |layout| {
                let found = describe(layout, dim, each)?;
                let constant = constant(&found);
                Ok((found, constant))
            })
        };
        let matrix = |rows, columns, lanes, cell: u64, element: u64| TensorMatrix {
            rows,
            columns,
            lanes,
            cell: cell as u32,
            element_bits: element as u32,
        };
        let left = match source {
            "ts" => Left::Tensor(matrix(rows, depth, lanes, bits, bits)),
            _ => Left::Shared(operand([rows, depth], 0, left, LEFT, lanes)?),
        };
        let (own, each) = (columns / blocks, columns.min(256) / blocks);
        Some(Matmul {
            types,
            atom: Atom::of(name(types.a), name(types.b), sum)?,
            sums: matrix(rows, columns, lanes, 32, types.sum.bits()),
            left,
            right: operand([depth, own], 1, right, RIGHT, each)?,
            depth,
            pair,
            fresh,
        })
    }

    /// Runs the selected instructions; how many elements of results were compared.
    pub(super) fn check(&self, tables: &Tables) -> Result<usize, String> {
        let mut module = Module::new("proof");
        let (op, operands) = self.operation(&mut module)?;
        let selected = Target::all().find_map(|target| {
            let mut alone = Alone::new(&module, tables, target);
            alone.select(op).ok()
        });
        let selected = selected.ok_or("no target has an instruction")?;
        Work::new(self).run(&selected, operands)
    }

    /// The operation, as `src/lower/nvvm/tcgen05.rs` makes it, and its operands.
    fn operation(&self, module: &mut Module) -> Result<(OpId, [ValueId; 3]), String> {
        let (word, address) = (module.types.int(64), module.types.int(32));
        let flag = module.types.int(1);
        let left = match self.left {
            Left::Shared(_) => word,
            Left::Tensor(_) => address,
        };
        let region = module.new_region();
        let block = module.new_block(region, &[address, left, word]);
        let &[d, a, b] = module.block(block).args.as_slice() else {
            return Err("three operands were asked for".to_owned());
        };
        let units = |steps: &[u64]| steps.iter().map(|s| (s >> 4) as i64).collect::<Vec<_>>();
        let steps = |count: u64, each: u64| (0..count).map(|i| (i * each) as i64).collect();
        let (a_m, a_k, a_transposed): (Vec<i64>, Vec<i64>, bool) = match &self.left {
            Left::Shared(a) => (units(&a.mn_steps), units(&a.k_steps), a.transposed),
            Left::Tensor(a) => {
                let each = K_BITS / 32;
                let along_k = a.block_columns() / each;
                (
                    steps(a.blocks(), a.block_columns()),
                    steps(along_k, each),
                    false,
                )
            }
        };
        let n = self.sums.columns.min(256);
        let blocks = 1 + u64::from(self.pair);
        let signed = [self.types.a, self.types.b].map(Multiplicand::signed);
        let transposed = [a_transposed, self.right.transposed];
        let descriptor = self
            .atom
            .descriptor([blocks * self.sums.lanes, n], signed, transposed);
        let mut kinds = enums::TENSOR_KIND.cases.iter();
        let kind = kinds.position(|kind| *kind == self.atom.a.kind);
        let list = |steps: Vec<i64>| Some(Attr::I64s(steps));
        let attrs = [
            kind.map(|kind| Attr::Enum(EnumAttr(kind as u8))),
            Some(Attr::Int {
                value: i64::from(descriptor),
                ty: address,
            }),
            list(steps(self.sums.blocks(), self.sums.block_columns())),
            list(steps(self.sums.columns / n, n)),
            list(a_m),
            list(a_k),
            list(units(&self.right.mn_steps)),
            list(units(&self.right.k_steps)),
            self.pair.then_some(Attr::Unit),
        ];
        let mut at = module.at_end(block);
        let accumulate = self.fresh.then(|| {
            let no = Attr::Dense {
                data: Dense::Bytes(vec![0]),
                ty: flag,
            };
            at.value(N::Const, &[], [Some(no)], flag)
        });
        let groups: [&[ValueId]; 4] = [&[d], &[a], &[b], accumulate.as_slice()];
        let op = at.op(N::TensorMma, &groups, attrs, &[], &[]);
        Ok((op, [d, a, b]))
    }
}

/// A place in tensor memory: block of the pair, lane, and bit from the first column on.
type Cell = [u64; 3];

/// The matrix's element at a place, where it begins at `column` of tensor memory.
fn cell(matrix: &TensorMatrix, column: u64, block: u64, [row, c]: Place) -> Cell {
    let (part, row) = (row / matrix.lanes, row % matrix.lanes);
    let lane = match matrix.lanes {
        64 => row / 16 * 32 + row % 16,
        _ => row,
    };
    let first = column + part * matrix.block_columns();
    [block, lane, first * 32 + c * u64::from(matrix.cell)]
}

/// Instructions at work.
struct Work<'m> {
    matmul: &'m Matmul,
    left: FxHashMap<Cell, Place>,
    sums: FxHashMap<Cell, Sum>,
    numbers: Numbers,
}

impl<'m> Work<'m> {
    /// Puts what is in tensor memory there.
    fn new(matmul: &'m Matmul) -> Work<'m> {
        let mut left = FxHashMap::default();
        if let Left::Tensor(matrix) = &matmul.left {
            let places = (0..matrix.rows).flat_map(|r| (0..matrix.columns).map(move |c| [r, c]));
            left.extend(places.map(|place| (cell(matrix, LEFT_COLUMN, 0, place), place)));
        }
        let mut work = Work {
            matmul,
            left,
            sums: FxHashMap::default(),
            numbers: Numbers::default(),
        };
        work.sums = work
            .places()
            .map(|(at, place)| (at, Sum::of(place)))
            .collect();
        work
    }

    /// Where elements of the accumulator are: those of both blocks, if they are a pair.
    fn places(&self) -> impl Iterator<Item = (Cell, Place)> + use<'m> {
        let matrix = &self.matmul.sums;
        let blocks = 1 + u64::from(self.matmul.pair);
        let all = (0..blocks).flat_map(|b| (0..matrix.rows).map(move |r| (b, r)));
        let all = all.flat_map(|(b, r)| (0..matrix.columns).map(move |c| (b, r, c)));
        all.map(|(b, r, c)| (cell(matrix, SUMS, b, [r, c]), [b * matrix.rows + r, c]))
    }

    fn run(mut self, selected: &Selected, operands: [ValueId; 3]) -> Result<usize, String> {
        let left = match &self.matmul.left {
            Left::Shared(left) => left.descriptor(0),
            Left::Tensor(_) => LEFT_COLUMN,
        };
        let given = [SUMS, left, self.matmul.right.descriptor(0)];
        for (value, number) in operands.into_iter().zip(given) {
            let registers = selected.operands.iter().find(|(v, _)| *v == value);
            self.numbers
                .set(registers.map_or(&[][..], |r| &r.1), number);
        }
        for inst in &selected.func.insts {
            if let Some(op) = self.numbers.step(inst)? {
                self.multiply(op)?;
            }
        }
        let mut compared = 0;
        for (at, place) in self.places() {
            let sum = self
                .sums
                .remove(&at)
                .ok_or("two elements are in one place")?;
            sum.check(place, self.matmul.depth, self.matmul.fresh)?;
            compared += 1;
        }
        Ok(compared)
    }

    /// PTX ISA, "tcgen05.mma": one instruction.
    fn multiply(&mut self, op: &Op) -> Result<(), String> {
        let name = &*op.insn.mnemonic;
        let [d, a, b, how, adds] = op.operands.as_slice() else {
            return Err(format!("'{name}' has five operands"));
        };
        let number = |operand: &crate::machine::mir::Operand| {
            let base = self.numbers.of(*operand.atoms.first()?)?;
            let offset = operand.offsets.first().copied().unwrap_or(0);
            Some(base.wrapping_add(offset as u64))
        };
        let all = [d, a, b, how, adds].map(number);
        let [Some(d), Some(a), Some(b), Some(how), Some(adds)] = all else {
            return Err(format!("an operand of '{name}' is not known"));
        };
        let how = How::decode(how, name, self.matmul.types)?;
        let pair = name.contains(".cta_group::2.");
        let blocks = 1 + u64::from(pair);
        if pair != self.matmul.pair {
            return Err(format!("'{name}' is not for as many blocks"));
        }
        let k = K_BITS / self.matmul.types.a.bits();
        let own = [how.m / blocks, how.n / blocks];
        let right = Descriptor::of_tcgen05(b)?;
        let right = self
            .matmul
            .right
            .read(right, how.transposed[1], [own[1], k])?;
        let left = match &self.matmul.left {
            Left::Shared(left) => {
                left.read(Descriptor::of_tcgen05(a)?, how.transposed[0], [own[0], k])?
            }
            Left::Tensor(_) => self.fragment(a, [own[0], k])?,
        };
        // Rows and columns of the operands are those of the block that has them.
        let of_blocks = |lines: Vec<Vec<Place>>, dim: usize, each: u64| {
            let block = |block: u64| {
                lines.iter().map(move |line| {
                    let there = line.iter().map(|&place| {
                        let mut place = place;
                        place[dim] += block * each;
                        place
                    });
                    there.collect()
                })
            };
            (0..blocks).flat_map(block).collect()
        };
        let left = Line::rows(of_blocks(left, 0, self.matmul.sums.rows));
        let right = Line::columns(of_blocks(right, 1, self.matmul.sums.columns / blocks));
        for (a, row) in left.iter().zip(0..) {
            let (block, row) = (row / own[0], row % own[0]);
            let lane = match own[0] {
                64 => row / 16 * 32 + row % 16,
                _ => row,
            };
            for (b, column) in right.iter().zip(0..) {
                let at = [block, lane + (d >> 16), ((d & 0xffff) + column) * 32];
                let sum = self.sums.get_mut(&at);
                let sum =
                    sum.ok_or_else(|| format!("no element of the accumulator is at {at:?}"))?;
                if adds == 0 {
                    *sum = Sum::zero();
                }
                sum.add(a, b);
            }
        }
        Ok(())
    }

    /// The left operand in tensor memory: a row in each lane, its elements without gaps.
    fn fragment(&self, address: u64, [m, k]: [u64; 2]) -> Result<Vec<Vec<Place>>, String> {
        let bits = self.matmul.types.a.bits();
        let element = |row: u64, k: u64| {
            let at = [0, row + (address >> 16), (address & 0xffff) * 32 + k * bits];
            let found = self.left.get(&at).copied();
            found.ok_or_else(|| format!("no element of the left operand is at {at:?}"))
        };
        let row = |row| (0..k).map(|k| element(row, k)).collect();
        (0..m).map(row).collect()
    }
}

/// What an instruction descriptor says.
struct How {
    m: u64,
    n: u64,
    transposed: [bool; 2],
}

impl How {
    /// PTX ISA, "Instruction descriptor", tables of `.kind::tf32`, `.kind::f16`, `.kind::f8f6f4` and `.kind::i8`.
    fn decode(bits: u64, name: &str, types: Types) -> Result<How, String> {
        let field = |from: u32, count: u32| bits >> from & ((1 << count) - 1);
        let kind = name.rsplit("::").next().unwrap_or(name);
        let code = |multiplicand| match (kind, multiplicand) {
            ("f16", Multiplicand::Float(Float::F16)) => Some(0),
            ("f16", Multiplicand::Float(Float::BF16)) => Some(1),
            ("tf32", Multiplicand::Float(Float::TF32)) => Some(2),
            ("f8f6f4", Multiplicand::Float(Float::F8E4M3FN)) => Some(0),
            ("f8f6f4", Multiplicand::Float(Float::F8E5M2)) => Some(1),
            ("i8", Multiplicand::Int { signed }) => Some(u64::from(signed)),
            _ => None,
        };
        let sum = match types.sum {
            Accumulator::F16 => 0,
            Accumulator::F32 => 1,
            _ => 2,
        };
        let of_types = field(4, 2) == sum
            && code(types.a) == Some(field(7, 3))
            && code(types.b) == Some(field(10, 3));
        // Sparse, saturating, negated: none of these.
        let plain = field(0, 4) == 0 && field(13, 2) == 0 && field(23, 1) == 0 && bits >> 29 == 0;
        match of_types && plain {
            true => Ok(How {
                m: field(24, 5) << 4,
                n: field(17, 6) << 3,
                transposed: [field(15, 1) == 1, field(16, 1) == 1],
            }),
            false => Err(format!("{bits:#x} does not describe '{name}' of {types:?}")),
        }
    }
}
