//! Numbers that a rule computes from the pattern's constants, and conditions on these.

use tilec::facts::sign_extend;

/// A number computed from the pattern's constants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Number {
    pub text: String,
    term: Term,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Term {
    /// The signed value of a constant.
    Signed(usize),
    /// The unsigned one.
    Unsigned(usize),
    /// The width of a constant.
    Width(usize),
    Number(i128),
    Apply(Function, Box<[Term]>),
}

/// A function of numbers; nothing where it has no value.
pub type Apply = fn(&[i128]) -> Option<i128>;

#[derive(Clone, Copy, Debug)]
pub struct Function {
    name: &'static str,
    apply: Apply,
}

impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        self.name == other.name
    }
}

impl Eq for Function {}

const fn function(name: &'static str, apply: Apply) -> Function {
    Function { name, apply }
}

const ADD: Function = function("+", |a| a[0].checked_add(a[1]));
const SUB: Function = function("-", |a| match *a {
    [a] => a.checked_neg(),
    [a, b] => a.checked_sub(b),
    _ => None,
});
const NOT: Function = function("~", |a| Some(!a[0]));
const LOG2: Function = function("log2", |a| (a[0] > 0).then(|| a[0].ilog2().into()));
const POW2: Function = function("pow2", |a| {
    let by = u32::try_from(a[0]).ok().filter(|b| *b < 127)?;
    Some(1 << by)
});
const BINARY: [Function; 9] = [
    ADD,
    SUB,
    function("*", |a| a[0].checked_mul(a[1])),
    function("&", |a| Some(a[0] & a[1])),
    function("|", |a| Some(a[0] | a[1])),
    function("^", |a| Some(a[0] ^ a[1])),
    function("min", |a| Some(a[0].min(a[1]))),
    function("max", |a| Some(a[0].max(a[1]))),
    function("<<", |a| {
        let by = u32::try_from(a[1]).ok().filter(|b| *b < 64)?;
        a[0].checked_mul(1 << by)
    }),
];

impl Term {
    pub fn value(&self, constants: &[(u64, u32)]) -> Option<i128> {
        match self {
            Term::Signed(i) => constants
                .get(*i)
                .map(|&(bits, width)| sign_extend(bits, width).into()),
            Term::Unsigned(i) => constants.get(*i).map(|&(bits, _)| bits.into()),
            Term::Width(i) => constants.get(*i).map(|&(_, width)| width.into()),
            Term::Number(number) => Some(*number),
            Term::Apply(function, args) => {
                let args: Option<Vec<i128>> = args.iter().map(|a| a.value(constants)).collect();
                (function.apply)(&args?)
            }
        }
    }

    pub fn text(&self) -> String {
        match self {
            Term::Signed(i) => format!("?{}", name(*i)),
            Term::Unsigned(i) => format!("(u ?{})", name(*i)),
            Term::Width(i) => format!("(width ?{})", name(*i)),
            Term::Number(number) => number.to_string(),
            Term::Apply(function, args) => {
                let args: Vec<String> = args.iter().map(Term::text).collect();
                format!("({} {})", function.name, args.join(" "))
            }
        }
    }

    pub fn number(self) -> Number {
        Number {
            text: self.text(),
            term: self,
        }
    }
}

/// The name of a constant of the pattern.
pub fn name(i: usize) -> String {
    ["c", "d", "e", "f"]
        .get(i)
        .map_or_else(|| format!("c{i}"), |n| (*n).to_owned())
}

fn apply(function: Function, args: impl Into<Box<[Term]>>) -> Term {
    Term::Apply(function, args.into())
}

