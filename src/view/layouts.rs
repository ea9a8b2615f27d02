//! Layouts, to be drawn as grids: each cell an element of the tile, coloured by who holds it or where it lies.
//!
//! A layout is a linear map over bits ([`crate::layout`]), so its basis vectors are all that the page needs.

use std::fmt::Write;

use serde::Serialize;

use super::html::escape;
use crate::asm::type_text;
use crate::ir::{Module, Type};
use crate::layout::{In, Layout};

/// Types of values that have one layout, shown at most.
const USES: usize = 6;

/// A layout and what has it.
pub struct Drawing {
    number: u32,
    text: String,
    /// Types of values.
    uses: Vec<String>,
    map: Map,
}

/// What the page computes places from: extents of the tile, and for each bit of a register's, lane's, warp's number,
/// or of an offset in memory, the coordinates of the element that it adds.
#[derive(Serialize)]
struct Map {
    shape: Vec<u64>,
    register: Vec<Vec<u64>>,
    lane: Vec<Vec<u64>>,
    warp: Vec<Vec<u64>>,
    block: Vec<Vec<u64>>,
    offset: Vec<Vec<u64>>,
    /// Bits of an element, for the banks of shared memory; 0 where nothing in memory has the layout.
    bits: u32,
}

/// The layouts of a module, in its order.
pub fn drawings(module: &Module) -> Vec<Drawing> {
    let layouts = module.layouts.iter();
    let mut drawings: Vec<Drawing> = layouts
        .map(|(number, layout)| Drawing {
            number,
            text: layout.to_string(),
            uses: Vec::new(),
            map: map(layout),
        })
        .collect();
    for op in module.ops_under(module.body) {
        for &value in &module.op(op).results {
            let ty = module.ty(value);
            let (number, shared) = match module.types.get(ty) {
                Type::Distributed { layout, .. } => (*layout, false),
                Type::SharedTile { layout, .. } => (*layout, true),
                _ => continue,
            };
            let Some(drawing) = drawings.iter_mut().find(|d| d.number == number) else {
                continue;
            };
            if shared {
                drawing.map.bits = module.types.bits(module.types.elem(ty)).unwrap_or(0);
            }
            let text = type_text(module, ty).to_string();
            if !drawing.uses.contains(&text) {
                drawing.uses.push(text);
            }
        }
    }
    drawings
}

fn map(layout: &Layout) -> Map {
    let coordinates = |input: In| {
        let bases = layout.bases(input).iter();
        bases
            .map(|&flat| layout.shape().unflatten(flat).to_vec())
            .collect()
    };
    Map {
        shape: layout.shape().extents().to_vec(),
        register: coordinates(In::Register),
        lane: coordinates(In::Lane),
        warp: coordinates(In::Warp),
        block: coordinates(In::Block),
        offset: coordinates(In::Offset),
        bits: 0,
    }
}

/// The figures; the page's script draws into them.
pub fn figures(drawings: &[Drawing]) -> String {
    if drawings.is_empty() {
        return "<p>no value has a layout</p>\n".into();
    }
    let mut text = String::new();
    for drawing in drawings {
        // Numbers and their lists are always written.
        let map = serde_json::to_string(&drawing.map).unwrap_or_default();
        let _ = writeln!(
            text,
            "<figure class=\"layout\" id=\"layout-{0}\" data-map=\"{1}\"><figcaption>layout {0}: <code>{2}</code></figcaption>",
            drawing.number,
            escape(&map),
            escape(&drawing.text)
        );
        let more = drawing.uses.len().saturating_sub(USES);
        let mut uses: Vec<String> = drawing.uses.iter().take(USES).map(|u| escape(u)).collect();
        if more > 0 {
            uses.push(format!("{more} more"));
        }
        if !uses.is_empty() {
            let _ = writeln!(text, "<p>of {}</p>", uses.join("; "));
        }
        text.push_str(
            "<div class=\"choice\" role=\"group\" aria-label=\"colours\"></div>\n\
             <div class=\"grid\"><canvas></canvas></div><output></output></figure>\n",
        );
    }
    text
}
