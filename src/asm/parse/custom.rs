//! The forms that are more than a sequence of fields.

use super::cursor::Result;
use super::pretty::Fields;
use super::state::Parser;
use crate::asm::pretty::formats::Custom;
use crate::dialect::cuda_tile::Op as CudaTile;
use crate::dialect::{AttrKind, OpKind};
use crate::ir::{Attr, DYNAMIC, Dim, Type, TypeId, ValueId};

impl<'t> Parser<'t> {
    pub fn custom(&mut self, fields: &mut Fields, custom: &Custom) -> Result<()> {
        match custom {
            Custom::Dense { attr, result } => {
                let (value, ty) = self.typed_dense()?;
                fields.attrs[*attr] = Some(value);
                if let Some(i) = result {
                    fields.results[*i] = Some(vec![ty]);
                }
                Ok(())
            }
            Custom::Attributes(i) => self.attributes(fields, *i),
            Custom::Flags(list) => {
                while let Some(&i) = list
                    .iter()
                    .find(|i| self.c.peek(fields.def.attrs[**i].name))
                {
                    self.c.expect(fields.def.attrs[i].name)?;
                    fields.attrs[i] = Some(Attr::Unit);
                }
                Ok(())
            }
            Custom::Index(group) => self.index_types(fields, *group),
            Custom::Rank => self.rank(fields),
            Custom::Triple => {
                let ty = self.ty()?;
                fields.results.iter_mut().for_each(|r| *r = Some(vec![ty]));
                Ok(())
            }
            Custom::View => self.view(fields),
            Custom::TensorView => self.tensor_view_op(fields),
            Custom::Visibility(i) => {
                let AttrKind::Enum(def) = fields.def.attrs[*i].kind else {
                    return Ok(());
                };
                let word = self.c.peek_word();
                if def.cases.contains(&word) {
                    fields.attrs[*i] = Some(self.enumeration(def)?);
                }
                Ok(())
            }
            Custom::Symbol(i) => {
                let name = self.c.symbol()?;
                fields.attrs[*i] = Some(Attr::Str(self.module.intern(&name)));
                Ok(())
            }
            Custom::Entry => self.entry(fields),
            Custom::For => self.for_loop(fields),
            Custom::Loop => self.loop_op(fields),
            Custom::Branches => self.branches(fields),
            Custom::Combination => {
                self.c.expect("(")?;
                let args = self.arguments()?;
                let body = self.body(&args, false, Some(CudaTile::Yield.into()))?;
                fields.regions.push(body);
                Ok(())
            }
        }
    }

    /// `attributes {x = …}`.
    fn attributes(&mut self, fields: &mut Fields, i: usize) -> Result<()> {
        if !self.c.eat("attributes") {
            return Ok(());
        }
        let def = &fields.def.attrs[i];
        for token in ["{", def.name, "="] {
            self.c.expect(token)?;
        }
        fields.attrs[i] = Some(self.attr(def.kind)?);
        self.c.expect("}")
    }

    /// `, type` for all, or one for each.
    fn index_types(&mut self, fields: &Fields, group: usize) -> Result<()> {
        let index = fields.group(group).to_vec();
        if index.is_empty() {
            return Ok(());
        }
        self.c.expect(",")?;
        let at = self.c.offset();
        let mut types = vec![self.ty()?];
        // A comma may also lead on to the token's type.
        while types.len() < index.len() {
            let ahead = self.c.clone();
            if !self.c.eat(",") || self.c.peek("token") {
                self.c = ahead;
                break;
            }
            types.push(self.ty()?);
        }
        if types.len() == 1 {
            types = vec![types[0]; index.len()];
        }
        if types.len() != index.len() {
            let message = format!("expected {} index types, got {}", index.len(), types.len());
            return Err(self.c.error_at(at, message));
        }
        index
            .iter()
            .zip(types)
            .try_for_each(|(&v, ty)| self.same_type(at, v, ty))
    }