/// The numbers that a constant of a replacement may be, simple ones first.
pub fn numbers(constants: usize) -> Vec<Term> {
    let mut list = Vec::new();
    for i in 0..constants {
        let (s, u) = (Term::Signed(i), Term::Unsigned(i));
        let (width, one) = (Term::Width(i), Term::Number(1));
        list.extend([
            s.clone(),
            apply(SUB, [s.clone()]),
            apply(NOT, [s.clone()]),
            apply(ADD, [s.clone(), one.clone()]),
            apply(SUB, [s.clone(), one.clone()]),
            apply(LOG2, [u.clone()]),
            apply(POW2, [u.clone()]),
            apply(SUB, [apply(POW2, [u.clone()]), one.clone()]),
            apply(SUB, [apply(POW2, [u.clone()])]),
            apply(SUB, [width.clone(), u.clone()]),
            apply(SUB, [apply(POW2, [apply(SUB, [width, u])]), one]),
        ]);
    }
    for i in 0..constants {
        for j in 0..constants {
            if i == j {
                continue;
            }
            for function in BINARY {
                let (a, b) = (Term::Signed(i), Term::Signed(j));
                if function == SUB || function.name == "<<" || i < j {
                    list.push(apply(function, [a, b]));
                }
            }
            if i < j {
                list.push(apply(ADD, [Term::Unsigned(i), Term::Unsigned(j)]));
            }
        }
    }
    list
}

/// A condition on the pattern's constants.
#[derive(Clone, Debug)]
pub struct Condition {
    how: How,
    args: Vec<Term>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    PowerOfTwo,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
}

impl Condition {
    pub fn holds(&self, constants: &[(u64, u32)]) -> bool {
        let args: Option<Vec<i128>> = self.args.iter().map(|a| a.value(constants)).collect();
        match (self.how, args.as_deref()) {
            (How::PowerOfTwo, Some(&[n])) => n > 0 && n & (n - 1) == 0,
            (How::Equal, Some([a, b])) => a == b,
            (How::NotEqual, Some([a, b])) => a != b,
            (How::Less, Some([a, b])) => a < b,
            (How::LessOrEqual, Some([a, b])) => a <= b,
            _ => false,
        }
    }

    pub fn text(&self) -> String {
        let name = match self.how {
            How::PowerOfTwo => "is-pow2",
            How::Equal => "==",
            How::NotEqual => "!=",
            How::Less => "<",
            How::LessOrEqual => "<=",
        };
        let args: Vec<String> = self.args.iter().map(Term::text).collect();
        format!("({name} {})", args.join(" "))
    }
}

/// Conditions that a rule may have, weak ones first.
pub fn conditions(constants: usize) -> Vec<Condition> {
    let condition = |how, args: &[Term]| Condition {
        how,
        args: args.to_vec(),
    };
    let mut list = Vec::new();
    for i in 0..constants {
        let (s, u) = (Term::Signed(i), Term::Unsigned(i));
        let (zero, width) = (Term::Number(0), Term::Width(i));
        list.extend([
            condition(How::NotEqual, &[s.clone(), zero.clone()]),
            condition(How::LessOrEqual, &[zero.clone(), s.clone()]),
            condition(How::Less, &[zero.clone(), s.clone()]),
            condition(How::Less, &[s.clone(), zero.clone()]),
            condition(How::Less, &[u.clone(), width]),
            condition(How::PowerOfTwo, std::slice::from_ref(&u)),
            condition(How::PowerOfTwo, &[apply(ADD, [u.clone(), Term::Number(1)])]),
        ]);
    }
    for i in 0..constants {
        for j in 0..constants {
            if i == j {
                continue;
            }
            let (a, b) = (Term::Signed(i), Term::Signed(j));
            let (v, w) = (Term::Unsigned(i), Term::Unsigned(j));
            let width = Term::Width(i);
            list.push(condition(How::Less, &[a.clone(), b.clone()]));
            list.push(condition(How::LessOrEqual, &[a.clone(), b.clone()]));
            list.push(condition(
                How::Equal,
                &[apply(BINARY[3], [a.clone(), b.clone()]), a.clone()],
            ));
            list.push(condition(
                How::LessOrEqual,
                &[apply(POW2, [v.clone()]), w.clone()],
            ));
            list.push(condition(How::Less, &[w.clone(), apply(POW2, [v.clone()])]));
            if i < j {
                let sum = apply(ADD, [v, w]);
                list.push(condition(How::NotEqual, &[a.clone(), b.clone()]));
                list.push(condition(How::Less, &[sum.clone(), width.clone()]));
                list.push(condition(How::LessOrEqual, &[width.clone(), sum.clone()]));
                list.push(condition(How::Equal, &[sum, width]));
                list.push(condition(
                    How::Equal,
                    &[apply(BINARY[3], [a.clone(), b.clone()]), Term::Number(0)],
                ));
                list.push(condition(How::Equal, &[a, b]));
            }
        }
    }
    list
}
