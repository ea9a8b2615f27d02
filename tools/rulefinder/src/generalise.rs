//! Constants of an equation as variables: which of them may be any number, under which condition, and how the
//! constants of the replacement follow from them.

use tilec::facts::semantics::Scalar;
use tilec::facts::truncate;
use tilec::rules::Random;

use crate::equation::Equation;
use crate::numbers::{Condition, Number, Term, conditions, numbers};
use crate::tree::Tree;
use crate::vectors::{Variable, corners, vectors};

/// What a constant of an equation is in a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Written {
    /// That number.
    Literal,
    /// A variable of the pattern, by number.
    Named(usize),
    Computed(Number),
}

/// An equation as a rule: its constants, and for which types it is.
#[derive(Clone, Debug)]
pub struct General {
    pub equation: Equation,
    /// The constants of the pattern, then those of the replacement, in order of appearance.
    pub lhs: Vec<Written>,
    pub rhs: Vec<Written>,
    pub conditions: Vec<String>,
    /// Other types that variables of the equation's only integer type may have.
    pub types: Vec<Scalar>,
}

/// Constants that are tried for a rule, at most and at least.
const TRIED: (usize, usize) = (3000, 24);
/// Constants that are enough where all are drawn.
const FEW: usize = 3;
/// Vectors on which each is tried.
const VECTORS: usize = 96;

/// The rules that an equation is an instance of, as far as tests tell: the most general ones first, the equation
/// itself last.
pub fn generalisations(equation: &Equation, extra: &[Vec<u64>], most: usize) -> Vec<General> {
    let (lhs, rhs) = (equation.lhs.constants(), equation.rhs.constants());
    let mut found = Vec::new();
    let free: Vec<usize> = (0..lhs.len()).filter(|&i| is_free(lhs[i].1)).collect();
    let mut sets: Vec<u32> = (1..1u32 << free.len().min(3)).collect();
    sets.sort_by_key(|s| std::cmp::Reverse(s.count_ones()));
    for set in sets {
        let named: Vec<usize> = (0..free.len())
            .filter(|&b| set >> b & 1 == 1)
            .map(|b| free[b])
            .collect();
        let general = Attempt {
            equation,
            named: &named,
            lhs: &lhs,
            rhs: &rhs,
            extra,
        };
        found.extend(general.run());
        if found.len() >= most {
            break;
        }
    }
    let plain = General {
        equation: equation.clone(),
        lhs: vec![Written::Literal; lhs.len()],
        rhs: vec![Written::Literal; rhs.len()],
        conditions: Vec::new(),
        types: Vec::new(),
    };
    found.push(General {
        types: other_types(equation, extra),
        ..plain
    });
    found
}

/// Whether a constant may be another number: truth values have two.
fn is_free(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::Int(width) if width > 1)
}

/// The other integer types that an equation of one integer type is true for.
fn other_types(equation: &Equation, extra: &[Vec<u64>]) -> Vec<Scalar> {
    let mut scalars: Vec<u32> = Vec::new();
    let mut note = |scalar: Scalar| match scalar {
        Scalar::Int(1) => true,
        Scalar::Int(width) => {
            scalars.push(width);
            true
        }
        _ => false,
    };
    if !equation.variables.iter().all(|v| note(v.scalar)) || !note(equation.lhs.scalar()) {
        return Vec::new();
    }
    scalars.dedup();
    let [only] = scalars[..] else {
        return Vec::new();
    };
    let widths = [8, 16, 32, 64].into_iter().filter(|w| *w != only);
    let holds = |width: &u32| {
        let to = |scalar| match scalar {
            Scalar::Int(w) if w == only => Scalar::Int(*width),
            other => other,
        };
        let sides = equation.lhs.retyped(&to).zip(equation.rhs.retyped(&to));
        let Some((lhs, rhs)) = sides else {
            return false;
        };
        let variable = |v: &Variable| Variable::new(&v.name, to(v.scalar), v.nonneg);
        let other = Equation {
            variables: equation.variables.iter().map(variable).collect(),
            lhs,
            rhs,
        };
        // Variables of the same types only: an operation that states a type is of one width.
        let states =
            |tree: &Tree| matches!(tree, Tree::Op(operation, _) if operation.states_type());
        !states(&other.lhs)
            && vectors(&other.variables, 96, extra)
                .iter()
                .all(|v| other.holds_for(v))
    };
    widths.filter(holds).map(Scalar::Int).collect()
}

/// A choice of constants that become variables.
struct Attempt<'a> {
    equation: &'a Equation,
    /// Which constants of the pattern.
    named: &'a [usize],
    lhs: &'a [(u64, Scalar)],
    rhs: &'a [(u64, Scalar)],
    extra: &'a [Vec<u64>],
}

