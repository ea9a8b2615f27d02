//! A timeline as a picture: a row per warp, rows for the copies of each block, time to the right.

use super::timeline::{Kind, Span, Timeline, Track};
use std::fmt::Write;

const WIDTH: f64 = 1500.0;
const LEFT: f64 = 110.0;
const TOP: f64 = 64.0;
const ROW: f64 = 18.0;
const BAR: f64 = 5.0;
/// Rows of overlapping copies per block; more share the last.
const COPY_ROWS: usize = 12;

struct Style {
    kind: Kind,
    name: &'static str,
    color: &'static str,
    unit: &'static str,
}

const STYLES: &[Style] = &[
    style(Kind::Run, "runs", "#4878a8", "instructions"),
    style(Kind::Barrier, "waits at a barrier", "#d9d2c5", ""),
    style(Kind::Mbarrier, "waits for an mbarrier", "#e8b4a8", ""),
    style(Kind::Cluster, "waits at the cluster barrier", "#cdb6d9", ""),
    style(Kind::Converge, "lanes wait for lanes", "#e6e2a8", ""),
    style(Kind::Registers, "waits for registers", "#c8c8c8", ""),
    style(Kind::TensorMemory, "waits for tensor memory", "#b0b8c8", ""),
    style(
        Kind::Tcgen05,
        "tcgen05 in flight",
        "#2f8f83",
        "multiply-adds",
    ),
    style(Kind::Bulk, "bulk copy in flight", "#e08a2c", "bytes"),
    style(Kind::CpAsync, "cp.async in flight", "#f0b860", "bytes"),
    style(
        Kind::Wgmma,
        "wgmma group in flight",
        "#2e8b57",
        "multiply-adds",
    ),
    style(Kind::Mma, "mma", "#2e8b57", "multiply-adds"),
    style(Kind::Results, "waits for arithmetic", "#b9cde0", ""),
    style(Kind::SharedMemory, "waits for shared memory", "#bfe0d6", ""),
    style(Kind::GlobalMemory, "waits for global memory", "#f2d7b6", ""),
    style(Kind::Products, "waits for products", "#bcd9bc", ""),
    style(Kind::Copies, "waits for copies", "#f5e3c3", ""),
    style(Kind::Pipeline, "waits for a pipeline", "#dcdcdc", ""),
];

const fn style(kind: Kind, name: &'static str, color: &'static str, unit: &'static str) -> Style {
    Style {
        kind,
        name,
        color,
        unit,
    }
}

fn style_of(kind: Kind) -> &'static Style {
    STYLES.iter().find(|s| s.kind == kind).unwrap_or(&STYLES[0])
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Rows that overlapping copies of a block take, as the greedy packing of intervals gives them.
fn pack(spans: &[Span]) -> Vec<usize> {
    let mut ends: Vec<u64> = Vec::new();
    spans
        .iter()
        .map(|span| match ends.iter().position(|&end| end <= span.from) {
            Some(row) => {
                ends[row] = span.to;
                row
            }
            None if ends.len() < COPY_ROWS => {
                ends.push(span.to);
                ends.len() - 1
            }
            None => COPY_ROWS - 1,
        })
        .collect()
}

/// Spans of one row that lie closer than half a pixel are drawn as one.
fn coalesce(mut spans: Vec<Span>, step: f64) -> Vec<Span> {
    spans.sort_by_key(|s| (s.kind, s.from));
    let mut out: Vec<Span> = Vec::new();
    for span in spans {
        match out.last_mut() {
            Some(last)
                if last.kind == span.kind && span.from as f64 <= last.to as f64 + 0.5 * step =>
            {
                last.to = last.to.max(span.to);
                last.amount += span.amount;
            }
            _ => out.push(span),
        }
    }
    out
}

/// What is drawn over what: waits, what runs, bars.
fn layer(kind: Kind) -> u8 {
    match kind {
        Kind::Wgmma | Kind::Mma | Kind::Tcgen05 | Kind::CpAsync | Kind::Bulk => 2,
        Kind::Run => 1,
        _ => 0,
    }
}

struct Picture<'a> {
    timeline: &'a Timeline,
    lines: Vec<&'a str>,
    scale: f64,
    y: f64,
    out: String,
}

/// The picture. `title` names the launch, `source` is the PTX text that the tooltips quote.
pub fn draw(timeline: &Timeline, title: &str, source: &str) -> String {
    let mut picture = Picture {
        timeline,
        lines: source.lines().collect(),
        scale: WIDTH / timeline.end.max(1) as f64,
        y: TOP,
        out: String::new(),
    };
    for block in 0..timeline.blocks.len() {
        picture.block(block as u32);
    }
    let height = picture.y + 34.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{height}\" viewBox=\"0 0 {0} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"10\" y=\"20\" font-size=\"14\">{1}</text>\n",
        LEFT + WIDTH + 20.0,
        escape(title)
    );
    svg += &legend(timeline);
    svg += &axis(timeline, picture.scale, picture.y);
    svg + &picture.out + "</svg>\n"
}

