//! What the solver was asked in a proof and what it answered, short enough to be kept: a proof that asks the same again
//! need not wait for the answers.

use std::fmt;
use std::iter;
use std::str::FromStr;

use super::answer::Answer;

/// What stands for a proof that asked nothing.
const NOTHING: &str = "no queries";

/// The answers of a proof in which the solver found no values, and a digest of all that it was asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Record {
    answers: Vec<Given>,
    digest: Digest,
}

/// An answer without values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Given {
    Unsatisfiable,
    Unknown,
}

impl Given {
    const ALL: [Given; 2] = [Given::Unsatisfiable, Given::Unknown];

    fn letter(self) -> char {
        match self {
            Given::Unsatisfiable => 'u',
            // It gave up.
            Given::Unknown => 'g',
        }
    }

    fn parse(letter: char) -> Option<Given> {
        Given::ALL
            .into_iter()
            .find(|given| given.letter() == letter)
    }
}

impl From<Given> for Answer {
    fn from(given: Given) -> Answer {
        match given {
            Given::Unsatisfiable => Answer::Unsatisfiable,
            Given::Unknown => Answer::Unknown,
        }
    }
}

impl Record {
    /// With one more query that this version of the solver was sent. Nothing where the answer cannot be kept: values.
    pub(super) fn with(mut self, version: &str, query: &str, answer: &Answer) -> Option<Record> {
        let given = match answer {
            Answer::Unsatisfiable => Given::Unsatisfiable,
            Answer::Unknown => Given::Unknown,
            Answer::Values(_) => return None,
        };
        self.answers.push(given);
        let letter = given.letter().to_string();
        for part in [version, query, &letter] {
            self.digest.add(part);
        }
        Some(self)
    }

    pub(super) fn answers(&self) -> impl Iterator<Item = Answer> + use<> {
        self.answers.clone().into_iter().map(Answer::from)
    }
}

/// Equal answers in a row as their number and a letter, then the digest: `12u1g 00d1…`.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.answers.is_empty() {
            return f.write_str(NOTHING);
        }
        for equal in self.answers.chunk_by(PartialEq::eq) {
            let letter = equal.first().map_or(' ', |given| given.letter());
            write!(f, "{}{letter}", equal.len())?;
        }
        write!(f, " {:032x}", self.digest.0)
    }
}

/// The text has another form.
#[derive(Debug, PartialEq, Eq)]
pub struct NoRecord;

impl FromStr for Record {
    type Err = NoRecord;

    fn from_str(text: &str) -> Result<Record, NoRecord> {
        if text == NOTHING {
            return Ok(Record::default());
        }
        let (runs, digest) = text.split_once(' ').ok_or(NoRecord)?;
        let digest = Digest(u128::from_str_radix(digest, 16).map_err(|_| NoRecord)?);
        let mut answers = Vec::new();
        for run in runs.split_inclusive(|c: char| !c.is_ascii_digit()) {
            let letter = run.chars().next_back().ok_or(NoRecord)?;
            let given = Given::parse(letter).ok_or(NoRecord)?;
            let count = run.strip_suffix(letter).unwrap_or(run);
            let count: u16 = count.parse().map_err(|_| NoRecord)?;
            answers.extend(iter::repeat_n(given, count.into()));
        }
        Ok(Record { answers, digest })
    }
}

/// FNV-1a of 128 bits, of texts and their lengths: the same on every machine and with every release of Rust.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Digest(u128);

impl Default for Digest {
    fn default() -> Self {
        Digest(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Digest {
    /// A text; where it ends is part of it.
    fn add(&mut self, text: &str) {
        self.bytes(&(text.len() as u64).to_le_bytes());
        self.bytes(text.as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0100_0000_0000_0000_0000_013b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(version: &str, queries: &[(&str, Answer)]) -> Record {
        let record = queries
            .iter()
            .try_fold(Record::default(), |record, (query, answer)| {
                record.with(version, query, answer)
            });
        record.expect("no values")
    }

    #[test]
    fn what_is_written_reads_back() {
        let (yes, no) = (Answer::Unsatisfiable, Answer::Unknown);
        let all = [
            ("a", yes.clone()),
            ("b", yes.clone()),
            ("c", no),
            ("d", yes),
        ];
        for count in 0..=all.len() {
            let record = asked("1", &all[..count]);
            assert_eq!(record.to_string().parse(), Ok(record));
        }
        assert!(asked("1", &all).to_string().starts_with("2u1g1u "));
        for wrong in [
            "",
            "2u",
            "u 00",
            "2x 00",
            "2 00",
            "99999u 00",
            "2u1 00",
            "2u x",
        ] {
            assert_eq!(wrong.parse::<Record>(), Err(NoRecord), "{wrong}");
        }
    }

    /// The values that FNV's authors give.
    #[test]
    fn the_digest_is_fnv() {
        for (text, hash) in [
            ("a", 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964),
            ("foobar", 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18),
        ] {
            let mut digest = Digest::default();
            digest.bytes(text.as_bytes());
            assert_eq!(digest.0, hash, "{text}");
        }
    }

    #[test]
    fn any_change_is_another_record() {
        let (yes, no) = (Answer::Unsatisfiable, Answer::Unknown);
        let digest =
            |version, query, answer: &Answer| asked(version, &[(query, answer.clone())]).digest.0;
        let one = digest("1", "query", &yes);
        assert_ne!(one, digest("2", "query", &yes));
        assert_ne!(one, digest("1", "quarry", &yes));
        assert_ne!(one, digest("1", "query", &no));
        assert_ne!(one, digest("1q", "uery", &yes));
    }
}
