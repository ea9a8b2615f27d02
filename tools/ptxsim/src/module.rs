//! A module of PTX text, and its entries.

use crate::decode::{self, Places};
use crate::parse::{self, ParseError, ast};
use crate::program::Program;

type Tree<'a> = ast::Module<'a>;

self_cell::self_cell!(
    /// A text and the syntax tree that borrows from it.
    struct Parsed {
        owner: String,
        #[covariant]
        dependent: Tree,
    }
);

/// A parsed module, ready to launch any of its entries.
pub struct Module(Parsed);

impl Module {
    /// Parses the text.
    pub fn new(text: impl Into<String>) -> Result<Module, ParseError> {
        Parsed::try_new(text.into(), |text| parse::parse(text)).map(Module)
    }

    /// Decodes an entry, or the only one if `name` is `None`.
    pub fn entry(&self, name: Option<&str>) -> Result<Program, ParseError> {
        decode::decode(self.0.borrow_dependent(), name)
    }

    /// Decodes an entry whose variables lie where `places` says, and whose memory the launch is lent.
    pub fn entry_placed(
        &self,
        name: Option<&str>,
        places: &mut dyn Places,
    ) -> Result<Program, ParseError> {
        decode::decode_placed(self.0.borrow_dependent(), name, places)
    }

    /// The architecture of `.target`, such as `sm_90a`.
    pub fn target(&self) -> Option<&str> {
        self.0.borrow_dependent().target.first().copied()
    }

    /// Names of the entries.
    pub fn entries(&self) -> Vec<String> {
        let functions = &self.0.borrow_dependent().functions;
        let entries = functions.iter().filter(|f| f.is_entry && f.body.is_some());
        entries.map(|f| f.name.to_owned()).collect()
    }
}
