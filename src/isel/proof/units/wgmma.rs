//! `wgmma`: the accumulator in the registers of four warps, the left operand there or in shared memory, the right one in
//! shared memory.

use rustc_hash::FxHashMap;

use super::super::super::alone::{Alone, Selected};
use super::super::super::choose::Tables;
use super::super::fragments::{Fragments, LANES};
use super::super::matmul::{Accumulator, Multiplicand};
use super::memory::{Descriptor, Lies, Operand};
use super::{Count, Line, Numbers, Place, Sum, Types};
use crate::dialect::nvvm::Op as N;
use crate::ir::{Attr, Dense, Module, ValueId};
use crate::layout::Layout;
use crate::layout::mma::{MatmulShape, Wgmma};
use crate::layout::wgmma_desc::describe;
use crate::machine::mir::{Atom, Inst, Op, VReg};
use crate::rules::Wrong;
use crate::target::Target;

/// Warps of a warpgroup.
const WARPS: u64 = 4;
/// Where operands begin in shared memory.
const LEFT: u64 = 0x4000;
const RIGHT: u64 = 0x20000;

/// Instructions along M, warpgroups along M and N, columns of an instruction, instructions along K.
pub(super) const TILES: [(u64, [u64; 2], u64, u64); 5] = [
    (1, [1, 1], 128, 4),
    (2, [2, 1], 64, 4),
    (1, [2, 2], 32, 8),
    (1, [1, 2], 8, 4),
    (1, [1, 1], 256, 4),
];

/// A matmul as loops are lowered to it.
#[derive(Clone, Debug)]
pub struct Matmul {
    pub(super) types: Types,
    pub(super) of: Wgmma,
    /// None: in registers.
    pub(super) left: Option<Operand>,
    pub(super) right: Operand,
    /// Whether the first instruction overwrites the accumulator.
    fresh: bool,
}

/// All cases of the row `wgmma.SOURCE.KIND`.
pub fn prove(source: &str, kind: &str, tables: &Tables) -> Result<Count, Wrong> {
    let types = match kind {
        "f" => [super::floats("tf32"), super::floats("8")].concat(),
        kind => super::floats(kind),
    };
    let mut count = Count::default();
    for (types, first) in super::first_of_width(types) {
        for tile in TILES {
            let bits = types.a.bits();
            let mut ways = vec![(Lies::PLAINLY, Lies::PLAINLY)];
            let others = match first {
                true => Lies::all(bits, &[16]),
                false => Vec::new(),
            };
            for lies in others {
                ways.extend([(lies, Lies::PLAINLY), (Lies::PLAINLY, lies)]);
            }
            for (i, (left, right)) in ways.into_iter().enumerate() {
                if source == "rs" && left != Lies::PLAINLY {
                    continue;
                }
                let left = (source == "ss").then_some(left);
                let Some(matmul) = Matmul::new(types, tile, left, right, i == 0) else {
                    continue;
                };
                let what = || format!("{types:?}, {tile:?}, left {left:?}, right {right:?}");
                count.case(matmul.check(tables), what)?;
            }
        }
    }
    Ok(count)
}

impl Matmul {
    /// None where so small a tile does not lie like this.
    pub(super) fn new(
        types: Types,
        (along_m, [groups_m, groups_n], columns, along_k): (u64, [u64; 2], u64, u64),
        left: Option<Lies>,
        right: Lies,
        fresh: bool,
    ) -> Option<Matmul> {
        let bits = types.a.bits();
        let tile = MatmulShape {
            m: Wgmma::M * along_m * groups_m,
            n: columns * groups_n,
            k: 256 / bits * along_k,
        };
        let of = Wgmma {
            tile,
            element_bits: bits as u32,
            warpgroups_m: groups_m,
            warpgroups_n: groups_n,
            paired: false,
        };
        let operand = |shape, dim, lies, address, each| {
            Operand::new(shape, dim, bits, lies, address, |layout| {
                let found = describe(layout, dim, each)?;
                let constant = found.constant();
                Ok((found, constant))
            })
        };
        let left = match left {
            Some(lies) => Some(operand([tile.m, tile.k], 0, lies, LEFT, Wgmma::M)?),
            None => None,
        };
        Some(Matmul {
            types,
            of,
            left,
            right: operand([tile.k, tile.n], 1, right, RIGHT, columns)?,
            fresh,
        })
    }

    fn along_m(&self) -> u64 {
        self.of.tile.m / (Wgmma::M * self.of.warpgroups_m)
    }

