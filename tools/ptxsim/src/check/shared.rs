//! Accesses to shared memory: what each may see and overwrite.

use super::{Access, Agent, Checker, Epoch, Granule, How};
use crate::exec::fault::Trap;

impl Checker {
    /// What an access by a warp leaves behind.
    #[inline]
    fn epoch_of(&self, a: &Access) -> Epoch {
        Epoch {
            who: (a.warp + 1) as u16,
            bytes: 15,
            how: if a.strong { How::Strong } else { How::Generic },
            clock: self.warps[a.warp].order.get(a.warp + 1),
        }
    }

    /// A read by a warp.
    #[inline]
    pub fn read(&mut self, a: Access) -> Result<(), Trap> {
        let me = self.epoch_of(&a);
        for (index, bytes) in granules(a.offset, a.size) {
            let granule = self.shadow[a.cta][index];
            let write = granule.write;
            if write.who != 0 && write.who != me.who && write.bytes & bytes != 0 {
                let ordered = self.warps[a.warp].order.get(write.who.into()) >= write.clock;
                let both_strong = a.strong && write.how == How::Strong;
                if !ordered && !both_strong {
                    return Err(self.bad_read(a, write));
                }
            }
            self.remember_read(a.cta, index, Epoch { bytes, ..me }, a.warp);
        }
        Ok(())
    }

    /// Keeps the later of two ordered reads, and either of two unordered ones.
    fn remember_read(&mut self, cta: usize, index: usize, epoch: Epoch, warp: usize) {
        let old = self.shadow[cta][index].read;
        let ordered = old.who == 0
            || old.who == epoch.who
            || self.warps[warp].order.get(old.who.into()) >= old.clock;
        self.tie = self.tie.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if ordered || self.tie >> 31 == 0 {
            let bytes = if old.who == epoch.who {
                old.bytes | epoch.bytes
            } else {
                epoch.bytes
            };
            self.shadow[cta][index].read = Epoch { bytes, ..epoch };
        }
    }

    fn bad_read(&self, a: Access, write: Epoch) -> Trap {
        let who = self.name(write.who.into());
        if self.is_agent(write.who) {
            return Trap::new(format!(
                "reads shared memory at {:#x}, which {who} writes and nobody here has waited for; wait for its group or \
                 mbarrier phase first",
                a.offset
            ));
        }
        Trap::new(format!(
            "reads shared memory at {:#x}, which {who} has written without a barrier in between: a data race",
            a.offset
        ))
    }

    /// A write by a warp; `same` if it does not change the contents, which another write may then race with.
    #[inline]
    pub fn write(&mut self, a: Access, same: bool) -> Result<(), Trap> {
        let me = self.epoch_of(&a);
        for (index, bytes) in granules(a.offset, a.size) {
            let granule = self.shadow[a.cta][index];
            for (old, is_read) in [(granule.write, false), (granule.read, true)] {
                if old.who == 0
                    || old.who == me.who
                    || old.bytes & bytes == 0
                    || (a.strong && old.how == How::Strong)
                {
                    continue;
                }
                let benign = same && !is_read && !self.is_agent(old.who);
                if !benign && self.warps[a.warp].order.get(old.who.into()) < old.clock {
                    return Err(self.bad_write(a, old, is_read));
                }
            }
            let entry = &mut self.shadow[a.cta][index];
            let merged = if granule.write.who == me.who && granule.write.clock == me.clock {
                granule.write.bytes
            } else {
                0
            };
            entry.write = Epoch {
                bytes: bytes | merged,
                ..me
            };
        }
        Ok(())
    }

    fn bad_write(&self, a: Access, old: Epoch, is_read: bool) -> Trap {
        let who = self.name(old.who.into());
        let verb = if is_read { "reads" } else { "writes" };
        if self.is_agent(old.who) {
            return Trap::new(format!(
                "overwrites shared memory at {:#x}, which {who} still {verb}; wait for it to finish first",
                a.offset
            ));
        }
        Trap::new(format!(
            "writes shared memory at {:#x}, which {who} {verb} without a barrier in between: a data race",
            a.offset
        ))
    }

    /// An asynchronous operation of `issuer` will write; `async_proxy` is false for `cp.async`.
    pub fn agent_write(
        &mut self,
        agent: Agent,
        issuer: usize,
        cta: usize,
        offset: u64,
        size: u64,
        async_proxy: bool,
    ) -> Result<(), Trap> {
        let who = self.component(agent) as u16;
        let how = if async_proxy {
            How::AsyncProxy
        } else {
            How::Generic
        };
        for (index, bytes) in granules(offset, size) {
            let granule = self.shadow[cta][index];
            for (old, is_read) in [(granule.write, false), (granule.read, true)] {
                let unordered = self.warps[issuer].order.get(old.who.into()) < old.clock;
                if old.who != 0 && old.who != who && old.bytes & bytes != 0 && unordered {
                    let verb = if is_read { "reads" } else { "writes" };
                    return Err(Trap::new(format!(
                        "starts an asynchronous copy into shared memory at {offset:#x}, which {} still {verb}: the buffer \
                         has not been released to this warp",
                        self.name(old.who.into())
                    )));
                }
            }
            self.shadow[cta][index] = Granule {
                write: Epoch {
                    who,
                    bytes,
                    how,
                    clock: agent.clock,
                },
                read: Epoch::default(),
            };
        }
        Ok(())
    }

    /// An asynchronous operation of `issuer` will read through the async proxy.
    pub fn agent_read(
        &mut self,
        agent: Agent,
        issuer: usize,
        cta: usize,
        offset: u64,
        size: u64,
    ) -> Result<(), Trap> {
        let who = self.component(agent) as u16;
        for (index, bytes) in granules(offset, size) {
            let write = self.shadow[cta][index].write;
            if write.who != 0 && write.bytes & bytes != 0 {
                let view = &self.warps[issuer];
                if view.order.get(write.who.into()) < write.clock {
                    return Err(self.bad_read(
                        Access {
                            warp: issuer,
                            cta,
                            offset,
                            size,
                            strong: false,
                        },
                        write,
                    ));
                }
                if write.how != How::AsyncProxy && view.proxy.get(write.who.into()) < write.clock {
                    return Err(Trap::new(format!(
                        "an asynchronous operation reads shared memory at {offset:#x} through the async proxy, but {} wrote \
                         it through the generic proxy without a fence.proxy.async since",
                        self.name(write.who.into())
                    )));
                }
            }
            self.remember_read(
                cta,
                index,
                Epoch {
                    who,
                    bytes,
                    how: How::AsyncProxy,
                    clock: agent.clock,
                },
                issuer,
            );
        }
        Ok(())
    }
}

/// Granules that a range touches, with the bytes of each as four bits.
#[inline]
fn granules(offset: u64, size: u64) -> impl Iterator<Item = (usize, u8)> {
    let (first, last) = (offset / 4, (offset + size - 1) / 4);
    (first..=last).map(move |g| {
        let low = if g == first { offset % 4 } else { 0 };
        let high = if g == last {
            (offset + size - 1) % 4
        } else {
            3
        };
        (g as usize, ((2u8 << high) - 1) & !((1u8 << low) - 1))
    })
}
