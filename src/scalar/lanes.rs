//! Arrays of patterns at their storage width.

/// Elements of one type: i1, i4 and the 4- and 8-bit types take a byte each, pointers 64 bits. A
/// single element stands for any number of equal ones (a splat).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lanes {
    W8(Vec<u8>),
    W16(Vec<u16>),
    W32(Vec<u32>),
    W64(Vec<u64>),
}

/// A storage word.
pub trait Word: Copy + Default + Send + Sync + 'static {
    const BITS: u32;
    /// The pattern, zero-extended.
    fn bits(self) -> u64;
    /// The low bits of a pattern.
    fn of(bits: u64) -> Self;
    fn lanes(v: Vec<Self>) -> Lanes;
    /// The elements when the array has this width; empty otherwise.
    fn slice(lanes: &Lanes) -> &[Self];
}

macro_rules! words {
    ($($word:ident $variant:ident;)*) => { $(
        impl Word for $word {
            const BITS: u32 = $word::BITS;
            #[inline]
            fn bits(self) -> u64 {
                self as u64
            }
            #[inline]
            fn of(bits: u64) -> Self {
                bits as $word
            }
            fn lanes(v: Vec<Self>) -> Lanes {
                Lanes::$variant(v)
            }
            fn slice(lanes: &Lanes) -> &[Self] {
                match lanes {
                    Lanes::$variant(v) => v,
                    _ => &[],
                }
            }
        }
    )* };
}

words! { u8 W8; u16 W16; u32 W32; u64 W64; }

/// Evaluates an expression with the element vector bound, whatever its width.
#[macro_export]
macro_rules! with_lanes {
    ($lanes:expr, $v:ident => $body:expr) => {
        match $lanes {
            $crate::scalar::Lanes::W8($v) => $body,
            $crate::scalar::Lanes::W16($v) => $body,
            $crate::scalar::Lanes::W32($v) => $body,
            $crate::scalar::Lanes::W64($v) => $body,
        }
    };
}
pub use with_lanes;

/// Evaluates an expression with `$word` naming the storage word of elements of `$bits` bits.
#[macro_export]
macro_rules! with_word {
    ($bits:expr, $word:ident => $body:expr) => {
        match $bits {
            0..=8 => {
                type $word = u8;
                $body
            }
            9..=16 => {
                type $word = u16;
                $body
            }
            17..=32 => {
                type $word = u32;
                $body
            }
            _ => {
                type $word = u64;
                $body
            }
        }
    };
}
pub use with_word;

impl Lanes {
    /// One pattern of an element of `bits` bits, standing for any number.
    pub fn splat(bits: u32, value: u64) -> Self {
        with_word!(bits, W => W::lanes(vec![W::of(value)]))
    }

    /// Patterns of elements of `bits` bits.
    pub fn collect(bits: u32, values: impl Iterator<Item = u64>) -> Self {
        with_word!(bits, W => W::lanes(values.map(W::of).collect()))
    }

    /// `n` zero elements of `bits` bits.
    pub fn zeros(bits: u32, n: usize) -> Self {
        with_word!(bits, W => W::lanes(vec![0; n]))
    }

    /// Number of stored elements: 1 for a splat.
    pub fn len(&self) -> usize {
        with_lanes!(self, v => v.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element `i`; every index of a splat is its one element, an index outside is 0.
    #[inline]
    pub fn get(&self, i: usize) -> u64 {
        with_lanes!(self, v => {
            let i = if v.len() == 1 { 0 } else { i };
            v.get(i).map_or(0, |w| w.bits())
        })
    }

    /// The elements of a splat repeated to `n`; other arrays as they are.
    pub fn expand(&self, n: usize) -> std::borrow::Cow<'_, Lanes> {
        if self.len() == 1 && n != 1 {
            std::borrow::Cow::Owned(with_lanes!(self, v => Word::lanes(vec![v[0]; n])))
        } else {
            std::borrow::Cow::Borrowed(self)
        }
    }

    /// The elements at the given positions.
    pub fn gather(&self, at: impl Iterator<Item = usize>) -> Self {
        if self.len() == 1 {
            return self.clone();
        }
        with_lanes!(self, v => Word::lanes(at.map(|i| v.get(i).copied().unwrap_or_default()).collect()))
    }

    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }
}

/// `f` of each element.
#[inline(always)]
pub fn map1<A: Word, R: Word>(a: &[A], f: impl Fn(A) -> R) -> Lanes {
    R::lanes(a.iter().map(|&x| f(x)).collect())
}

/// `f` of each pair; a single element pairs with every element of the other.
#[inline(always)]
pub fn map2<A: Word, B: Word, R: Word>(a: &[A], b: &[B], f: impl Fn(A, B) -> R) -> Lanes {
    let result = match (a, b) {
        ([x], _) => b.iter().map(|&y| f(*x, y)).collect(),
        (_, [y]) => a.iter().map(|&x| f(x, *y)).collect(),
        _ => a.iter().zip(b).map(|(&x, &y)| f(x, y)).collect(),
    };
    R::lanes(result)
}

/// `f` of each triple, single elements repeated.
#[inline(always)]
pub fn map3<A: Word, B: Word, C: Word, R: Word>(
    a: &[A],
    b: &[B],
    c: &[C],
    f: impl Fn(A, B, C) -> R,
) -> Lanes {
    let n = [a.len(), b.len(), c.len()].into_iter().max().unwrap_or(0);
    let at = |len: usize, i: usize| if len == 1 { 0 } else { i };
    let result = (0..n)
        .map_while(|i| {
            let x = a.get(at(a.len(), i))?;
            let y = b.get(at(b.len(), i))?;
            let z = c.get(at(c.len(), i))?;
            Some(f(*x, *y, *z))
        })
        .collect();
    R::lanes(result)
}
