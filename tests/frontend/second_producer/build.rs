//! A module of tilec, built again with the `cutile-ir` crate.

use std::collections::HashMap;

use cutile_ir::builder::{OpBuilder, append_op, build_block};
use cutile_ir::bytecode::Opcode;
use cutile_ir::ir as theirs;
use cutile_ir::ir::{Attribute, Location, TileElementType};
use tilec::dialect::cuda_tile;
use tilec::ir::{
    AssumePredicate, Attr, BlockId, DebugAttr, Dense, EnumAttr, Float, LocId, Module, OpId,
    Padding, RegionId, Type, TypeId, ValueId,
};
use tilec::scalar::FloatFormat;

/// Every opcode of the crate, which offers no way from a number to it.
const OPCODES: &[Opcode] = {
    use Opcode::*;
    &[
        AbsF,
        AbsI,
        AddF,
        AddI,
        AndI,
        Assert,
        Assume,
        AtomicCAS,
        AtomicRMW,
        Bitcast,
        Break,
        Broadcast,
        Cat,
        Ceil,
        CmpF,
        CmpI,
        Constant,
        Continue,
        Cos,
        CosH,
        DivF,
        DivI,
        Entry,
        Exp,
        Exp2,
        ExtI,
        Extract,
        Floor,
        Fma,
        For,
        FToF,
        FToI,
        GetGlobal,
        GetIndexSpaceShape,
        GetNumTileBlocks,
        GetTensorShape,
        GetTileBlockId,
        Global,
        If,
        IntToPtr,
        Iota,
        IToF,
        JoinTokens,
        LoadPtrTko,
        LoadViewTko,
        Log,
        Log2,
        Loop,
        MakePartitionView,
        MakeTensorView,
        MakeToken,
        MaxF,
        MaxI,
        MinF,
        MinI,
        MmaF,
        MmaI,
        Module,
        MulF,
        MulhiI,
        MulI,
        NegF,
        NegI,
        Offset,
        OrI,
        Permute,
        Pow,
        Print,
        PtrToInt,
        PtrToPtr,
        Reduce,
        RemF,
        RemI,
        Reshape,
        Return,
        Rsqrt,
        Scan,
        Select,
        ShLI,
        ShRI,
        Sin,
        SinH,
        Sqrt,
        StorePtrTko,
        StoreViewTko,
        SubF,
        SubI,
        Tan,
        TanH,
        TruncI,
        XOrI,
        Yield,
        Atan2,
        Pack,
        Unpack,
        Alloca,
        MmaFScaled,
        MakeGatherScatterView,
        MakeStridedView,
        AtomicRedViewTko,
        Insert,
        GdcLaunchDependentsTko,
        GdcWaitTko,
        FPowI,
        MemoryFenceAliasTko,
        MultimemLoadReduceViewTko,
        MultimemReduceViewTko,
        MultimemStoreViewTko,
        PreviewCall,
    ]
};

pub fn module(module: &Module) -> theirs::Module {
    let mut builder = Builder {
        module,
        out: theirs::Module::new(module.str(module.name)),
        values: HashMap::new(),
    };
    builder.out.producer = module.producer.map(|name| module.str(name).to_owned());
    for &op in &module.block(module.body).ops {
        match cuda_tile::Op::of(module.op(op).kind) {
            Some(cuda_tile::Op::Global) => builder.global(op),
            _ => {
                let entry = builder.operation(op);
                builder.out.functions.push(entry);
            }
        }
    }
    builder.out
}

struct Builder<'m> {
    module: &'m Module,
    out: theirs::Module,
    values: HashMap<ValueId, theirs::Value>,
}

