//! Types, with or without their dialect's prefix.

use smallvec::SmallVec;

use super::cursor::Result;
use super::state::Parser;
use crate::dialect::enums;
use crate::ir::{DYNAMIC, Dim, Float, Padding, Type, TypeId};

impl Parser<'_> {
    pub fn ty(&mut self) -> Result<TypeId> {
        self.deeper()?;
        let at = self.c.offset();
        let ty = match self.c.peek("(") {
            true => self.function_type(),
            false => self.named_type(at),
        };
        self.depth -= 1;
        let ty = ty?;
        Ok(self.module.types.intern(ty))
    }

    /// Types with commas between.
    pub fn type_list(&mut self) -> Result<Vec<TypeId>> {
        let mut types = vec![self.ty()?];
        while self.c.eat(",") {
            types.push(self.ty()?);
        }
        Ok(types)
    }

    /// `(types)`, or one type without parentheses.
    pub fn type_group(&mut self) -> Result<Vec<TypeId>> {
        if !self.c.eat("(") {
            return Ok(vec![self.ty()?]);
        }
        if self.c.eat(")") {
            return Ok(Vec::new());
        }
        let types = self.type_list()?;
        self.c.expect(")")?;
        Ok(types)
    }

    fn function_type(&mut self) -> Result<Type> {
        let params = self.type_group()?;
        self.c.expect("->")?;
        let results = self.type_group()?;
        Ok(Type::Function { params, results })
    }

    fn named_type(&mut self, at: usize) -> Result<Type> {
        self.c.eat("!");
        let word = self.c.word("a type")?;
        let bare = word.strip_prefix("cuda_tile.").unwrap_or(word);
        if let Some(ty) = scalar(bare) {
            return Ok(ty);
        }
        match bare {
            "token" => Ok(Type::Token),
            "string" => Ok(Type::String),
            "nvvm.shared_ptr" => Ok(Type::SharedPtr),
            "nvvm.tensor_map" => Ok(Type::TensorMap),
            "ptr" => self.pointer(),
            "tile" => self.tile(),
            "tensor_view" => self.tensor_view(),
            "partition_view" => self.partition_view(),
            "strided_view" => self.strided_view(),
            "gather_scatter_view" => self.gather_scatter_view(),
            "nv_tileas.tile" => self.distributed(),
            "nv_tileas.shared" => self.shared(),
            "nv_tileas.tensor" => self.tensor(),
            "nv_tileas.pipeline" => {
                let stages = self.angled_number()?;
                Ok(Type::Pipeline { stages })
            }
            "nvvm.regs" => self.registers(),
            _ => Err(self.c.error_at(at, format!("unknown type: {word}"))),
        }
    }

    fn angled_number(&mut self) -> Result<u32> {
        self.c.expect("<")?;
        let n = self.number32()?;
        self.c.expect(">")?;
        Ok(n)
    }

    fn number32(&mut self) -> Result<u32> {
        let at = self.c.offset();
        let n = self.c.integer()?;
        u32::try_from(n).map_err(|_| self.c.error_at(at, format!("{n} is out of range")))
    }

    fn i32(&mut self) -> Result<i32> {
        let at = self.c.offset();
        let n = self.c.integer()?;
        i32::try_from(n).map_err(|_| self.c.error_at(at, format!("{n} is out of range")))
    }

    fn pointer(&mut self) -> Result<Type> {
        self.c.expect("<")?;
        let pointee = self.ty()?;
        let attr = match self.c.eat(",") {
            true => self.pointer_attr()?,
            false => 0,
        };
        self.c.expect(">")?;
        Ok(Type::Ptr { pointee, attr })
    }

    /// `<case>` or `#cuda_tile.ptr_attr<case>`, as types store it.
    fn pointer_attr(&mut self) -> Result<u8> {
        self.c.eat("#cuda_tile.ptr_attr");
        self.c.expect("<")?;
        let at = self.c.offset();
        let word = self.c.word("a pointer attribute")?;
        self.c.expect(">")?;
        let case = enums::PTR_ATTR.cases.iter().position(|c| *c == word);
        case.map(|i| i as u8 + 1).ok_or_else(|| {
            self.c
                .error_at(at, format!("unknown pointer attribute '{word}'"))
        })
    }

    /// `8x?x` up to the element type.
    fn dims(&mut self, dynamic: bool) -> Result<SmallVec<[Dim; 4]>> {
        let mut dims = SmallVec::new();
        loop {
            let at = self.c.offset();
            if dynamic && self.c.eat("?") {
                dims.push(DYNAMIC);
            } else if self.c.peek_byte().is_some_and(|b| b.is_ascii_digit()) {
                let digits = self.c.digits();
                let dim = digits.parse().ok().filter(|d| *d >= 0);
                dims.push(
                    dim.ok_or_else(|| {
                        self.c.error_at(at, format!("extent {digits} is too large"))
                    })?,
                );
            } else {
                return Ok(dims);
            }
            if !self.c.eat_char(b'x') {
                return Err(self.c.expected("'x' after an extent"));
            }
        }
    }

    fn shape(&mut self) -> Result<SmallVec<[u64; 4]>> {
        Ok(self.dims(false)?.iter().map(|&d| d as u64).collect())
    }

    fn tile(&mut self) -> Result<Type> {
        self.c.expect("<")?;
        let shape = self.shape()?;
        let elem = self.ty()?;
        self.c.expect(">")?;
        Ok(Type::Tile { elem, shape })
    }

    fn tensor_view(&mut self) -> Result<Type> {
        self.c.expect("<")?;
        let shape = self.dims(true)?;
        let elem = self.ty()?;
        let mut strides = SmallVec::new();
        let mut attr = 0;
        if !shape.is_empty() {
            self.c.expect(",")?;
            self.c.expect("strides")?;
            self.c.expect("=")?;
            strides = self.strides()?;
        }
        if self.c.eat(",") {
            attr = self.pointer_attr()?;
        }
        self.c.expect(">")?;
        Ok(Type::TensorView {
            elem,
            shape,
            strides,
            attr,
        })
    }

    fn strides(&mut self) -> Result<SmallVec<[Dim; 4]>> {
        self.c.expect("[")?;
        let mut strides = SmallVec::new();
        while !self.c.eat("]") {
            if !strides.is_empty() {
                self.c.expect(",")?;
            }
            let at = self.c.offset();
            if self.c.eat("?") {
                strides.push(DYNAMIC);
                continue;
            }
            let stride = self.c.integer()?;
            if stride <= 0 {
                let message = format!("expected strictly positive integer, got {stride}");
                return Err(self.c.error_at(at, message));
            }
            strides.push(stride);
        }
        Ok(strides)
    }

    /// `name=[1, 2]`.
    fn i32_list(&mut self, name: &str) -> Result<SmallVec<[i32; 4]>> {
        self.c.expect(name)?;
        self.c.expect("=")?;
        self.c.expect("[")?;
        let mut list = SmallVec::new();
        while !self.c.eat("]") {
            if !list.is_empty() {
                self.c.expect(",")?;
            }
            list.push(self.i32()?);
        }
        Ok(list)
    }

    /// `tile=(8x4),`.
    fn view_tile(&mut self) -> Result<SmallVec<[i32; 4]>> {
        for token in ["tile", "=", "("] {
            self.c.expect(token)?;
        }
        let mut tile = SmallVec::new();
        while !self.c.eat(")") {
            if !tile.is_empty() && !self.c.eat_char(b'x') {
                return Err(self.c.expected("'x' or ')'"));
            }
            let at = self.c.offset();
            let sign = if self.c.eat_char(b'-') { "-" } else { "" };
            let digits = self.c.digits();
            if digits.is_empty() {
                return Err(self.c.expected("an extent"));
            }
            let dim = digits.parse::<i32>().ok();
            let dim = dim.filter(|d| *d > 0 && sign.is_empty());
            let message = || {
                format!(
                    "tile dimension {} exceeds i32 limitations (got {sign}{digits}, expected strictly positive and less than or equal to 2147483647)",
                    tile.len()
                )
            };
            let dim = dim.ok_or_else(|| self.c.error_at(at, message()))?;
            tile.push(dim);
        }
        self.c.expect(",")?;
        Ok(tile)
    }

    /// `padding_value = nan,`, if present.
    fn padding(&mut self) -> Result<Option<Padding>> {
        if !self.c.eat("padding_value") {
            return Ok(None);
        }
        self.c.expect("=")?;
        let at = self.c.offset();
        let word = self.c.word("a padding value")?;
        self.c.expect(",")?;
        let case = enums::PADDING.cases.iter().position(|c| *c == word);
        let padding = case.and_then(|i| Padding::ALL.get(i)).copied();
        padding.map(Some).ok_or_else(|| {
            let message = format!(
                "invalid padding_value attribute specification. Got \"{word}\" but expect one of: {}",
                enums::PADDING.cases.join(", ")
            );
            self.c.error_at(at, message)
        })
    }

    fn inner_view(&mut self) -> Result<TypeId> {
        let at = self.c.offset();
        let view = self.ty()?;
        match self.module.types.get(view) {
            Type::TensorView { .. } => Ok(view),
            _ => {
                let text = crate::asm::type_text(&self.module, view);
                Err(self
                    .c
                    .error_at(at, format!("expected 'tensor_view' type, but got {text}")))
            }
        }
    }

    /// `, dim_map=[1, 0]`, or the identity.
    fn dim_map(&mut self, rank: usize) -> Result<SmallVec<[i32; 4]>> {
        match self.c.eat(",") {
            true => self.i32_list("dim_map"),
            false => Ok((0..rank as i32).collect()),
        }
    }

    fn partition_view(&mut self) -> Result<Type> {
        self.c.expect("<")?;
        let tile = self.view_tile()?;
        let padding = self.padding()?;
        let view = self.inner_view()?;
        let dim_map = self.dim_map(tile.len())?;
        self.c.expect(">")?;
        Ok(Type::PartitionView {
            tile,
            view,
            dim_map,
            padding,
        })
    }

    fn strided_view(&mut self) -> Result<Type> {
        self.c.expect("<")?;
        let tile = self.view_tile()?;
        let traversal = self.i32_list("traversal_strides")?;
        self.c.expect(",")?;
        let padding = self.padding()?;
        let view = self.inner_view()?;
        let dim_map = self.dim_map(tile.len())?;
        self.c.expect(">")?;
        Ok(Type::StridedView {
            tile,
            traversal,
            view,
            dim_map,
            padding,
        })
    }

    fn gather_scatter_view(&mut self) -> Result<Type> {
        self.c.expect("<")?;
        let tile = self.view_tile()?;
        let padding = self.padding()?;
        let view = self.inner_view()?;
        for token in [",", "sparse_dim", "="] {
            self.c.expect(token)?;
        }
        let sparse_dim = self.i32()?;
        self.c.expect(">")?;
        Ok(Type::GatherScatterView {
            tile,
            view,
            sparse_dim,
            padding,
        })
    }

    /// `, name=n`.
    pub fn parameter(&mut self, name: &str) -> Result<u32> {
        for token in [",", name, "="] {
            self.c.expect(token)?;
        }
        self.number32()
    }

    fn distributed(&mut self) -> Result<Type> {
        self.c.expect("<")?;
        let shape = self.shape()?;
        let elem = self.ty()?;
        let layout = self.layout_parameter()?;
        self.c.expect(">")?;
        Ok(Type::Distributed {
            elem,
            shape,
            layout,
        })
    }

    fn shared(&mut self) -> Result<Type> {
        self.c.expect("<")?;
        let shape = self.shape()?;
        let elem = self.ty()?;
        let layout = self.layout_parameter()?;
        let stages = self.parameter("stages")?;
        self.c.expect(">")?;
        Ok(Type::SharedTile {
            elem,
            shape,
            layout,
            stages,
        })
    }

    fn tensor(&mut self) -> Result<Type> {
        self.c.expect("<")?;
        let shape = self.shape()?;
        let elem = self.ty()?;
        let lanes = self.parameter("lanes")?;
        let cell = self.parameter("cell")?;
        let stages = self.parameter("stages")?;
        self.c.expect(">")?;
        Ok(Type::TensorTile {
            elem,
            shape,
            lanes,
            cell,
            stages,
        })
    }

    fn registers(&mut self) -> Result<Type> {
        self.c.expect("<")?;
        let dims = self.dims(false)?;
        let elem = self.ty()?;
        self.c.expect(">")?;
        match dims.as_slice() {
            [n] if u32::try_from(*n).is_ok() => Ok(Type::Regs { elem, n: *n as u32 }),
            _ => Err(self.c.error("expected one number of registers".into())),
        }
    }
}

/// `i32`, `f16`, ….
fn scalar(word: &str) -> Option<Type> {
    let float = Float::NAMES.iter().find(|(_, name)| *name == word);
    if let Some((float, _)) = float {
        return Some(Type::Float(*float));
    }
    match word {
        "f8E5M3FNU" => Some(Type::Float(Float::F8E5M3FNU)),
        _ => word
            .strip_prefix('i')?
            .parse()
            .ok()
            .filter(|n| (1..=64).contains(n))
            .map(Type::Int),
    }
}