    /// As many results of one type as the source has dimensions.
    fn rank(&mut self, fields: &mut Fields) -> Result<()> {
        let at = self.c.offset();
        let ty = self.ty()?;
        let source = fields
            .group(0)
            .first()
            .map(|&v| self.module.types.get(self.module.ty(v)));
        let rank = match source {
            Some(Type::TensorView { shape, .. }) => shape.len(),
            Some(
                Type::PartitionView { tile, .. }
                | Type::StridedView { tile, .. }
                | Type::GatherScatterView { tile, .. },
            ) => tile.len(),
            _ => return Err(self.c.error_at(at, "expected a view".into())),
        };
        fields.results[0] = Some(vec![ty; rank]);
        Ok(())
    }

    fn view(&mut self, fields: &mut Fields) -> Result<()> {
        let at = self.c.offset();
        let ty = self.ty()?;
        let (Type::PartitionView { view, .. }
        | Type::StridedView { view, .. }
        | Type::GatherScatterView { view, .. }) = self.module.types.get(ty)
        else {
            let text = crate::asm::type_text(&self.module, ty);
            return Err(self
                .c
                .error_at(at, format!("expected a view type, but got {text}")));
        };
        let view = *view;
        for &value in fields.group(0) {
            self.same_type(at, value, view)?;
        }
        fields.results[0] = Some(vec![ty]);
        Ok(())
    }

    /// `[%a, 32]`: numbers, and values where the type has `?`.
    fn mixed(&mut self) -> Result<(Vec<Dim>, Vec<ValueId>)> {
        let mut values = Vec::new();
        let dims = self.list(|p| {
            if p.c.peek("%") {
                values.push(p.value()?);
                return Ok(DYNAMIC);
            }
            p.c.integer()
        })?;
        Ok((dims, values))
    }

    fn tensor_view_op(&mut self, fields: &mut Fields) -> Result<()> {
        let base = self.value()?;
        for token in [",", "shape", "="] {
            self.c.expect(token)?;
        }
        let (shape, shape_values) = self.mixed()?;
        for token in [",", "strides", "="] {
            self.c.expect(token)?;
        }
        let (strides, stride_values) = self.mixed()?;
        self.c.expect(":")?;
        let mut at = self.c.offset();
        let mut types = self.type_list()?;
        if self.c.eat("->") {
            let base_ty = self.module.ty(base);
            let dynamic = shape_values.iter().chain(&stride_values);
            if types.first() == Some(&base_ty) {
                types.remove(0);
            }
            if let Some(&ty) = types.first() {
                for &value in dynamic {
                    self.same_type(at, value, ty)?;
                }
            }
            at = self.c.offset();
            types = vec![self.ty()?];
        }
        let ty = types[0];
        let Type::TensorView {
            shape: s,
            strides: t,
            ..
        } = self.module.types.get(ty)
        else {
            let text = crate::asm::type_text(&self.module, ty);
            return Err(self
                .c
                .error_at(at, format!("expected 'tensor_view' type, but got {text}")));
        };
        if types.len() != 1 {
            return Err(self
                .c
                .error_at(at, "expected one type, that of the view".into()));
        }
        for (what, wanted, given) in [("shape", s, &shape), ("stride", t, &strides)] {
            if let Some(message) = different_dims(what, wanted, given) {
                return Err(self.c.error_at(at, message));
            }
        }
        fields.operands = vec![Some(vec![base]), Some(shape_values), Some(stride_values)];
        fields.results[0] = Some(vec![ty]);
        Ok(())
    }

    fn entry(&mut self, fields: &mut Fields) -> Result<()> {
        let name = self.c.symbol()?;
        let name = self.module.intern(&name);
        self.c.expect("(")?;
        let (args, dictionaries) = self.parameters()?;
        let results = match self.c.eat("->") {
            true => self.type_group()?,
            false => Vec::new(),
        };
        let params: Vec<TypeId> = args.iter().map(|a| a.1).collect();
        let ty = self.module.types.intern(Type::Function { params, results });
        let set = |fields: &mut Fields, name: &str, attr: Attr| {
            if let Some(i) = fields.def.attr_index(name) {
                fields.attrs[i] = Some(attr);
            }
        };
        set(fields, "sym_name", Attr::Str(name));
        set(fields, "function_type", Attr::Type(ty));
        if self.c.eat("optimization_hints") {
            self.c.expect("=")?;
            let hints = self.attr(AttrKind::Hints)?;
            set(fields, "optimization_hints", hints);
        }
        if let Some(dictionaries) = dictionaries {
            set(fields, "arg_attrs", dictionaries);
        }
        let body = self.body(&args, true, Some(CudaTile::Return.into()))?;
        fields.regions.push(body);
        Ok(())
    }