    /// Runs the selected instructions; how many elements of results were compared.
    pub(super) fn check(&self, tables: &Tables) -> Result<usize, String> {
        let layout = self.of.accumulator().map_err(|e| e.to_string())?;
        let mut module = Module::new("proof");
        let (op, operands) = self.operation(&mut module, &layout)?;
        let selected = Target::all().find_map(|target| {
            let mut alone = Alone::new(&module, tables, target);
            alone.select(module.def_op(op)?).ok()
        });
        let selected = selected.ok_or("no target has an instruction")?;
        let mut compared = 0;
        for group in 0..self.of.warpgroups_m * self.of.warpgroups_n {
            compared += Group::new(self, group, &layout, operands).run(&selected)?;
        }
        Ok(compared)
    }

    /// The result of the operation, as `src/lower/nvvm/wgmma.rs` makes it, and its operands.
    fn operation(
        &self,
        module: &mut Module,
        layout: &Layout,
    ) -> Result<(ValueId, [ValueId; 3]), String> {
        let [a, b, sum] = [
            self.types.a.ty(module),
            self.types.b.ty(module),
            self.types.sum.ty(module),
        ];
        let (word, flag) = (module.types.int(64), module.types.int(1));
        let acc = module.types.regs(sum, layout.registers() as u32);
        let left = match &self.left {
            Some(_) => word,
            None => {
                let fragment = self.of.a_in_registers().map_err(|e| e.to_string())?;
                module.types.regs(a, fragment.registers() as u32)
            }
        };
        let region = module.new_region();
        let block = module.new_block(region, &[left, word, acc]);
        let &[x, y, z] = module.block(block).args.as_slice() else {
            return Err("three operands were asked for".to_owned());
        };
        let units =
            |steps: &[u64]| Some(Attr::I64s(steps.iter().map(|s| (s >> 4) as i64).collect()));
        let int = module.types.int(32);
        let number = |value: u64| {
            Some(Attr::Int {
                value: value as i64,
                ty: int,
            })
        };
        let (a_m, a_k, transposed) = match &self.left {
            Some(left) => (
                left.mn_steps.get(1).copied().unwrap_or(0),
                &left.k_steps[..],
                left.transposed,
            ),
            None => (0, &[][..], false),
        };
        let attrs = [
            number(self.of.instruction_n()),
            number(self.of.instruction_k()),
            number(self.along_m()),
            number(self.of.tile.k / self.of.instruction_k()),
            number(a_m >> 4),
            units(a_k),
            units(&self.right.k_steps),
            Some(Attr::Type(a)),
            Some(Attr::Type(b)),
            Some(Attr::Bool(transposed)),
            Some(Attr::Bool(self.right.transposed)),
            Some(Attr::Bool(self.types.a.signed())),
            Some(Attr::Bool(self.types.b.signed())),
        ];
        let mut at = module.at_end(block);
        let accumulate = self.fresh.then(|| {
            let no = Attr::Dense {
                data: Dense::Bytes(vec![0]),
                ty: flag,
            };
            at.value(N::Const, &[], [Some(no)], flag)
        });
        let groups: [&[ValueId]; 4] = [&[x], &[y], &[z], accumulate.as_slice()];
        let op = at.op(N::Wgmma, &groups, attrs, &[acc], &[]);
        let result = module.op(op).results.first().copied();
        Ok((result.ok_or("no result")?, [x, y, z]))
    }
}

/// What a register holds, by thread of the warpgroup, the lowest element first.
type Held<T> = FxHashMap<VReg, Vec<Vec<T>>>;

/// A warpgroup at work.
struct Group<'m> {
    matmul: &'m Matmul,
    number: u64,
    layout: &'m Layout,
    operands: [ValueId; 3],
    left: Held<Place>,
    sums: Held<Sum>,
    numbers: Numbers,
}

