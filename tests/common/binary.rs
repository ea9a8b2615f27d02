//! A small encoder of both containers, by the specifications alone: it shares nothing with tilec's
//! reader and writer. A test takes a valid [`File`], damages one part and encodes it.

#![allow(dead_code)] // No single test file uses everything.

/// Which container.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Public,
    Notes,
}

pub const STRING: u8 = 1;
pub const FUNC: u8 = 2;
pub const DEBUG: u8 = 3;
pub const CONSTANT: u8 = 4;
pub const TYPE: u8 = 5;
pub const GLOBAL: u8 = 6;
pub const PRODUCER: u8 = 7;

/// One module, its tables not yet joined to sections.
#[derive(Clone)]
pub struct File {
    pub kind: Kind,
    pub minor: u8,
    /// The header, if it is not that of `minor`.
    pub header: Option<Vec<u8>>,
    pub strings: Vec<Vec<u8>>,
    pub types: Vec<Vec<u8>>,
    pub constants: Vec<Vec<u8>>,
    /// Debug attributes.
    pub debug: Vec<Vec<u8>>,
    /// Records of the global section.
    pub globals: Vec<Vec<u8>>,
    pub function: Function,
    /// Sections to write in place of, or besides, those made from the tables.
    pub payloads: Vec<(u8, Vec<u8>)>,
    /// Sections to leave out.
    pub without: Vec<u8>,
    /// By how much the order of the sections is turned.
    pub rotation: usize,
    /// Done to the bytes at last.
    pub patch: fn(&mut Vec<u8>),
}

/// The one function: fields before its body, and the operations.
#[derive(Clone)]
pub struct Function {
    pub name: u64,
    pub signature: u64,
    pub flags: u8,
    pub location: u64,
    /// After the location: hints and attributes of arguments, as the version has them.
    pub attributes: Vec<u8>,
    pub ops: Vec<Vec<u8>>,
    /// The body, if it is not the operations.
    pub body: Option<Vec<u8>>,
    /// Bytes by which the body's length is overstated.
    pub excess: u64,
}

impl File {
    /// `entry @k() { %0 = constant <i32: 1> : tile<i32>  return }`
    ///
    /// Strings: 0 `k`, 1 `f.py`, 2 `/d`, 3 empty, 4 `sm_90`. Types: 0 i32, 1 f32, 2 tile of i32,
    /// 3 the function, 4 tile of f32, 5 i1, 6 token, 7 tile of four i32, 8 f16.
    pub fn new(kind: Kind, minor: u8) -> Self {
        let mut file = Self {
            kind,
            minor,
            header: None,
            strings: ["k", "f.py", "/d", "", "sm_90"]
                .map(|s| s.as_bytes().to_vec())
                .to_vec(),
            types: Vec::new(),
            constants: Vec::new(),
            debug: Vec::new(),
            globals: Vec::new(),
            function: Function {
                name: 0,
                signature: 3,
                flags: 2,
                location: 0,
                attributes: Vec::new(),
                ops: Vec::new(),
                body: None,
                excess: 0,
            },
            payloads: Vec::new(),
            without: Vec::new(),
            rotation: 0,
            patch: |_| {},
        };
        let four = match kind {
            Kind::Public => [file.vars(&[13, 0, 1]), 4u64.to_le_bytes().to_vec()].concat(),
            Kind::Notes => file.vars(&[13, 0, 1, 8]),
        };
        file.types = [
            &[3][..],
            &[7],
            &[13, 0, 0],
            &[16, 0, 0],
            &[13, 1, 0],
            &[0],
            &[17],
        ]
        .map(|t| file.vars(t))
        .to_vec();
        file.types.extend([four, file.var(5)]);
        match kind {
            Kind::Public => {
                file.constants = vec![vec![4, 1, 0, 0, 0]];
                file.function.ops = vec![file.vars(&[16, 2, 0]), file.vars(&[92, 0, 0])];
                if minor >= 5 {
                    // No hints, no attributes of arguments.
                    file.function.attributes = vec![11, 0, 6, 0];
                }
            }
            Kind::Notes => {
                let value = file.vars(&[4, 0, 0, 1, 2]);
                file.constants = vec![file.dictionary(&[("value", value)])];
                file.function.ops =
                    vec![file.record(16, &[2], &[], 1), file.record(92, &[], &[], 0)];
            }
        }
        file
    }