    /// `(%inner = %outer, …)`.
    fn assignments(&mut self) -> Result<(Vec<&'t str>, Vec<ValueId>)> {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        self.c.expect("(")?;
        while !self.c.eat(")") {
            if !names.is_empty() {
                self.c.expect(",")?;
            }
            names.push(self.c.value_name()?);
            self.c.expect("=")?;
            values.push(self.value()?);
        }
        Ok((names, values))
    }

    /// The written types of loop-carried values are those of the initial ones.
    fn carried(&mut self, at: usize, values: &[ValueId], types: &[TypeId]) -> Result<()> {
        if values.len() != types.len() {
            let message = "mismatch in number of loop-carried values and defined values".into();
            return Err(self.c.error_at(at, message));
        }
        values
            .iter()
            .zip(types)
            .try_for_each(|(&v, &ty)| self.same_type(at, v, ty))
    }

    fn for_loop(&mut self, fields: &mut Fields) -> Result<()> {
        let induction = self.c.value_name()?;
        self.c.expect("in")?;
        self.c.expect("(")?;
        let lower = self.value()?;
        self.c.expect("to")?;
        let upper = self.value()?;
        self.c.expect(",")?;
        self.c.expect("step")?;
        let step = self.value()?;
        self.c.expect(")")?;
        self.c.expect(":")?;
        let at = self.c.offset();
        let ty = self.ty()?;
        for value in [lower, upper, step] {
            self.same_type(at, value, ty)?;
        }
        let mut args = vec![(induction, ty)];
        let (mut values, mut types) = (Vec::new(), Vec::new());
        if self.c.eat("iter_values") {
            let names;
            (names, values) = self.assignments()?;
            self.c.expect("->")?;
            let at = self.c.offset();
            types = self.type_group()?;
            self.carried(at, &values, &types)?;
            args.extend(names.into_iter().zip(types.iter().copied()));
        }
        let body = self.body(&args, false, Some(CudaTile::Continue.into()))?;
        fields.operands = [vec![lower], vec![upper], vec![step], values]
            .map(Some)
            .into();
        fields.results[0] = Some(types);
        fields.regions.push(body);
        Ok(())
    }

    fn loop_op(&mut self, fields: &mut Fields) -> Result<()> {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        let (mut types, mut results) = (Vec::new(), Vec::new());
        if self.c.eat("iter_values") {
            (names, values) = self.assignments()?;
            self.c.expect(":")?;
            let at = self.c.offset();
            types = self.type_list()?;
            self.carried(at, &values, &types)?;
            if self.c.eat("->") {
                results = self.type_list()?;
            }
        } else if self.c.eat(":") {
            results = self.type_list()?;
        }
        let args: Vec<_> = names.into_iter().zip(types).collect();
        let body = self.body(&args, false, Some(CudaTile::Continue.into()))?;
        fields.operands[0] = Some(values);
        fields.results[0] = Some(results);
        fields.regions.push(body);
        Ok(())
    }

    fn branches(&mut self, fields: &mut Fields) -> Result<()> {
        let end: Option<OpKind> = Some(CudaTile::Yield.into());
        let then = self.body(&[], false, end)?;
        let otherwise = match self.c.eat("else") {
            true => self.body(&[], false, end)?,
            false => self.module.new_region(),
        };
        fields.regions.extend([then, otherwise]);
        Ok(())
    }
}

/// How the numbers that `make_tensor_view` gives differ from those of its type.
fn different_dims(what: &str, wanted: &[Dim], given: &[Dim]) -> Option<String> {
    if wanted.len() != given.len() {
        return Some(format!(
            "expected {what} declaration to contain {} elements due to tensor_view type, but {} were provided",
            wanted.len(),
            given.len()
        ));
    }
    let text = |dim: Dim| match dim {
        DYNAMIC => "dynamic".to_owned(),
        n => n.to_string(),
    };
    let at = wanted.iter().zip(given).position(|(w, g)| w != g)?;
    Some(format!(
        "input {what} dimension {at} does not match tensor_view type (expected {}, got {})",
        text(wanted[at]),
        text(given[at])
    ))
}