impl<'m> Group<'m> {
    fn new(
        matmul: &'m Matmul,
        number: u64,
        layout: &'m Layout,
        operands: [ValueId; 3],
    ) -> Group<'m> {
        Group {
            matmul,
            number,
            layout,
            operands,
            left: Held::default(),
            sums: Held::default(),
            numbers: Numbers::default(),
        }
    }

    /// Where the layout has element `element` of a thread.
    fn place(&self, layout: &Layout, element: u64, thread: u64) -> Result<Place, String> {
        let warp = self.number * WARPS + thread / LANES;
        let coords = layout.coords(element, thread % LANES, warp);
        let &[row, column] = coords.as_slice() else {
            return Err("an operand has two dimensions".to_owned());
        };
        Ok([row, column])
    }

    /// Fills registers with `per` elements each as `layout` says.
    fn fill<T>(
        &self,
        registers: &[VReg],
        layout: &Layout,
        per: u64,
        of: impl Fn(Place) -> T,
    ) -> Result<Held<T>, String> {
        let mut held = Held::default();
        for (number, &register) in (0..).zip(registers) {
            let thread = |thread| {
                let elements = number * per..(number + 1) * per;
                let places = elements.map(|e| self.place(layout, e, thread));
                places
                    .map(|p| Ok(of(p?)))
                    .collect::<Result<Vec<T>, String>>()
            };
            let threads = (0..WARPS * LANES).map(thread);
            held.insert(register, threads.collect::<Result<_, _>>()?);
        }
        Ok(held)
    }

    fn per_sum(&self) -> u64 {
        32 / self.matmul.types.sum.bits()
    }

    /// Puts the operands where they are.
    fn prepare(&mut self, selected: &Selected) -> Result<(), String> {
        let of = &self.matmul.of;
        let (m, n) = (self.number % of.warpgroups_m, self.number / of.warpgroups_m);
        let step = |steps: &[u64], i: u64| steps.get(i as usize).copied().unwrap_or(0);
        let registers = |value: ValueId| {
            let mut all = selected.operands.iter();
            all.find(|(v, _)| *v == value).map_or(&[][..], |(_, r)| r)
        };
        let [a, b, acc] = self.operands.map(registers);
        match &self.matmul.left {
            Some(left) => {
                let behind = step(&left.mn_steps, m * self.matmul.along_m());
                self.numbers.set(a, left.descriptor(behind));
            }
            None => {
                let layout = of.a_in_registers().map_err(|e| e.to_string())?;
                let per = 32 / self.matmul.types.a.bits();
                self.left = self.fill(a, &layout, per, |place| place)?;
            }
        }
        let right = &self.matmul.right;
        self.numbers
            .set(b, right.descriptor(step(&right.mn_steps, n)));
        self.sums = self.fill(acc, self.layout, self.per_sum(), Sum::of)?;
        Ok(())
    }

    fn run(mut self, selected: &Selected) -> Result<usize, String> {
        self.prepare(selected)?;
        for inst in &selected.func.insts {
            if let Inst::Copy { dst, src } = inst {
                self.copy(dst, src);
            }
            if let Some(op) = self.numbers.step(inst)? {
                self.multiply(op)?;
            }
        }
        let result = selected.results.first().map_or(&[][..], Vec::as_slice);
        self.compare(result)
    }

    fn copy(&mut self, to: &[VReg], from: &[Atom]) {
        let pairs = to.iter().zip(from);
        let pairs: Vec<_> = pairs
            .filter_map(|(&to, from)| Some((to, from.reg()?)))
            .collect();
        let sums = |&(to, from): &(VReg, VReg)| Some((to, self.sums.get(&from)?.clone()));
        let sums: Vec<_> = pairs.iter().filter_map(sums).collect();
        self.sums.extend(sums);
        let left = |&(to, from): &(VReg, VReg)| Some((to, self.left.get(&from)?.clone()));
        let left: Vec<_> = pairs.iter().filter_map(left).collect();
        self.left.extend(left);
    }

    /// PTX ISA, "wgmma.mma_async": one instruction.
    fn multiply(&mut self, op: &Op) -> Result<(), String> {
        let name = &*op.insn.mnemonic;
        let [n, k] = shape(name, self.matmul.types)
            .ok_or_else(|| format!("'{name}' is not the instruction for these elements"))?;
        let [sums, a, b, scale, flags @ ..] = op.operands.as_slice() else {
            return Err(format!("'{name}' has too few operands"));
        };
        let number = |atom: Option<&Atom>| atom.and_then(|&atom| self.numbers.of(atom));
        let flag = |i: usize| flags.get(i).and_then(|o| number(o.atoms.first())) == Some(1);
        let from_registers = self.matmul.left.is_none();
        let b_bits = number(b.atoms.first()).ok_or("the right operand has no descriptor")?;
        let right = self.matmul.right.read(
            Descriptor::of_wgmma(b_bits),
            flag(usize::from(!from_registers)),
            [n, k],
        )?;
        let left = match &self.matmul.left {
            Some(left) => {
                let bits = number(a.atoms.first()).ok_or("the left operand has no descriptor")?;
                left.read(Descriptor::of_wgmma(bits), flag(0), [Wgmma::M, k])?
            }
            None => self.fragment(&a.atoms, k)?,
        };
        let (left, right) = (Line::rows(left), Line::columns(right));
        let adds = match number(scale.atoms.first()) {
            Some(0) => false,
            Some(1) => true,
            _ => return Err("whether it adds is not known".to_owned()),
        };
        let per = self.per_sum();
        for thread in 0..WARPS * LANES {
            // PTX ISA, "Register Fragments", figure of D.
            let (warp, group, quad) = (thread / LANES, thread % LANES / 4, thread % 4);
            for i in 0..n / 2 {
                let row = warp * 16 + group + i / 2 % 2 * 8;
                let column = i / 4 * 8 + quad * 2 + i % 2;
                let register = sums.atoms.get((i / per) as usize).and_then(|a| a.reg());
                let held = register.and_then(|r| self.sums.get_mut(&r));
                let held =
                    held.and_then(|h| h.get_mut(thread as usize)?.get_mut((i % per) as usize));
                let sum = held.ok_or("the accumulator's registers are not its fragment")?;
                if !adds {
                    *sum = Sum::zero();
                }
                sum.add(&left[row as usize], &right[column as usize]);
            }
        }
        Ok(())
    }

    /// PTX ISA, "Register Fragments", figure of A: of a warp it is the fragment of `mma.sync`.
    fn fragment(&self, atoms: &[Atom], k: u64) -> Result<Vec<Vec<Place>>, String> {
        let per = 32 / self.matmul.types.a.bits();
        let fragments = Fragments::new([16, 8, k], per);
        let element = |row: u64, k: u64| {
            let (lane, register, element) = fragments.a([row % 16, k])?;
            let register = atoms.get(register as usize)?.reg()?;
            let thread = row / 16 * LANES + lane;
            let held = self.left.get(&register)?.get(thread as usize)?;
            held.get(element as usize).copied()
        };
        let row = |row| (0..k).map(|k| element(row, k)).collect::<Option<Vec<_>>>();
        let rows = (0..Wgmma::M).map(row).collect::<Option<_>>();
        rows.ok_or_else(|| "the left operand's registers are not its fragment".to_owned())
    }

    fn compare(&self, registers: &[Atom]) -> Result<usize, String> {
        let per = self.per_sum();
        let mut compared = 0;
        for (number, atom) in (0..).zip(registers) {
            let held = atom.reg().and_then(|r| self.sums.get(&r));
            let held = held.ok_or("a result is no sum")?;
            for (thread, sums) in (0..).zip(held) {
                for (element, sum) in (number * per..).zip(sums) {
                    let place = self.place(self.layout, element, thread)?;
                    let (depth, fresh) = (self.matmul.of.tile.k, self.matmul.fresh);
                    sum.check(place, depth, fresh)?;
                    compared += 1;
                }
            }
        }
        match compared as u64 == self.layout.registers() * WARPS * LANES {
            true => Ok(compared),
            false => Err("the result has not as many elements as the accumulator".to_owned()),
        }
    }
}

/// Columns and K of the instruction `name` if it multiplies elements of these types.
fn shape(name: &str, types: Types) -> Option<[u64; 2]> {
    let ty = |multiplicand| {
        Some(match multiplicand {
            Multiplicand::Int { signed: true } => "s8",
            Multiplicand::Int { signed: false } => "u8",
            Multiplicand::Float(float) => match float.name() {
                "f8E4M3FN" => "e4m3",
                "f8E5M2" => "e5m2",
                name => name,
            },
        })
    };
    let sum = match types.sum {
        Accumulator::F16 => "f16",
        Accumulator::F32 => "f32",
        Accumulator::I32 => "s32",
        Accumulator::F64 => return None,
    };
    let rest = name.strip_prefix("wgmma.mma_async.sync.aligned.m64n")?;
    let (n, rest) = rest.split_once('k')?;
    let (k, rest) = rest.split_once('.')?;
    let (n, k): (u64, u64) = (n.parse().ok()?, k.parse().ok()?);
    let same = rest == format!("{sum}.{}.{}", ty(types.a)?, ty(types.b)?);
    let fits = n % 8 == 0 && (8..=256).contains(&n) && k * types.a.bits() == 256;
    (same && fits).then_some([n, k])
}
