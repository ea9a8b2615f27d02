//! Images on their way to the real driver: Tile IR is compiled, manifests are read.

use super::{ALWAYS, GPU, real};
use crate::image::{self, Source, Tile};
use crate::settings::say;
use crate::status::{Result, Status};
use ptxsim::manifest::Manifest;
use std::borrow::Cow;
use std::sync::Arc;
use tilec::target::Target;

/// The oldest driver that compiles Tile IR itself.
const COMPILES_TILE_IR: i32 = 13010;

/// What the driver is given in an image's place.
pub struct Prepared<'a> {
    /// the image, or PTX that ends with NUL
    pub image: Cow<'a, [u8]>,
    /// how its kernels are launched, if they are tilec's
    pub manifest: Option<Arc<Manifest>>,
    /// the target that it was compiled for, if it was compiled here
    pub target: Option<Target>,
}

/// The newest target that a GPU runs.
fn target_of(device: i32) -> Result<Target> {
    let ask = |attribute| -> Result<i32> {
        let mut value = 0;
        // SAFETY: a place to write to.
        unsafe { real::cuDeviceGetAttribute(&mut value, attribute, device)? };
        Ok(value)
    };
    let sm = ask(75)? * 10 + ask(76)?;
    // Machine code and features of exactly this architecture, where there are such.
    let names = [format!("sm_{sm}a"), format!("sm_{sm}")];
    let known = names.iter().find_map(|n| n.parse().ok());
    known.ok_or_else(|| {
        say(format_args!(
            "tilec has no target for a GPU of compute capability {sm}"
        ));
        Status::NO_BINARY_FOR_GPU
    })
}

fn target() -> Result<Target> {
    if let Some(name) = std::env::var(GPU).ok().filter(|n| !n.is_empty()) {
        return name.parse().map_err(|e| {
            say(format_args!("{GPU}={name}: {e}"));
            Status::INVALID_VALUE
        });
    }
    let mut device = 0;
    // SAFETY: a place to write to. Without a current context, the first device stands for all.
    if unsafe { real::cuCtxGetDevice(&mut device) }.is_err() {
        device = 0;
    }
    target_of(device)
}

/// Whether the driver cannot make machine code of Tile IR for this GPU itself, or is not to.
fn ours(target: Target) -> bool {
    let mut version = 0;
    // SAFETY: a place to write to.
    let known = unsafe { real::cuDriverGetVersion(&mut version) };
    let always = std::env::var_os(ALWAYS).is_some_and(|v| v != "0");
    always || known.is_err() || version < COMPILES_TILE_IR || target.sm < 80
}

/// Looks into an image.
pub fn prepare(image: &[u8]) -> Result<Prepared<'_>> {
    let unchanged = |manifest| Prepared {
        image: Cow::Borrowed(image),
        manifest,
        target: None,
    };
    let tile = match image::packed(image) {
        Some(Source::Ptx(text)) => return from_ptx(text),
        Some(Source::Tile(bytes)) => Tile::Alone(bytes),
        None => image::tile(image),
    };
    let tile = match tile {
        // The driver knows what is no image.
        Tile::None => return Ok(unchanged(manifest(image))),
        Tile::Beside(tile) => {
            let manifest = manifest(image);
            if manifest.is_some() || !ours(target()?) {
                return Ok(unchanged(manifest));
            }
            tile
        }
        Tile::Alone(tile) => tile,
    };
    let target = target()?;
    let failed = |(status, why)| {
        say(format_args!("{why}"));
        status
    };
    let (ptx, json) = image::from_tile(&tile, target).map_err(failed)?;
    let manifest = image::read_manifest(&json).map_err(failed)?;
    let mut text = ptx.into_bytes();
    text.push(0);
    Ok(Prepared {
        image: Cow::Owned(text),
        manifest: Some(Arc::new(manifest)),
        target: Some(target),
    })
}

/// What tilec's `tileiras` wrote for a driver that takes PTX and knows manifests.
fn from_ptx(text: String) -> Result<Prepared<'static>> {
    let manifest = manifest(text.as_bytes());
    let mut text = text.into_bytes();
    text.push(0);
    Ok(Prepared {
        image: Cow::Owned(text),
        manifest,
        target: Some(target()?),
    })
}

/// The manifest in an image of tilec's.
fn manifest(image: &[u8]) -> Option<Arc<Manifest>> {
    let text = match image::open(image).map(|opened| opened.source) {
        Ok(Source::Ptx(text)) => text,
        Ok(Source::Tile(_)) => return None,
        Err(_) => String::new(),
    };
    let json = image::manifest_in(&text).or_else(|| image::manifest_of_cubin(image))?;
    match image::read_manifest(&json) {
        Ok(manifest) => Some(Arc::new(manifest)),
        Err((_, why)) => {
            say(format_args!("{why}"));
            None
        }
    }
}

/// Machine code of PTX that the driver is too old for, by the `ptxas` that is found.
pub fn assemble(prepared: &Prepared<'_>) -> Option<Vec<u8>> {
    let target = prepared.target?;
    let text = std::str::from_utf8(prepared.image.strip_suffix(&[0])?).ok()?;
    let program = tilec::ptxas::find(None).ok()?;
    match tilec::ptxas::assemble(&program, text, target, &[]) {
        Ok(cubin) => Some(cubin),
        Err(why) => {
            say(format_args!("{why}"));
            None
        }
    }
}
