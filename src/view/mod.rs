//! A module's way through the compiler as one page: source, stages, PTX and machine code side by side, with what was
//! decided and why. `docs/view.md` describes the page.
//!
//! [`View::new`] compiles and gathers; [`View::page`] writes one HTML file that needs nothing else. What comes from
//! other programs (machine code, a simulated run) is added in between by whoever has it.

mod decisions;
mod html;
mod layouts;
mod panel;
mod sass;

use std::collections::HashMap;
use std::fmt::Write;

pub use self::sass::Disassembly;

use self::html::escape;
use self::layouts::Drawing;
use self::panel::{Panel, Places};
use crate::asm::Form;
use crate::compile::{Kernel, Options, Stage, lower_to, machine, to_ptx};
use crate::explain::{Explanation, explain};
use crate::ir::{Diagnostics, Module};
use crate::ptx::Debug;

/// What a page shows.
pub struct View {
    title: String,
    options: Options,
    places: Places,
    /// From the Tile IR on.
    panels: Vec<Panel>,
    drawings: Vec<Drawing>,
    explanation: Explanation,
    /// The PTX, with line information, and how it is launched.
    pub kernel: Kernel,
    /// What the page says instead of what is missing.
    notes: Vec<String>,
    timeline: Option<String>,
}

impl View {
    /// Compiles the module that `read` reads, stage by stage.
    ///
    /// # Errors
    /// Those of reading and compiling.
    pub fn new(
        title: &str,
        read: impl Fn() -> Result<Module, Diagnostics>,
        options: &Options,
    ) -> Result<View, Diagnostics> {
        let options = Options {
            explain: true,
            debug: Debug::Lines,
            ..options.clone()
        };
        let mut places = Places::default();
        let mut panels = Vec::new();
        let mut drawings = Vec::new();
        for (stage, id, name) in [
            (Stage::CudaTile, "tile", "Tile IR"),
            (Stage::NvTileaa, "tileaa", "nv_tileaa"),
            (Stage::NvTileas, "tileas", "nv_tileas"),
            (Stage::Nvvm, "nvvm", "nvvm"),
        ] {
            let module = lower_to(read()?, &options, stage)?.module;
            let form = match stage {
                Stage::CudaTile => Form::Pretty,
                _ => Form::Generic,
            };
            panels.push(Panel::of_module(id, name, &module, form, &mut places));
            if stage == Stage::NvTileas {
                drawings = layouts::drawings(&module);
            }
        }
        let selected = machine(read()?, &options)?;
        panels.push(Panel::plain("machine", "machine", &selected));
        let kernel = to_ptx(read()?, &options)?;
        panels.push(Panel::of_ptx(&kernel.ptx, &mut places));
        Ok(View {
            title: title.to_owned(),
            explanation: explain(read()?, read()?, &options)?,
            options,
            places,
            panels,
            drawings,
            kernel,
            notes: Vec::new(),
            timeline: None,
        })
    }

    /// Adds machine code; the text of `nvdisasm` in three forms.
    pub fn disassembly(&mut self, text: &Disassembly) {
        let panel = sass::panel(text, &mut self.places);
        self.panels.push(panel);
    }

    /// Adds a picture of a simulated run, as SVG.
    pub fn timeline(&mut self, svg: String) {
        self.timeline = Some(svg);
    }

    /// Says why something is not shown.
    pub fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// The page; `source` reads the files that locations name.
    pub fn page(mut self, source: &dyn Fn(&str) -> Option<String>) -> String {
        let mut texts = HashMap::new();
        for file in self.places.files() {
            match source(&file) {
                Some(text) => {
                    texts.insert(file, text);
                }
                None => self.note(&format!("the source {file} cannot be read")),
            }
        }
        if self.places.files().is_empty() {
            self.note("the module names no source: lines are not linked through it");
        }
        let sources = Panel::of_sources(&texts, &mut self.places);
        let mut panels = vec![sources];
        panels.append(&mut self.panels);
        let title = format!("{} for {}", self.title, self.options.target);
        let mut body = String::new();
        section(&mut body, "code", "Code", &code(&panels));
        let (rules, decisions) = (
            decisions::rules(&self.explanation),
            decisions::schedule(&self.explanation),
        );
        section(&mut body, "decisions", "Decisions", &decisions);
        section(&mut body, "rules", "Rules", &rules);
        section(
            &mut body,
            "layouts",
            "Layouts",
            &layouts::figures(&self.drawings),
        );
        let memory = decisions::memory(&self.explanation);
        section(&mut body, "memory", "Shared memory", &memory);
        if let Some(svg) = &self.timeline {
            let picture = format!("<div class=\"timeline\">{svg}</div>");
            section(&mut body, "timeline", "Timeline", &picture);
        }
        if !self.notes.is_empty() {
            let mut list = String::from("<ul>");
            for note in &self.notes {
                let _ = write!(list, "<li>{}</li>", escape(note));
            }
            section(&mut body, "notes", "Not shown", &(list + "</ul>"));
        }
        html::page(&title, &body)
    }
}

fn section(body: &mut String, id: &str, name: &str, content: &str) {
    let _ = write!(
        body,
        "<section id=\"{id}\" aria-labelledby=\"{id}-name\"><h2 id=\"{id}-name\">{name}</h2>\n{content}</section>\n"
    );
}

/// The panels beside one another.
fn code(panels: &[Panel]) -> String {
    let mut text = String::from("<div class=\"panels\">\n");
    for panel in panels {
        panel.write(&mut text);
    }
    text + "</div>\n"
}
