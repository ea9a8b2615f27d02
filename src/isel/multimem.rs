//! Accesses to multicast addresses: `multimem.ld_reduce`, `multimem.red`, `multimem.st` (PTX ISA, "multimem").

use super::build::{Fail, fail};
use super::memory::{Access, accesses, floats, scope};
use super::select::Selector;
use super::values::Elem;
use crate::dialect::enums::{Ordering, Reduction, Scope};
use crate::dialect::nvvm::view;
use crate::ir::{Float, Op};

/// The instruction up to its operation or type: ordering, scope and state space.
fn stem(what: &str, order: Ordering, within: Scope) -> String {
    let semantics = match order {
        Ordering::Weak => "weak".to_owned(),
        order => format!("{}.{}", order.text(), scope(within)),
    };
    format!("multimem.{what}.{semantics}.global")
}

/// The operation and type of a reduction; `wide`: sums of halves are computed in f32.
fn action(reduction: Reduction, elem: Elem, access: &Access, wide: bool) -> Result<String, Fail> {
    let float = match elem {
        Elem::Float(float) => float,
        _ => {
            let bits = elem.bits();
            return Ok(match reduction {
                Reduction::Add => format!("add.u{bits}"),
                Reduction::Min => format!("min.s{bits}"),
                Reduction::Max => format!("max.s{bits}"),
                Reduction::MinU => format!("min.u{bits}"),
                Reduction::MaxU => format!("max.u{bits}"),
                Reduction::And => format!("and.b{bits}"),
                Reduction::Or => format!("or.b{bits}"),
                Reduction::Xor => format!("xor.b{bits}"),
            });
        }
    };
    let half = matches!(float, Float::F16 | Float::BF16);
    let precision = match reduction {
        Reduction::Add if half && wide => ".acc::f32",
        Reduction::Add | Reduction::Min | Reduction::Max => "",
        _ => return fail("this reduction is for integers only"),
    };
    Ok(format!(
        "{}{precision}{}",
        reduction.text(),
        floats(float, access)?
    ))
}

impl Selector<'_> {
    pub(super) fn multimem_load(&mut self, v: &view::MultimemLoad<Op>) -> Result<(), Fail> {
        self.read(v.op(), accesses!(v), v.other(), |elem, access| {
            let stem = stem("ld_reduce", v.order(), v.scope());
            Ok(format!(
                "{stem}.{}",
                action(v.reduction(), elem, access, true)?
            ))
        })
    }

    pub(super) fn multimem_reduce(&mut self, v: &view::MultimemReduce<Op>) -> Result<(), Fail> {
        self.write(v.value(), accesses!(v), |elem, access| {
            let stem = stem("red", v.order(), v.scope());
            Ok(format!(
                "{stem}.{}",
                action(v.reduction(), elem, access, false)?
            ))
        })
    }

    /// A store moves bits: vectors are spelled as those of f32, whatever they hold.
    pub(super) fn multimem_store(&mut self, v: &view::MultimemStore<Op>) -> Result<(), Fail> {
        self.write(v.value(), accesses!(v), |_, access| {
            let ty = match access.ty {
                "b32" | "b64" => access.ty,
                "v2.b32" => "v2.f32",
                "v4.b32" => "v4.f32",
                other => return fail(format!("a multimem store of {other}")),
            };
            Ok(format!("{}.{ty}", stem("st", v.order(), v.scope())))
        })
    }
}