    /// Attributes of an operation in the notes' container.
    pub fn dictionary(&self, entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut out = self.vars(&[10, entries.len() as u64]);
        for (name, value) in entries {
            out.extend(self.var(name.len() as u64));
            out.extend(name.as_bytes());
            out.extend(value);
        }
        out
    }

    /// An operation of unknown location in the notes' container.
    pub fn record(
        &self,
        opcode: u64,
        results: &[u64],
        operands: &[u64],
        attributes: u64,
    ) -> Vec<u8> {
        let mut out = self.var(opcode);
        out.extend(self.signed(-1));
        out.extend(self.vars(results));
        out.extend(self.var(operands.len() as u64));
        out.extend(self.vars(operands));
        out.extend(self.var(attributes));
        out
    }

    /// The container's variable-length integer.
    pub fn var(&self, value: u64) -> Vec<u8> {
        match self.kind {
            Kind::Public => leb128(value),
            Kind::Notes => prefix(value),
        }
    }

    /// Several of them.
    pub fn vars(&self, values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|&v| self.var(v)).collect()
    }

    /// A zig-zag one.
    pub fn signed(&self, value: i64) -> Vec<u8> {
        self.var((value << 1 ^ value >> 63) as u64)
    }

    pub fn encode(&self) -> Vec<u8> {
        self.encode_with_offsets().0
    }

    /// The bytes, and where each section's payload begins.
    pub fn encode_with_offsets(&self) -> (Vec<u8>, Vec<(u8, usize)>) {
        match self.kind {
            Kind::Public => self.public(),
            Kind::Notes => self.notes(),
        }
    }

    fn sections(&self) -> Vec<(u8, Vec<u8>)> {
        let mut sections = vec![
            (FUNC, self.functions()),
            (CONSTANT, self.table(&self.constants, 8)),
        ];
        if !self.globals.is_empty() {
            let mut payload = self.var(self.globals.len() as u64);
            payload.extend(self.globals.concat());
            sections.push((GLOBAL, payload));
        }
        if !self.debug.is_empty() {
            sections.push((DEBUG, self.debug_section()));
        }
        sections.push((TYPE, self.table(&self.types, 4)));
        sections.push((STRING, self.table(&self.strings, 4)));
        sections.retain(|(id, _)| !self.without.contains(id));
        sections.retain(|(id, _)| self.payloads.iter().all(|(p, _)| p != id));
        sections.extend(self.payloads.clone());
        let turns = self.rotation % sections.len().max(1);
        sections.rotate_left(turns);
        sections
    }

    fn functions(&self) -> Vec<u8> {
        let f = &self.function;
        let mut out = self.vars(&[1, f.name, f.signature]);
        out.push(f.flags);
        out.extend(self.var(f.location));
        out.extend(&f.attributes);
        let body = f.body.clone().unwrap_or_else(|| self.body());
        out.extend(self.var(body.len() as u64 + f.excess));
        out.extend(body);
        out
    }

    fn body(&self) -> Vec<u8> {
        let mut out = match self.kind {
            Kind::Public => Vec::new(),
            // One block, no arguments.
            Kind::Notes => self.vars(&[1, 0, self.function.ops.len() as u64]),
        };
        out.extend(self.function.ops.concat());
        out
    }

    /// Public: the function and each operation have the last attribute. Notes: one slot with it.
    fn debug_section(&self) -> Vec<u8> {
        let last = self.debug.len() as u64;
        let indices = match self.kind {
            Kind::Public => vec![last; self.function.ops.len() + 1],
            Kind::Notes => vec![last - 1],
        };
        let mut out = self.var(1);
        self.pad(&mut out, 4);
        out.extend(0u32.to_le_bytes());
        out.extend(self.var(indices.len() as u64));
        self.pad(&mut out, 8);
        indices.iter().for_each(|i| out.extend(i.to_le_bytes()));
        out.extend(self.var(self.debug.len() as u64));
        self.pad(&mut out, 4);
        self.offsets_and_items(&mut out, &self.debug, 4);
        out
    }

    /// A count, offsets of `width` bytes, the items.
    pub fn table(&self, items: &[Vec<u8>], width: usize) -> Vec<u8> {
        let mut out = self.var(items.len() as u64);
        self.pad(&mut out, width);
        self.offsets_and_items(&mut out, items, width);
        out
    }

    fn offsets_and_items(&self, out: &mut Vec<u8>, items: &[Vec<u8>], width: usize) {
        let mut start = 0u64;
        for item in items {
            out.extend(&start.to_le_bytes()[..width]);
            start += item.len() as u64;
        }
        out.extend(items.concat());
    }

    fn pad(&self, out: &mut Vec<u8>, alignment: usize) {
        let byte = match self.kind {
            Kind::Public => 0xCB,
            Kind::Notes => 0xCF,
        };
        out.resize(out.len().next_multiple_of(alignment), byte);
    }

    fn public(&self) -> (Vec<u8>, Vec<(u8, usize)>) {
        let standard = [b"\x7FTileIR\0".as_slice(), &[13, self.minor, 0, 0]].concat();
        let mut out = self.header.clone().unwrap_or(standard);
        let mut offsets = Vec::new();
        for (id, payload) in self.sections() {
            let alignment = alignment(id);
            out.push(if alignment > 1 { id | 0x80 } else { id });
            out.extend(self.var(payload.len() as u64));
            if alignment > 1 {
                out.extend(self.var(alignment));
                self.pad(&mut out, alignment as usize);
            }
            offsets.push((id, out.len()));
            out.extend(payload);
        }
        out.push(0);
        (self.patch)(&mut out);
        (out, offsets)
    }

    fn notes(&self) -> (Vec<u8>, Vec<(u8, usize)>) {
        let standard = [b"\x06\x03\x80Tile\0".as_slice(), &self.vars(&[13, 1, 0])].concat();
        let mut out = self.header.clone().unwrap_or(standard);
        out.extend(self.vars(&[1, 9]));
        out.extend(b"cuda_tile");
        out.extend(self.var(0));
        let sections = self.sections();
        let descriptors = out.len();
        out.resize(descriptors + 24 * (sections.len() + 1), 0);
        let mut offsets = Vec::new();
        for (id, payload) in &sections {
            out.push(id | 0x80);
            let alignment = alignment(*id) as usize;
            // Always a two-byte length: the payload is padded out of the one-byte range.
            let offset = (out.len() + 3).next_multiple_of(alignment);
            let offset = if offset + payload.len() - out.len() - 2 < 128 {
                offset + 128
            } else {
                offset
            };
            let length = self.var((offset + payload.len() - out.len() - 2) as u64);
            assert_eq!(length.len(), 2, "a section of a test is too long");
            out.extend(length);
            out.extend(self.var(alignment as u64));
            out.resize(offset, 0xCF);
            offsets.push((*id, offset));
            out.extend(payload);
        }
        let end = out.len();
        out.push(0);
        let records = offsets
            .iter()
            .zip(&sections)
            .map(|((id, offset), (_, payload))| {
                descriptor(*id, *offset, payload.len(), alignment(*id) as u32)
            });
        let records: Vec<u8> = records
            .chain([descriptor(0, end, 0, 0)])
            .flatten()
            .collect();
        out[descriptors..descriptors + records.len()].copy_from_slice(&records);
        (self.patch)(&mut out);
        (out, offsets)
    }
}

fn alignment(id: u8) -> u64 {
    match id {
        STRING | TYPE => 4,
        FUNC | DEBUG | CONSTANT => 8,
        _ => 1,
    }
}

/// A section descriptor of the notes' container.
pub fn descriptor(id: u8, offset: usize, length: usize, alignment: u32) -> Vec<u8> {
    let mut out = vec![id, 0, 0, 0];
    out.extend((offset as u64).to_le_bytes());
    out.extend((length as u64).to_le_bytes());
    out.extend(alignment.to_le_bytes());
    out
}

fn leb128(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}

/// One more byte for each low-order 1-bit of the first.
fn prefix(value: u64) -> Vec<u8> {
    let bytes = (1..=8).find(|n| value >> (7 * n) == 0);
    match bytes {
        Some(n) => {
            let marked = u128::from(value) << n | ((1 << (n - 1)) - 1);
            marked.to_le_bytes()[..n].to_vec()
        }
        None => [&[0xFF], value.to_le_bytes().as_slice()].concat(),
    }
}
