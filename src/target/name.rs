//! Parts of a target's name and header.

use std::fmt;
use std::str::FromStr;

/// A PTX ISA version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, serde::Serialize)]
pub struct PtxVersion(pub u8, pub u8);

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl FromStr for PtxVersion {
    type Err = ();

    fn from_str(s: &str) -> Result<Self, ()> {
        let (major, minor) = s.split_once('.').ok_or(())?;
        Ok(Self(
            major.parse().map_err(|_| ())?,
            minor.parse().map_err(|_| ())?,
        ))
    }
}

/// Which instructions beyond the common set a target name promises.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Suffix {
    /// `sm_90`: what every later architecture has too.
    None,
    /// `sm_100f`: what the family has.
    Family,
    /// `sm_90a`: what this architecture alone has.
    Arch,
}
