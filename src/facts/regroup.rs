//! How elements run in what a reshape makes of a tile: extents are merged and split in the order of memory.

use super::axis::{Axes, Axis, at};
use super::{gcd, pow2_part};
use smallvec::SmallVec;

/// The axes of a reshape from `from`, whose axes are `axes`, to `to`. `unit` is what one element more means, and every
/// element is a multiple of `all`.
pub(super) fn reshaped(
    axes: &[Axis],
    from: &[u64],
    to: &[u64],
    unit: u64,
    all: u64,
) -> Option<Axes> {
    let single = |extent: u64| Axis {
        contiguity: 1,
        divisibility: all,
        constancy: pow2_part(extent),
    };
    let mut found: Axes = to.iter().map(|_| single(1)).collect();
    let wide =
        |s: &[u64]| -> SmallVec<[usize; 4]> { (0..s.len()).filter(|&d| s[d] != 1).collect() };
    let (mut left, mut right) = (wide(from), wide(to));
    // From the last extents on: as few of both as have one product.
    while let (Some(&f), Some(&t)) = (left.last(), right.last()) {
        let (mut merged, mut many) = (*axes.get(f)?, from[f]);
        let mut split: SmallVec<[usize; 4]> = SmallVec::from_slice(&[t]);
        let mut wanted = to[t];
        left.pop();
        right.pop();
        while many != wanted {
            if many < wanted {
                let next = left.pop()?;
                merged = before(axes.get(next)?, from[next], &merged, many, unit);
                many = many.checked_mul(from[next])?;
            } else {
                let next = right.pop()?;
                split.push(next);
                wanted = wanted.checked_mul(to[next])?;
            }
        }
        let mut rest = merged;
        for &d in &split {
            let (inner, outer) = parted(&rest, to[d], unit, all);
            found[d] = inner;
            rest = outer;
        }
    }
    (left.is_empty() && right.is_empty()).then_some(found)
}

/// One line of what `inner`, of `extent` elements, becomes behind `outer`, of `many`.
fn before(outer: &Axis, many: u64, inner: &Axis, extent: u64, unit: u64) -> Axis {
    let run = gcd(inner.contiguity, extent);
    let same = gcd(inner.constancy, extent);
    let more = if same == extent {
        gcd(outer.constancy, many)
    } else {
        1
    };
    Axis {
        contiguity: run,
        divisibility: at(inner, run, unit),
        constancy: same * more,
    }
}

/// A line cut into pieces of `extent`: how a piece runs, and how the pieces' elements of one place do.
fn parted(line: &Axis, extent: u64, unit: u64, all: u64) -> (Axis, Axis) {
    let run = gcd(line.contiguity, extent);
    let same = gcd(line.constancy, extent);
    let inner = Axis {
        contiguity: run,
        divisibility: at(line, run, unit),
        constancy: same,
    };
    let outer = Axis {
        contiguity: 1,
        divisibility: all,
        constancy: if same == extent {
            line.constancy / same
        } else {
            1
        },
    };
    (inner, outer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Extents, powers of two, of sixteen elements altogether.
    const SHAPES: [&[u64]; 9] = [
        &[16],
        &[2, 8],
        &[8, 2],
        &[4, 4],
        &[4, 1, 4],
        &[2, 2, 4],
        &[2, 4, 2],
        &[1, 16],
        &[2, 2, 2, 2],
    ];

    fn steps(shape: &[u64]) -> Vec<u64> {
        let after = |d: usize| shape[d + 1..].iter().product();
        (0..shape.len()).map(after).collect()
    }

    /// The longest groups and greatest divisor that hold for `values` along dimension `d`.
    fn axis_of(values: &[u64], shape: &[u64], d: usize) -> Axis {
        let step = steps(shape)[d];
        let at = |i: u64| values[i as usize];
        let place = |i: u64| i / step % shape[d];
        let starts = |n: u64| (0..16u64).filter(move |&i| place(i).is_multiple_of(n));
        let groups =
            |n: u64, by: u64| starts(n).all(|i| (1..n).all(|k| at(i + k * step) == at(i) + k * by));
        let longest = |by: u64| {
            [16, 8, 4, 2, 1]
                .into_iter()
                .find(|&n| n <= shape[d] && groups(n, by))
        };
        let contiguity = longest(1).unwrap_or(1);
        let divisor = starts(contiguity).fold(0, |g, i| gcd(g, at(i)));
        Axis {
            contiguity,
            divisibility: if divisor == 0 {
                1 << 63
            } else {
                pow2_part(divisor)
            },
            constancy: longest(0).unwrap_or(1),
        }
    }

    #[test]
    fn holds_for_numbers() {
        let numbers: [fn(u64) -> u64; 8] = [
            |i| i,
            |i| i / 4 * 8,
            |i| i % 4,
            |i| i % 8 + 32 * (i / 8),
            |i| i / 8,
            |_| 12,
            |i| 4 * i,
            |i| i * i % 7,
        ];
        for number in numbers {
            let values: Vec<u64> = (0..16).map(number).collect();
            let all = values.iter().fold(0, |g, &v| gcd(g, v));
            for from in SHAPES {
                let axes: Vec<Axis> = (0..from.len()).map(|d| axis_of(&values, from, d)).collect();
                for to in SHAPES {
                    let found = reshaped(&axes, from, to, 1, pow2_part(all)).unwrap();
                    for (d, claim) in found.iter().enumerate().filter(|(d, _)| to[*d] > 1) {
                        let best = axis_of(&values, to, d);
                        assert!(
                            best.contiguity >= claim.contiguity,
                            "{values:?} {from:?} {to:?}"
                        );
                        assert!(
                            best.constancy >= claim.constancy,
                            "{values:?} {from:?} {to:?}"
                        );
                        let starts = (0..16u64).filter(|i| {
                            (i / steps(to)[d] % to[d]).is_multiple_of(claim.contiguity)
                        });
                        let multiple = |i: u64| {
                            values[i as usize].is_multiple_of(claim.divisibility.min(1 << 40))
                        };
                        assert!(
                            starts.into_iter().all(multiple),
                            "{values:?} {from:?} {to:?}"
                        );
                    }
                }
            }
        }
    }

    /// Rows of 64 in one line, as kernels write `row * pitch + column`.
    #[test]
    fn a_line_of_rows() {
        let row = Axis {
            contiguity: 1,
            divisibility: 1,
            constancy: 64,
        };
        let rows = Axis {
            contiguity: 8,
            divisibility: 1 << 63,
            constancy: 1,
        };
        let found = reshaped(&[rows, row], &[8, 64], &[512], 1, 1).unwrap();
        assert_eq!(found[0].constancy, 64);
        let column = Axis {
            contiguity: 64,
            divisibility: 1 << 63,
            constancy: 1,
        };
        let same = Axis {
            contiguity: 1,
            divisibility: 1,
            constancy: 8,
        };
        let found = reshaped(&[same, column], &[8, 64], &[512], 1, 1).unwrap();
        assert_eq!((found[0].contiguity, found[0].divisibility), (64, 1 << 63));
        assert_eq!(reshaped(&[rows, row], &[8, 64], &[100], 1, 1), None);
    }
}
