//! The units of one multiprocessor, and until when each is taken.

use crate::clock::cost::{CYCLE, PARTS, Tick};
use crate::clock::gpu::Gpu;
use crate::clock::memory::{Load, Memory};
use crate::clock::weight::Pipe;
use std::collections::VecDeque;

/// One of four parts: a scheduler with its pipelines.
#[derive(Debug, Default, Clone)]
pub struct Part {
    pub scheduler: Tick,
    pub tensor: Tick,
    /// when the products of warpgroups that were issued last are done, the oldest first
    products: VecDeque<Tick>,
    pipes: [Tick; 5],
}

impl Part {
    /// When the tensor core's queue has room for a further product of a warpgroup.
    pub fn room(&self, queue: usize) -> Tick {
        let ahead = self.products.len().checked_sub(queue);
        ahead
            .and_then(|i| self.products.get(i))
            .copied()
            .unwrap_or(0)
    }

    /// A product of a warpgroup is queued, which keeps the tensor core until then.
    pub fn queued(&mut self, until: Tick, queue: usize) {
        self.products.push_back(until);
        if self.products.len() > queue {
            self.products.pop_front();
        }
    }

    /// True while the tensor core works for a warpgroup: it reads and writes registers beside the other pipelines.
    pub fn multiplies(&self, now: Tick) -> bool {
        self.products.back().is_some_and(|&until| until > now)
    }
}

/// A multiprocessor.
#[derive(Debug)]
pub struct Sm {
    pub parts: [Part; PARTS],
    /// where addresses of loads and stores are handled
    pub addresses: Tick,
    /// the data path of shared memory and L1, but for operands of WGMMA and copies, which are served beside it
    pub data: Tick,
    /// the tensor cores together, for tcgen05
    pub tensor: Tick,
    /// ticks of the data path
    pub shared_busy: Tick,
    /// ticks of the four tensor cores, added
    pub tensor_busy: Tick,
    pub memory: Memory,
}

/// How much work memory's queue takes before it stops the schedulers.
const QUEUE: Tick = 64 * CYCLE;

impl Sm {
    pub fn new(gpu: &Gpu, load: &Load) -> Sm {
        Sm {
            parts: Default::default(),
            addresses: 0,
            data: 0,
            tensor: 0,
            shared_busy: 0,
            tensor_busy: 0,
            memory: Memory::new(gpu, load),
        }
    }

    /// The pipelines that kinds of instructions share, within a part.
    fn lane(pipe: Pipe) -> Option<usize> {
        match pipe {
            Pipe::Fma | Pipe::FmaPair | Pipe::Half | Pipe::Multiply => Some(0),
            Pipe::Alu | Pipe::Convert | Pipe::Vote => Some(1),
            Pipe::Special | Pipe::ConvertWide | Pipe::Count => Some(2),
            Pipe::Double => Some(3),
            Pipe::TensorMemory => Some(4),
            Pipe::Free | Pipe::Control | Pipe::Shuffle | Pipe::Memory | Pipe::Tensor => None,
        }
    }

    /// When a pipeline can take an instruction of a part.
    pub fn free(&self, part: usize, pipe: Pipe) -> Tick {
        match pipe {
            Pipe::Memory | Pipe::Shuffle => self.addresses.max(self.data).saturating_sub(QUEUE),
            Pipe::Tensor => self.parts[part].tensor,
            _ => Self::lane(pipe).map_or(0, |lane| self.parts[part].pipes[lane]),
        }
    }

    /// Takes it; when the instruction really starts.
    pub fn take(&mut self, part: usize, pipe: Pipe, now: Tick, busy: Tick) -> Tick {
        let taken = match pipe {
            Pipe::Memory | Pipe::Shuffle => &mut self.addresses,
            Pipe::Tensor => {
                self.tensor_busy += busy;
                &mut self.parts[part].tensor
            }
            _ => match Self::lane(pipe) {
                Some(lane) => &mut self.parts[part].pipes[lane],
                None => return now,
            },
        };
        let start = (*taken).max(now);
        *taken = start + busy;
        start
    }

    /// Takes shared memory's data path; when it is done.
    pub fn move_data(&mut self, now: Tick, ticks: Tick) -> Tick {
        self.shared_busy += ticks;
        self.data = self.data.max(now) + ticks;
        self.data
    }
}