impl Builder<'_> {
    fn global(&mut self, id: OpId) {
        let op = self.module.op(id);
        let (Some(Attr::Str(name)), Some(Attr::Dense { data, ty })) =
            (op.attr_named("sym_name"), op.attr_named("value"))
        else {
            panic!("a global has a name and a value");
        };
        let alignment = match op.attr_named("alignment") {
            Some(Attr::Int { value, .. }) => *value as u64,
            _ => 0,
        };
        self.out.globals.push(theirs::Global {
            sym_name: self.module.str(*name).to_owned(),
            value: self.dense(data, *ty),
            alignment,
            constant: op.has_unit("constant"),
            symbol_visibility: match op.enum_named("symbol_visibility") {
                Some(1) => theirs::SymbolVisibility::Private,
                _ => theirs::SymbolVisibility::Public,
            },
        });
    }

    fn operation(&mut self, id: OpId) -> theirs::OpId {
        let op = self.module.op(id);
        let def = op.def();
        let opcode = OPCODES.iter().find(|o| Some(o.as_u16()) == def.opcode);
        let mut builder = OpBuilder::new(*opcode.expect("the crate has it"), self.location(op.loc));
        builder = builder.operands(op.operands.iter().map(|v| self.values[v]));
        builder = builder.results(op.results.iter().map(|&r| self.ty(self.module.ty(r))));
        for (row, attr) in def.attrs.iter().zip(&op.attrs) {
            if let Some(attr) = attr {
                // The crate's own name of this one.
                let name = if row.name == "unsignedCmp" {
                    "unsigned_cmp"
                } else {
                    row.name
                };
                builder = builder.attr(name, self.attr(attr));
            }
        }
        if def.operands.len() > 1 {
            let sizes = (0..def.operands.len()).map(|i| Attribute::i32(op.group(i).len() as i64));
            builder = builder.attr("operandSegmentSizes", Attribute::Array(sizes.collect()));
        }
        let regions: Vec<_> = op.regions.iter().map(|&r| self.region(r)).collect();
        let (built, results) = builder.regions(regions).build(&mut self.out);
        self.values.extend(op.results.iter().copied().zip(results));
        built
    }

    fn region(&mut self, id: RegionId) -> theirs::RegionId {
        let blocks = self.module.region(id).blocks.clone();
        let blocks = blocks.into_iter().map(|b| self.block(b)).collect();
        self.out.alloc_region(theirs::Region { blocks })
    }

    fn block(&mut self, id: BlockId) -> theirs::BlockId {
        let block = self.module.block(id);
        let types: Vec<_> = block
            .args
            .iter()
            .map(|&a| self.ty(self.module.ty(a)))
            .collect();
        let (built, args) = build_block(&mut self.out, &types);
        self.values.extend(block.args.iter().copied().zip(args));
        for &op in &block.ops {
            let op = self.operation(op);
            append_op(&mut self.out, built, op);
        }
        built
    }

    fn attr(&self, attr: &Attr) -> Attribute {
        let text = |name| self.module.str(name).to_owned();
        match attr {
            Attr::Unit => Attribute::Bool(true),
            Attr::Bool(b) => Attribute::Bool(*b),
            Attr::Int { value, ty } => {
                let width = self.module.types.bits(*ty).unwrap_or(64);
                let mask = if width < 64 { (1 << width) - 1 } else { -1 };
                Attribute::Integer(value & mask, self.ty(*ty))
            }
            Attr::Float { bits, ty } => {
                let Type::Float(float) = self.module.types.get(*ty) else {
                    panic!("a float has a float type");
                };
                Attribute::Float(format(*float).decode(*bits), self.ty(*ty))
            }
            Attr::Enum(EnumAttr(case)) => Attribute::i32(i64::from(*case)),
            Attr::Type(ty) => Attribute::Type(self.ty(*ty)),
            Attr::Str(name) | Attr::Symbol(name) => Attribute::String(text(*name)),
            Attr::Array(items) => Attribute::Array(items.iter().map(|i| self.attr(i)).collect()),
            Attr::I32s(list) => Attribute::DenseI32Array(list.clone()),
            Attr::Bools(list) => Attribute::dense_bool_array(list.iter().copied()),
            Attr::Dense { data, ty } => Attribute::DenseElements(self.dense(data, *ty)),
            Attr::Assume(predicate) => assume(predicate),
            Attr::Dict(entries) => Attribute::Dictionary(self.entries(entries)),
            Attr::Hints(entries) => {
                let entry = |(arch, hints): &(_, Attr)| match hints {
                    Attr::Dict(entries) => (text(*arch), self.entries(entries)),
                    other => panic!("hints are dictionaries, not {other:?}"),
                };
                Attribute::OptimizationHints(theirs::OptimizationHints {
                    entries: entries.iter().map(entry).collect(),
                })
            }
            Attr::I64s(_) => panic!("no operation of the dialect has {attr:?}"),
        }
    }

    fn entries(&self, entries: &[(tilec::ir::Name, Attr)]) -> Vec<(String, Attribute)> {
        let entry = |(key, value): &(_, Attr)| (self.module.str(*key).to_owned(), self.attr(value));
        entries.iter().map(entry).collect()
    }

    /// Constant data as MLIR's raw buffers have it.
    fn dense(&self, data: &Dense, ty: TypeId) -> theirs::DenseElements {
        let (elem, shape) = self.module.types.as_tile(ty).expect("constants are tiles");
        let Dense::Bytes(bytes) = data else {
            panic!("constants are numbers");
        };
        let data = match (self.module.types.get(elem), bytes.as_slice()) {
            (Type::Int(1), [bit]) => vec![if *bit == 0 { 0 } else { 0xFF }],
            (Type::Int(1), bits) => bits
                .chunks(8)
                .map(|byte| byte.iter().enumerate().fold(0, |b, (i, bit)| b | bit << i))
                .collect(),
            (Type::Float(Float::TF32), words) => words
                .chunks(4)
                .flat_map(|w| {
                    let bits = u32::from_le_bytes([w[0], w[1], w[2], w[3]]) >> 13;
                    bits.to_le_bytes()[..3].to_vec()
                })
                .collect(),
            _ => bytes.clone(),
        };
        theirs::DenseElements {
            // The type of the whole, not of an element: so the crate's writer expects it.
            element_type: self.ty(ty),
            shape: shape.iter().map(|&d| d as i64).collect(),
            data,
        }
    }

    fn scalar(&self, ty: TypeId) -> theirs::ScalarType {
        let name = tilec::asm::simple_type_name(self.module.types.get(ty));
        // The text of this type has a prefix that the crate does not know.
        let name = name
            .strip_prefix("fnv8")
            .map_or(name.clone(), |rest| format!("f8{rest}"));
        theirs::ScalarType::parse(&name).unwrap_or_else(|| panic!("no scalar type: {name}"))
    }

    /// A pointer and its classification.
    fn pointer(&self, ty: TypeId) -> (theirs::PointerType, u8) {
        match self.module.types.get(ty) {
            Type::Ptr { pointee, attr } => {
                let pointee = self.scalar(*pointee);
                (theirs::PointerType { pointee }, *attr)
            }
            other => panic!("no pointer: {other:?}"),
        }
    }

    fn view(&self, ty: TypeId) -> (theirs::TensorViewType, u8) {
        match self.module.types.get(ty) {
            Type::TensorView {
                elem,
                shape,
                strides,
                attr,
            } => (
                theirs::TensorViewType {
                    element_type: self.scalar(*elem),
                    shape: shape.to_vec(),
                    strides: strides.to_vec(),
                },
                *attr,
            ),
            other => panic!("no tensor view: {other:?}"),
        }
    }

    fn ty(&self, ty: TypeId) -> theirs::Type {
        match self.module.types.get(ty) {
            Type::Token => theirs::Type::Token,
            Type::Ptr { .. } => {
                let (pointer, attr) = self.pointer(ty);
                classified(pointer.into(), attr)
            }
            Type::Tile { elem, shape } => {
                let shape = shape.iter().map(|&d| d as i64).collect();
                let (element_type, attr) = match self.module.types.get(*elem) {
                    Type::Ptr { .. } => {
                        let (pointer, attr) = self.pointer(*elem);
                        (TileElementType::Pointer(Box::new(pointer)), attr)
                    }
                    _ => (TileElementType::Scalar(self.scalar(*elem)), 0),
                };
                classified(
                    theirs::TileType {
                        shape,
                        element_type,
                    }
                    .into(),
                    attr,
                )
            }
            Type::TensorView { .. } => {
                let (view, attr) = self.view(ty);
                classified(view.into(), attr)
            }
            Type::PartitionView {
                tile,
                view,
                dim_map,
                padding: p,
            } => {
                let (tensor_view, attr) = self.view(*view);
                let ty = theirs::PartitionViewType {
                    tile_shape: tile.to_vec(),
                    tensor_view,
                    dim_map: dim_map.to_vec(),
                    padding_value: p.map(padding),
                };
                classified(ty.into(), attr)
            }
            Type::StridedView {
                tile,
                traversal,
                view,
                dim_map,
                padding: p,
            } => {
                let (tensor_view, attr) = self.view(*view);
                let ty = theirs::StridedViewType {
                    tile_shape: tile.to_vec(),
                    traversal_strides: traversal.to_vec(),
                    tensor_view,
                    dim_map: dim_map.to_vec(),
                    padding_value: p.map(padding),
                };
                classified(ty.into(), attr)
            }
            Type::GatherScatterView {
                tile,
                view,
                sparse_dim,
                padding: p,
            } => {
                let (tensor_view, attr) = self.view(*view);
                let ty = theirs::GatherScatterViewType {
                    tile_shape: tile.to_vec(),
                    tensor_view,
                    sparse_dim: *sparse_dim,
                    padding_value: p.map(padding),
                };
                classified(ty.into(), attr)
            }
            Type::Function { params, results } => theirs::Type::Func(theirs::FuncType {
                inputs: params.iter().map(|&t| self.ty(t)).collect(),
                results: results.iter().map(|&t| self.ty(t)).collect(),
            }),
            _ => theirs::Type::Scalar(self.scalar(ty)),
        }
    }

    fn location(&self, loc: LocId) -> Location {
        match self.module.locs.get(loc) {
            DebugAttr::Loc {
                scope,
                file,
                line,
                column,
            } => Location::DebugInfo(theirs::DebugInfoLoc {
                filename: self.module.str(*file).to_owned(),
                line: *line,
                column: *column,
                scope: self.scope(*scope),
            }),
            DebugAttr::CallSite { callee, caller } => Location::CallSite {
                callee: Box::new(self.location(*callee)),
                caller: Box::new(self.location(*caller)),
            },
            _ => Location::Unknown,
        }
    }

    fn scope(&self, loc: LocId) -> theirs::DebugScope {
        match self.module.locs.get(loc) {
            DebugAttr::LexicalBlock {
                scope,
                file,
                line,
                column,
            } => theirs::DebugScope::LexicalBlock(theirs::DILexicalBlock {
                scope: Box::new(self.scope(*scope)),
                file: self.file(*file),
                line: *line,
                column: *column,
            }),
            DebugAttr::Subprogram {
                file,
                line,
                name,
                linkage_name,
                unit,
                scope_line,
                ..
            } => {
                let DebugAttr::CompileUnit { file: unit } = self.module.locs.get(*unit) else {
                    panic!("a subprogram has a compile unit");
                };
                theirs::DebugScope::Subprogram(theirs::DISubprogram {
                    file: self.file(*file),
                    line: *line,
                    name: self.module.str(*name).to_owned(),
                    linkage_name: self.module.str(*linkage_name).to_owned(),
                    compile_unit: theirs::DICompileUnit {
                        file: self.file(*unit),
                    },
                    scope_line: *scope_line,
                    is_declaration: false,
                })
            }
            other => panic!("no scope: {other:?}"),
        }
    }

    fn file(&self, loc: LocId) -> theirs::DIFile {
        match self.module.locs.get(loc) {
            DebugAttr::File { name, directory } => theirs::DIFile {
                name: self.module.str(*name).to_owned(),
                directory: self.module.str(*directory).to_owned(),
            },
            other => panic!("no file: {other:?}"),
        }
    }
}

