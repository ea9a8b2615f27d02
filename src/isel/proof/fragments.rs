//! The PTX ISA's figures of fragments of `mma.sync`, as formulas: "groupID" is a lane's number in units of four,
//! "threadID_in_group" the rest.

use std::collections::HashMap;

pub const LANES: u64 = 32;

/// Row and column.
type Place = [u64; 2];
/// Lane, register, and element in the register.
type Held = (u64, u64, u64);

/// Where elements of the operands of an instruction are.
pub struct Fragments {
    rows: u64,
    a: HashMap<Place, Held>,
    b: HashMap<Place, Held>,
}

impl Fragments {
    /// Of an instruction of this shape, with so many elements of A and B in a register.
    pub fn new([rows, columns, k]: [u64; 3], per: u64) -> Fragments {
        let halves = (rows / 8).max(1);
        let registers = |elements: u64| elements / LANES / per;
        let all = |registers: u64| {
            let of_lane = move |lane| (0..registers).map(move |register| (lane, register));
            let registers = (0..LANES).flat_map(of_lane);
            registers.flat_map(move |(lane, register)| (0..per).map(move |e| (lane, register, e)))
        };
        let a = all(registers(rows * k)).map(|(lane, register, element)| {
            let (group, thread) = (lane / 4, lane % 4);
            // Registers change rows first, then go on along K.
            let row = group + 8 * (register % halves);
            let column = register / halves * 4 * per + thread * per + element;
            ([row, column], (lane, register, element))
        });
        let b = all(registers(k * columns)).map(|(lane, register, element)| {
            let (group, thread) = (lane / 4, lane % 4);
            let row = register * 4 * per + thread * per + element;
            ([row, group], (lane, register, element))
        });
        let (a, b) = (a.collect(), b.collect());
        Fragments { rows, a, b }
    }

    pub fn a(&self, place: Place) -> Option<Held> {
        self.a.get(&place).copied()
    }

    pub fn b(&self, place: Place) -> Option<Held> {
        self.b.get(&place).copied()
    }

    /// Lane, number and place of each element of the accumulator.
    pub fn sums(&self) -> impl Iterator<Item = (u64, u64, Place)> + use<> {
        let elements = self.rows / 4;
        let all = (0..LANES).flat_map(move |lane| (0..elements).map(move |i| (lane, i)));
        all.map(|(lane, i)| {
            let (group, thread) = (lane / 4, lane % 4);
            let row = if i < 2 { group } else { group + 8 };
            (lane, i, [row, thread * 2 + (i & 1)])
        })
    }
}