fn legend(timeline: &Timeline) -> String {
    let mut out = String::new();
    let mut x = LEFT;
    for style in STYLES {
        if !timeline.spans.iter().any(|s| s.kind == style.kind) {
            continue;
        }
        let _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"34\" width=\"12\" height=\"12\" fill=\"{}\"/><text x=\"{}\" y=\"44\">{}</text>",
            style.color,
            x + 16.0,
            style.name
        );
        x += 34.0 + 6.2 * style.name.len() as f64;
    }
    out
}

fn axis(timeline: &Timeline, scale: f64, bottom: f64) -> String {
    let mut out = String::new();
    // Ten or so steps of 1, 2 or 5 times a power of ten.
    let rough = timeline.end.max(1) as f64 / 10.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|&s| s >= rough)
        .unwrap_or(power)
        .max(1.0);
    let mut at = 0.0;
    while at <= timeline.end as f64 {
        let x = LEFT + at * scale;
        let _ = writeln!(
            out,
            "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{}\" y2=\"{bottom}\" stroke=\"#e4e4e4\"/>\
             <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#666\">{at}</text>",
            TOP - 4.0,
            bottom + 14.0
        );
        at += step;
    }
    let note = if timeline.truncated {
        "; the recording was full, later spans are missing"
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{}\" fill=\"#666\">{}{note}</text>",
        bottom + 29.0,
        escape(&timeline.unit)
    );
    out
}

impl Picture<'_> {
    fn block(&mut self, block: u32) {
        let [x, y, z] = self.timeline.blocks[block as usize];
        let _ = writeln!(
            self.out,
            "<text x=\"10\" y=\"{}\" font-weight=\"bold\">block {x}, {y}, {z}</text>",
            self.y + 12.0
        );
        self.y += ROW;
        for warp in 0..self.timeline.warps_per_block {
            self.warp(Track { block, warp });
        }
        self.copies(block);
        self.y += 6.0;
    }

    /// Running and waiting fill the row; matrix work and cp.async in flight are bars at its foot and head.
    fn warp(&mut self, track: Track) {
        let _ = writeln!(
            self.out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">warp {}</text>",
            LEFT - 8.0,
            self.y + 12.0,
            track.warp
        );
        let own = |s: &&Span| s.track == track && s.kind != Kind::Bulk;
        let spans = self.timeline.spans.iter().filter(own).copied().collect();
        let mut spans = coalesce(spans, 1.0 / self.scale);
        // What fills the row first, so that the bars lie on it.
        spans.sort_by_key(|span| layer(span.kind));
        for span in spans {
            let (top, height) = match span.kind {
                Kind::Wgmma | Kind::Mma | Kind::Tcgen05 => (self.y + ROW - 3.0 - BAR, BAR),
                Kind::CpAsync => (self.y, BAR),
                Kind::Run => (self.y + 2.0, ROW - 6.0),
                _ => (self.y + 1.0, ROW - 4.0),
            };
            self.rect(&span, top, height);
        }
        self.y += ROW;
    }

    fn copies(&mut self, block: u32) {
        let own = |s: &&Span| s.track.block == block && s.kind == Kind::Bulk;
        let mut spans: Vec<Span> = self.timeline.spans.iter().filter(own).copied().collect();
        if spans.is_empty() {
            return;
        }
        spans.sort_by_key(|s| (s.from, s.to));
        let rows = pack(&spans);
        let _ = writeln!(
            self.out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">copies</text>",
            LEFT - 8.0,
            self.y + 10.0
        );
        for (span, &row) in spans.iter().zip(&rows) {
            self.rect(span, self.y + 1.0 + row as f64 * (BAR + 2.0), BAR);
        }
        let used = rows.iter().max().map_or(0, |r| r + 1);
        self.y += (used as f64 * (BAR + 2.0)).max(ROW);
    }

    fn rect(&mut self, span: &Span, top: f64, height: f64) {
        let style = style_of(span.kind);
        let x = LEFT + span.from as f64 * self.scale;
        let width = ((span.to - span.from) as f64 * self.scale).max(0.6);
        let amount = match (style.unit, span.amount) {
            ("", _) | (_, 0) => String::new(),
            (unit, amount) => format!(", {amount} {unit}"),
        };
        let source = match self.lines.get((span.line as usize).wrapping_sub(1)) {
            Some(text) => format!("\nline {}: {}", span.line, text.trim()),
            None => String::new(),
        };
        let _ = writeln!(
            self.out,
            "<rect x=\"{x:.2}\" y=\"{top:.1}\" width=\"{width:.2}\" height=\"{height}\" fill=\"{}\"><title>warp {} {}, {} to {}{amount}{}</title></rect>",
            style.color,
            span.track.warp,
            style.name,
            span.from,
            span.to,
            escape(&source)
        );
    }
}