impl Attempt<'_> {
    fn run(&self) -> Option<General> {
        let here: Vec<(u64, u32)> = self
            .named
            .iter()
            .map(|&i| (self.lhs[i].0, self.lhs[i].1.bits()))
            .collect();
        let numbers = numbers(here.len());
        // What each constant of the replacement may be: itself, or a number that is it here.
        let choices: Vec<Vec<Option<&Term>>> = self
            .rhs
            .iter()
            .map(|&(bits, scalar)| {
                let is = |t: &&Term| {
                    is_free(scalar)
                        && t.value(&here).and_then(|n| fits(n, scalar.bits())) == Some(bits)
                };
                let same = numbers.iter().filter(is).map(Some).take(12);
                same.chain([None]).collect()
            })
            .collect();
        let conditions = conditions(here.len());
        let here_hold: Vec<&Condition> = conditions.iter().filter(|c| c.holds(&here)).collect();
        let mut sets: Vec<Vec<&Condition>> = vec![Vec::new()];
        sets.extend(here_hold.iter().map(|c| vec![*c]));
        for (i, a) in here_hold.iter().enumerate() {
            sets.extend(here_hold[i + 1..].iter().map(|b| vec![*a, *b]));
        }
        let vectors = vectors(&self.equation.variables, VECTORS, self.extra);
        let draws = self.draws(&here);
        for set in &sets {
            let admitted: Vec<&Vec<u64>> = draws
                .iter()
                .filter(|draw| {
                    let constants: Vec<(u64, u32)> = draw
                        .iter()
                        .zip(&here)
                        .map(|(&bits, &(_, width))| (bits, width))
                        .collect();
                    set.iter().all(|c| c.holds(&constants))
                })
                .take(60)
                .collect();
            let least = if self.is_all(&here) { FEW } else { TRIED.1 };
            if admitted.len() < least {
                continue;
            }
            for choice in all(&choices) {
                if self.holds(&choice, &here, &admitted, &vectors) {
                    return Some(self.general(&choice, set));
                }
            }
        }
        None
    }

    /// Whether the constants are of so few bits that all are drawn.
    fn is_all(&self, here: &[(u64, u32)]) -> bool {
        here.iter().map(|h| h.1).sum::<u32>() <= 8
    }

    /// Values of the constants: corners, small numbers, powers of two and their neighbours, and random ones.
    fn draws(&self, here: &[(u64, u32)]) -> Vec<Vec<u64>> {
        let mut random = Random::seeded(
            here.iter()
                .map(|h| h.0)
                .fold(7, |a, b| a * 31 % 1_000_003 + b % 1_000_003),
        );
        let one = |random: &mut Random, width: u32, before: &[u64]| {
            let bits = match random.below(8) {
                0 => random.pick(&corners(Scalar::Int(width))),
                1 | 2 => random.below(width as usize + 1) as u64,
                3 => 1 << random.below(width as usize),
                4 => (1u64 << random.below(width as usize)).wrapping_sub(1),
                5 => before.first().copied().unwrap_or(5),
                6 => u64::from(width).wrapping_sub(before.first().copied().unwrap_or(3)),
                _ => random.value(Scalar::Int(width)),
            };
            truncate(bits, width)
        };
        let mut draws = Vec::new();
        for _ in 0..TRIED.0 {
            let mut draw = Vec::new();
            for &(_, width) in here {
                let bits = one(&mut random, width, &draw);
                draw.push(bits);
            }
            draws.push(draw);
        }
        draws.sort_unstable();
        draws.dedup();
        // Sorted, the small ones would be tried first.
        draws.sort_by_key(|d| {
            d.iter()
                .fold(0u64, |h, &b| (h ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        });
        draws
    }

    fn holds(
        &self,
        choice: &[Option<&Term>],
        here: &[(u64, u32)],
        draws: &[&Vec<u64>],
        vectors: &[Vec<u64>],
    ) -> bool {
        let mut tried = 0;
        for draw in draws {
            let constants: Vec<(u64, u32)> = draw
                .iter()
                .zip(here)
                .map(|(&bits, &(_, width))| (bits, width))
                .collect();
            let computed = |(term, &(bits, scalar)): (&Option<&Term>, &(u64, Scalar))| match term {
                Some(term) => fits(term.value(&constants)?, scalar.bits()),
                None => Some(bits),
            };
            let after: Option<Vec<u64>> = choice.iter().zip(self.rhs).map(computed).collect();
            // A number that does not fit: the rule does not apply.
            let Some(after) = after else { continue };
            tried += 1;
            let mut before: Vec<u64> = self.lhs.iter().map(|c| c.0).collect();
            for (&i, &(bits, _)) in self.named.iter().zip(&constants) {
                before[i] = bits;
            }
            let equation = Equation {
                variables: self.equation.variables.clone(),
                lhs: with_constants(&self.equation.lhs, &before),
                rhs: with_constants(&self.equation.rhs, &after),
            };
            if !vectors.iter().all(|v| equation.holds_for(v)) {
                return false;
            }
        }
        tried >= TRIED.1.min(draws.len()) / 2 && tried > 0
    }

    fn general(&self, choice: &[Option<&Term>], set: &[&Condition]) -> General {
        let written = |i: usize| match self.named.iter().position(|&n| n == i) {
            Some(at) => Written::Named(at),
            None => Written::Literal,
        };
        let computed = |term: &Option<&Term>| match term {
            Some(Term::Signed(i)) => Written::Named(*i),
            Some(term) => Written::Computed((*term).clone().number()),
            None => Written::Literal,
        };
        General {
            equation: self.equation.clone(),
            lhs: (0..self.lhs.len()).map(written).collect(),
            rhs: choice.iter().map(computed).collect(),
            conditions: set.iter().map(|c| c.text()).collect(),
            types: Vec::new(),
        }
    }
}

/// The bits of a number in so many, if it fits them signed or unsigned.
fn fits(number: i128, bits: u32) -> Option<u64> {
    tilec::egraph::literal::int_bits(number, bits)
}

/// The tree with other constants, in order of appearance.
fn with_constants(tree: &Tree, constants: &[u64]) -> Tree {
    let mut next = constants.iter();
    tree.map(&mut |leaf| match leaf {
        Tree::Constant(bits, scalar) => {
            Tree::Constant(next.next().copied().unwrap_or(*bits), *scalar)
        }
        other => other.clone(),
    })
}

/// All ways to pick one of each list.
fn all<'t>(choices: &[Vec<Option<&'t Term>>]) -> Vec<Vec<Option<&'t Term>>> {
    choices.iter().fold(vec![Vec::new()], |all, list| {
        all.iter()
            .flat_map(|head| {
                list.iter()
                    .map(move |last| [head.clone(), vec![*last]].concat())
            })
            .collect()
    })
}
