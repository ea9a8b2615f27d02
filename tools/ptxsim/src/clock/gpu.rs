//! The figures of a GPU, from `gpus.json`, which has the source of each.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

const TABLE: &str = include_str!("../../gpus.json");

/// Multiply-adds a clock of a multiprocessor by element type, `A>C` where the accumulator matters.
type Rates = Vec<(String, f64)>;

/// A GPU.
#[derive(Debug, Clone)]
pub struct Gpu {
    /// as in the table
    pub name: String,
    figures: Map<String, Value>,
    tensor: Rates,
}

/// What is wrong with a name, or with the table.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct UnknownGpu(String);

fn broken() -> UnknownGpu {
    UnknownGpu("the table of GPUs is damaged".into())
}

fn table() -> Result<Value, UnknownGpu> {
    serde_json::from_str(TABLE).map_err(|_| broken())
}

impl Gpu {
    /// The GPU of this name, without regard to case.
    pub fn named(name: &str) -> Result<Gpu, UnknownGpu> {
        let table = table()?;
        let gpus = table["gpus"].as_object().ok_or_else(broken)?;
        let (name, own) = gpus
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .ok_or_else(|| {
                let known: Vec<&str> = gpus.keys().map(String::as_str).collect();
                UnknownGpu(format!("no GPU `{name}`; there are {}", known.join(", ")))
            })?;
        let capability = own["capability"].as_str().ok_or_else(broken)?;
        let common = table["capabilities"][capability]
            .as_object()
            .ok_or_else(broken)?;
        let mut figures = table["absent"].as_object().ok_or_else(broken)?.clone();
        figures.extend(common.clone());
        figures.extend(own.as_object().ok_or_else(broken)?.clone());
        let tensor = common["tensor"].as_object().ok_or_else(broken)?;
        let tensor = tensor
            .iter()
            .filter_map(|(kind, row)| Some((kind.clone(), row["value"].as_f64()?)))
            .collect();
        Ok(Gpu {
            name: name.clone(),
            figures,
            tensor,
        })
    }

    /// The GPU that stands for a target: the one of its compute capability, or of the next lower that has one.
    pub fn of_target(sm: u32) -> Result<Gpu, UnknownGpu> {
        let table = table()?;
        let targets = table["targets"].as_object().ok_or_else(broken)?.iter();
        let targets = targets.filter_map(|(n, gpu)| Some((n.parse::<u32>().ok()?, gpu.as_str()?)));
        let targets: BTreeMap<u32, &str> = targets.collect();
        let known = targets.range(..=sm).next_back();
        let (_, name) = known.or(targets.iter().next()).ok_or_else(broken)?;
        Gpu::named(name)
    }

    /// A figure. Asking for one that the table lacks is a mistake of this crate, which a test rules out.
    pub fn get(&self, figure: &str) -> f64 {
        self.figures
            .get(figure)
            .and_then(|row| row["value"].as_f64())
            .unwrap_or(f64::NAN)
    }

    /// Multiply-adds a clock of a multiprocessor for an element type (`f16`) or that and an accumulator (`f16>f32`).
    pub fn multiply_adds(&self, kind: &str) -> Option<f64> {
        let find = |k: &str| self.tensor.iter().find(|(known, _)| known == k);
        let plain = kind.split('>').next().unwrap_or(kind);
        find(kind).or_else(|| find(plain)).map(|(_, rate)| *rate)
    }

    /// Bytes a clock that one of `active` multiprocessors gets from L2 while all ask.
    pub fn l2_share(&self, active: f64) -> f64 {
        let all = self.get("l2_bytes_per_clock") / active.max(1.0);
        all.min(self.get("l2_bytes_per_clock_sm"))
    }

    /// The same of device memory at a clock of `mhz`.
    pub fn dram_share(&self, active: f64, mhz: f64) -> f64 {
        let all = self.get("dram_gbs") * self.get("dram_share") * 1e3 / mhz / active.max(1.0);
        all.min(self.get("l2_bytes_per_clock_sm"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Data sheets: 312, 165.2, 989.4 and 2250 · 10^12 operations a second.
    #[test]
    fn tensor_peaks() {
        for (name, kind, published) in [
            ("A100", "f16>f32", 312.0),
            ("rtx-4090", "f16>f32", 165.2),
            ("H100-SXM", "bf16>f32", 989.4),
            ("B200", "f16", 2250.0),
        ] {
            let gpu = Gpu::named(name).unwrap();
            let rate = gpu.multiply_adds(kind).unwrap();
            let peak = 2.0 * rate * gpu.get("sms") * gpu.get("peak_mhz") / 1e6;
            assert!((peak / published - 1.0).abs() < 0.005, "{name}: {peak}");
        }
    }

    #[test]
    fn targets_have_one() {
        for (sm, name) in [
            (75, "T4"),
            (86, "RTX-4090"),
            (90, "H100-SXM"),
            (103, "B200"),
            (121, "RTX-5090"),
        ] {
            assert_eq!(Gpu::of_target(sm).unwrap().name, name);
        }
        let said = Gpu::named("H1000").unwrap_err().to_string();
        assert!(
            said.contains("no GPU `H1000`") && said.contains("H100-SXM"),
            "{said}"
        );
    }
}
