//! Accesses to shared memory: what each may see and overwrite.

use super::{Access, Agent, Bytes, Checker, Clock, Epoch, Granule, How, Mark};
use crate::exec::fault::Trap;

impl Checker {
    /// What an access by a warp leaves behind at bytes that are yet to be said.
    #[inline]
    fn epoch_of(&self, a: &Access) -> Epoch {
        Epoch {
            who: (a.warp + 1) as u16,
            bytes: Bytes::default(),
            mark: Mark::new(
                if a.strong { How::Strong } else { How::Generic },
                Some(a.lane),
            ),
            clock: self.warps[a.warp].order.get(a.warp + 1),
        }
    }

    /// A read by a warp.
    #[inline]
    pub fn read(&mut self, a: Access) -> Result<(), Trap> {
        let me = self.epoch_of(&a);
        let order = &self.warps[a.warp].order;
        let shadow = &mut self.shadow[a.cta];
        for (index, bytes) in granules(a.offset, a.size) {
            let granule = &mut shadow[index];
            let write = granule.write;
            if write.who != 0 && write.bytes.all() & bytes != 0 {
                let ordered = if write.who == me.who {
                    // What several lanes wrote alike, this one may have written too.
                    write.clock != me.clock || write.mark.lane().is_none_or(|l| l == a.lane)
                } else {
                    order.get(write.who.into()) >= write.clock
                };
                let both_strong = a.strong && write.mark.how() == How::Strong;
                if !ordered && !both_strong {
                    return Err(self.bad_read(a, write));
                }
            }
            granule.remember_read(me.touching(bytes), order, &mut self.tie);
        }
        Ok(())
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
        if usize::from(write.who) == a.warp + 1 {
            return Trap::new(format!(
                "reads shared memory at {:#x}, which {} has written without bar.warp.sync in between: a data race",
                a.offset,
                lane_name(write)
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
        let order = &self.warps[a.warp].order;
        for (index, bytes) in granules(a.offset, a.size) {
            let granule = self.shadow[a.cta][index];
            for (old, is_read) in [(granule.write, false), (granule.read, true)] {
                let touched = match old.who == me.who {
                    true => old.bytes.at_clock(),
                    false => old.bytes.all(),
                };
                if old.who == 0
                    || touched & bytes == 0
                    || (a.strong && old.mark.how() == How::Strong)
                {
                    continue;
                }
                let ordered = if old.who == me.who {
                    old.clock != me.clock || old.mark.may_be_only(a.lane)
                } else {
                    order.get(old.who.into()) >= old.clock
                };
                let benign = same && !is_read && !self.is_agent(old.who);
                if !benign && !ordered {
                    return Err(self.bad_write(a, old, is_read));
                }
            }
            let mut new = me.touching(bytes);
            if granule.write.who == me.who && granule.write.clock == me.clock {
                new.bytes = new.bytes.with(granule.write.bytes, true);
                let apart = granule.write.bytes.at_clock() & bytes == 0;
                new.mark = me.mark.beside(granule.write.mark, apart);
            }
            self.shadow[a.cta][index].write = new;
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
        if usize::from(old.who) == a.warp + 1 {
            return Trap::new(format!(
                "writes shared memory at {:#x}, which {} {verb} without bar.warp.sync in between: a data race",
                a.offset,
                lane_name(old)
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
                if old.who != 0 && old.who != who && old.bytes.all() & bytes != 0 && unordered {
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
                    bytes: Bytes::now(bytes),
                    mark: Mark::new(how, None),
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
            let view = &self.warps[issuer];
            let granule = &mut self.shadow[cta][index];
            let write = granule.write;
            if write.who != 0 && write.bytes.all() & bytes != 0 {
                if view.order.get(write.who.into()) < write.clock {
                    return Err(self.bad_read(
                        Access {
                            warp: issuer,
                            lane: 0,
                            cta,
                            offset,
                            size,
                            strong: false,
                        },
                        write,
                    ));
                }
                if write.mark.how() != How::AsyncProxy
                    && view.proxy.get(write.who.into()) < write.clock
                {
                    return Err(Trap::new(format!(
                        "an asynchronous operation reads shared memory at {offset:#x} through the async proxy, but {} wrote \
                         it through the generic proxy without a fence.proxy.async since",
                        self.name(write.who.into())
                    )));
                }
            }
            let read = Epoch {
                who,
                bytes: Bytes::now(bytes),
                mark: Mark::new(How::AsyncProxy, None),
                clock: agent.clock,
            };
            granule.remember_read(read, &view.order, &mut self.tie);
        }
        Ok(())
    }
}

impl Granule {
    /// Keeps the later of two ordered reads, and either of two unordered ones: `order` is the new reader's, `tie` a state
    /// of random numbers.
    #[inline]
    fn remember_read(&mut self, mut new: Epoch, order: &Clock, tie: &mut u32) {
        let old = self.read;
        *tie = tie.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if old.who == new.who {
            let same_clock = old.clock == new.clock;
            if same_clock {
                let apart = old.bytes.at_clock() & new.bytes.at_clock() == 0;
                new.mark = new.mark.beside(old.mark, apart);
            }
            new.bytes = new.bytes.with(old.bytes, same_clock);
        } else if old.who != 0 && order.get(old.who.into()) < old.clock && *tie >> 31 != 0 {
            return;
        }
        self.read = new;
    }
}

/// Who of the same warp.
fn lane_name(epoch: Epoch) -> String {
    match epoch.mark.lane() {
        Some(lane) => format!("lane {lane} of the same warp"),
        None => "another lane of the same warp".into(),
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
