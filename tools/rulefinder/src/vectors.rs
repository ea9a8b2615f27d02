//! Values that terms are tried on: corner values in many combinations, then random ones.

use tilec::facts::semantics::Scalar;
use tilec::facts::{int_range, truncate};
use tilec::rules::Random;

/// A variable of terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Variable {
    pub name: String,
    pub scalar: Scalar,
    /// Whether its signed value is known not to be negative.
    pub nonneg: bool,
}

impl Variable {
    pub fn new(name: &str, scalar: Scalar, nonneg: bool) -> Variable {
        Variable {
            name: name.to_owned(),
            scalar,
            nonneg,
        }
    }

    /// A value that it may have, made of any bits.
    pub fn admitted(&self, bits: u64) -> u64 {
        match self.scalar {
            Scalar::Int(width) if self.nonneg => truncate(bits, (width - 1).max(1)),
            scalar => crate::operations::canonical(scalar, truncate(bits, scalar.bits())),
        }
    }
}

/// At most so many vectors: a bit each says where a term is not defined.
pub const MOST: usize = 128;

/// `count` vectors of values of the variables, then those of `more` that say all of them.
pub fn vectors(variables: &[Variable], count: usize, more: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let signature: String = variables
        .iter()
        .map(|v| format!("{}{} ", v.scalar, v.nonneg))
        .collect();
    let mut random = Random::named(&signature);
    let mut list: Vec<Vec<u64>> = (more.iter().rev())
        .filter(|values| values.len() == variables.len())
        .take(MOST / 2)
        .cloned()
        .collect();
    list.extend(combinations(variables));
    for row in list.len()..count {
        let value = |variable: &Variable| {
            let corners = corners(variable.scalar);
            let bits = match random.below(3) {
                0 => random.pick(&corners),
                _ => random.value(variable.scalar),
            };
            variable.admitted(bits)
        };
        let mut values: Vec<u64> = variables.iter().map(value).collect();
        // Equal values.
        if row % 7 == 3
            && let [first, second, ..] = variables
            && first.scalar == second.scalar
        {
            values[1] = second.admitted(values[0]);
        }
        list.push(values);
    }
    list.truncate(MOST);
    list
}

/// All combinations of the first corner values, of as many of them as make no more than half of the vectors.
fn combinations(variables: &[Variable]) -> Vec<Vec<u64>> {
    let few = |most: usize| {
        let of = |variable: &Variable| {
            let mut list: Vec<u64> = Vec::new();
            for bits in corners(variable.scalar) {
                let bits = variable.admitted(bits);
                if list.len() < most && !list.contains(&bits) {
                    list.push(bits);
                }
            }
            list
        };
        variables.iter().map(of).collect::<Vec<_>>()
    };
    let count = |lists: &[Vec<u64>]| lists.iter().map(Vec::len).product::<usize>();
    let most = (1..=20)
        .take_while(|&n| count(&few(n)) <= MOST / 2)
        .last()
        .unwrap_or(1);
    few(most).iter().fold(vec![Vec::new()], |all, list| {
        let longer = |head: &Vec<u64>| {
            let head = head.clone();
            list.iter()
                .map(move |&last| [head.clone(), vec![last]].concat())
        };
        all.iter().flat_map(longer).collect()
    })
}

/// Values at which operations do something special.
pub fn corners(scalar: Scalar) -> Vec<u64> {
    match scalar {
        Scalar::Int(width) => {
            let (min, max) = int_range(width);
            let half = 1i64 << (width / 2);
            let list = [
                0,
                1,
                -1,
                2,
                min,
                max,
                3,
                -2,
                7,
                8,
                half,
                half - 1,
                -half,
                0x55,
                100,
                -100,
                i64::from(width),
                i64::from(width) - 1,
                max / 3,
                min + 1,
            ];
            list.iter().map(|&v| truncate(v as u64, width)).collect()
        }
        Scalar::Float(format) => {
            let mut list = vec![
                0,
                format.sign_bit(),
                format.one(),
                format.nan(),
                1,
                format.max_finite(false),
            ];
            list.push(format.one() | format.sign_bit());
            list.push(format.infinity(false, tilec::scalar::Overflow::Ieee));
            list.push(format.infinity(true, tilec::scalar::Overflow::Ieee));
            list
        }
        _ => vec![0, 16],
    }
}
