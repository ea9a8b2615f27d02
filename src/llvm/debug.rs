//! Line information as metadata: where instructions come from, and the functions that were inlined there.

use std::collections::BTreeMap;

use crate::ir::{LocId, Module};
use crate::ptx;

/// The nodes of a module's line information.
pub(super) struct Debug<'m> {
    module: &'m Module,
    enabled: bool,
    /// Nodes in the order of their numbers, which start at [`FIRST`].
    nodes: Vec<String>,
    known: BTreeMap<String, usize>,
    unit: Option<usize>,
    /// The subprogram of the kernel that is being written.
    kernel: usize,
    places: BTreeMap<LocId, Option<usize>>,
}

/// Numbers below are the module's own.
const FIRST: usize = 1000;

impl<'m> Debug<'m> {
    pub fn new(module: &'m Module, debug: ptx::Debug) -> Self {
        Self {
            module,
            enabled: debug != ptx::Debug::None,
            nodes: Vec::new(),
            known: BTreeMap::new(),
            unit: None,
            kernel: 0,
            places: BTreeMap::new(),
        }
    }

    /// The number of a node with this content.
    fn node(&mut self, text: String) -> usize {
        if let Some(&number) = self.known.get(&text) {
            return number;
        }
        self.nodes.push(text.clone());
        let number = FIRST + self.nodes.len() - 1;
        self.known.insert(text, number);
        number
    }

    /// A file; `DIFile` has the folder apart.
    fn file(&mut self, path: &str) -> usize {
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        let (folder, name) = (escaped(folder), escaped(name));
        self.node(format!(
            "!DIFile(filename: \"{name}\", directory: \"{folder}\")"
        ))
    }

    fn unit(&mut self, file: usize) -> usize {
        if let Some(unit) = self.unit {
            return unit;
        }
        let unit = self.node(format!(
            "distinct !DICompileUnit(language: DW_LANG_C, file: !{file}, producer: \"tilec\", \
             isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly)"
        ));
        self.unit = Some(unit);
        unit
    }

    fn subprogram(&mut self, name: &str, path: &str, line: u32) -> usize {
        let file = self.file(path);
        let unit = self.unit(file);
        let types = self.node("!{null}".to_owned());
        let ty = self.node(format!("!DISubroutineType(types: !{types})"));
        self.node(format!(
            "distinct !DISubprogram(name: \"{}\", scope: !{file}, file: !{file}, line: {line}, type: !{ty}, \
             scopeLine: {line}, isLocal: false, isDefinition: true, isOptimized: true, unit: !{unit})",
            escaped(name)
        ))
    }

    /// Starts a kernel: what its definition says of its subprogram.
    pub fn function(&mut self, name: &str, at: LocId) -> String {
        if !self.enabled {
            return String::new();
        }
        self.places.clear();
        let (path, line) = match self.module.inlined_places(at).last() {
            Some(place) => (self.module.str(place.file).to_owned(), place.line),
            None => (super::MODULE_NAME.to_owned(), 0),
        };
        self.kernel = self.subprogram(name, &path, line);
        format!(" !dbg !{}", self.kernel)
    }

    /// What stands behind an instruction from `at`.
    pub fn at(&mut self, at: LocId) -> String {
        if !self.enabled {
            return String::new();
        }
        let number = match self.places.get(&at) {
            Some(known) => *known,
            None => {
                let found = self.place(at);
                self.places.insert(at, found);
                found
            }
        };
        // A call in a function with a subprogram must have a place.
        let number = number.unwrap_or_else(|| {
            let kernel = self.kernel;
            self.node(format!("!DILocation(line: 0, scope: !{kernel})"))
        });
        format!(", !dbg !{number}")
    }

    fn place(&mut self, at: LocId) -> Option<usize> {
        let module = self.module;
        let mut around: Option<usize> = None;
        // Outermost first: the kernel itself, then what was inlined into it.
        for place in module.inlined_places(at).into_iter().rev() {
            let (path, line, column) = (module.str(place.file), place.line, place.column);
            let function = place.function.map(|(name, _)| module.str(name));
            let (scope, inlined) = match (around, function) {
                (Some(at), Some(name)) => (
                    self.subprogram(name, path, 0),
                    format!(", inlinedAt: !{at}"),
                ),
                (Some(at), None) => (self.subprogram("", path, 0), format!(", inlinedAt: !{at}")),
                (None, _) => {
                    let (kernel, file) = (self.kernel, self.file(path));
                    let scope = format!(
                        "!DILexicalBlockFile(scope: !{kernel}, file: !{file}, discriminator: 0)"
                    );
                    (self.node(scope), String::new())
                }
            };
            around = Some(self.node(format!(
                "!DILocation(line: {line}, column: {column}, scope: !{scope}{inlined})"
            )));
        }
        around
    }

    /// The nodes, and the lists that name them.
    pub fn text(&self) -> String {
        let Some(unit) = self.unit else {
            return String::new();
        };
        let mut text = format!(
            "!llvm.dbg.cu = !{{!{unit}}}\n!llvm.module.flags = !{{!{}}}\n!{} = !{{i32 2, !\"Debug Info Version\", i32 3}}\n",
            FIRST - 1,
            FIRST - 1
        );
        for (i, node) in self.nodes.iter().enumerate() {
            text.push_str(&format!("!{} = {node}\n", FIRST + i));
        }
        text
    }
}

/// A string of LLVM's language.
fn escaped(text: &str) -> String {
    super::string(text.as_bytes())
}