/// `attr`: as [`Type::Ptr`] has it.
fn classified(ty: theirs::Type, attr: u8) -> theirs::Type {
    match attr {
        0 => ty,
        1 => ty.with_pointer_attribute(theirs::PointerAttribute::None),
        2 => ty.with_pointer_attribute(theirs::PointerAttribute::Unicast),
        _ => ty.with_pointer_attribute(theirs::PointerAttribute::Multicast),
    }
}

/// Both enumerations list the formats in one order.
fn format(float: Float) -> FloatFormat {
    let at = Float::NAMES.iter().position(|f| f.0 == float);
    FloatFormat::ALL[at.expect("all formats have names")]
}

fn padding(padding: Padding) -> theirs::PaddingValue {
    match padding {
        Padding::Zero => theirs::PaddingValue::Zero,
        Padding::NegZero => theirs::PaddingValue::NegZero,
        Padding::Nan => theirs::PaddingValue::Nan,
        Padding::PosInf => theirs::PaddingValue::PosInf,
        Padding::NegInf => theirs::PaddingValue::NegInf,
    }
}

fn assume(predicate: &AssumePredicate) -> Attribute {
    match predicate {
        AssumePredicate::DivBy {
            divisor,
            every,
            along,
        } => Attribute::DivBy(theirs::DivBy {
            divisor: *divisor,
            every: *every,
            along: *along,
        }),
        AssumePredicate::SameElements(values) => Attribute::SameElements(theirs::SameElements {
            values: values.clone(),
        }),
        AssumePredicate::Bounded { lower, upper } => Attribute::Bounded(theirs::Bounded {
            lb: *lower,
            ub: *upper,
        }),
    }
}
