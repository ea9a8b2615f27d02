//! The laws of [`Layout`], on random layouts, against enumeration of all places.

use proptest::prelude::*;

use super::*;

/// A random layout of a tile of rank `dims.len()` with few enough places to enumerate.
pub fn any_layout(dims: &'static [u8]) -> impl Strategy<Value = Layout> {
    let shape = Shape::from_bits(dims).unwrap();
    let basis = 0..shape.elements();
    let bases = |max: usize| proptest::collection::vec(basis.clone(), 0..=max);
    let parts = (bases(3), bases(3), bases(2));
    parts.prop_map(move |(r, l, w)| Layout::distributed(shape.clone(), r, l, w).unwrap())
}

/// A random bijective memory layout of a tile.
pub fn any_memory(dims: &'static [u8]) -> impl Strategy<Value = Layout> {
    let shape = Shape::from_bits(dims).unwrap();
    let n = shape.total_bits();
    proptest::collection::vec(0..shape.elements(), n as usize).prop_map(move |candidates| {
        // Keep what is independent, complete it with unit vectors.
        let units: Vec<u64> = (0..n).map(|i| 1 << i).collect();
        let all: Vec<u64> = candidates.iter().chain(&units).copied().collect();
        Layout::memory(shape.clone(), Subspace::empty(n).extend_from(&all)).unwrap()
    })
}

fn places(l: &Layout) -> impl Iterator<Item = (u64, u64, u64)> {
    let (r, n, w) = (l.registers(), l.in_size(In::Lane), l.warps());
    (0..r).flat_map(move |r| (0..n).flat_map(move |l| (0..w).map(move |w| (r, l, w))))
}

proptest! {
    #[test]
    fn linear_in_every_input(l in any_layout(&[3, 2]), a in any::<[u64; 3]>(), b in any::<[u64; 3]>()) {
        let cut = |x: [u64; 3]| [x[0] % l.registers(), x[1] % l.in_size(In::Lane), x[2] % l.warps()];
        let (a, b) = (cut(a), cut(b));
        let sum = l.flat(a[0], a[1], a[2]) ^ l.flat(b[0], b[1], b[2]);
        prop_assert_eq!(sum, l.flat(a[0] ^ b[0], a[1] ^ b[1], a[2] ^ b[2]));
    }

    #[test]
    fn surjective_injective_and_free_bits(l in any_layout(&[2, 2])) {
        let all: Vec<u64> = places(&l).map(|(r, n, w)| l.flat(r, n, w)).collect();
        let distinct: std::collections::BTreeSet<u64> = all.iter().copied().collect();
        prop_assert_eq!(l.is_surjective(), distinct.len() == 16);
        prop_assert_eq!(l.is_injective(), distinct.len() == all.len());
        let free = l.free_variable_masks();
        let kept: Vec<u64> = places(&l)
            .filter(|p| p.0 & free[0] == 0 && p.1 & free[1] == 0 && p.2 & free[2] == 0)
            .map(|(r, n, w)| l.flat(r, n, w))
            .collect();
        prop_assert_eq!(kept.len(), distinct.len());
        prop_assert_eq!(kept.into_iter().collect::<std::collections::BTreeSet<_>>(), distinct);
    }

    #[test]
    fn product_nests_tiles(a in any_layout(&[1, 2]), b in any_layout(&[2, 1])) {
        let p = a.product(&b).unwrap();
        for (r, n, w) in places(&p) {
            let inner = a.coords(r % a.registers(), n % a.in_size(In::Lane), w % a.warps());
            let outer = b.coords(r / a.registers(), n / a.in_size(In::Lane), w / a.warps());
            let both = p.coords(r, n, w);
            for d in 0..2 {
                prop_assert_eq!(both[d], inner[d] + outer[d] * a.shape().extent(d));
            }
        }
        prop_assert_eq!(p.divide(&a), Some(b));
    }

    #[test]
    fn product_is_associative_with_unit(a in any_layout(&[1, 1]), b in any_layout(&[0, 2]), c in any_layout(&[1, 1])) {
        let left = a.product(&b).unwrap().product(&c).unwrap();
        prop_assert_eq!(&left, &a.product(&b.product(&c).unwrap()).unwrap());
        let unit = Layout::unit(2);
        prop_assert_eq!(unit.product(&a).unwrap(), a.clone());
        prop_assert_eq!(a.product(&unit).unwrap(), a);
    }

    #[test]
    fn invert_and_compose_finds_the_same_element(a in any_layout(&[2, 2]), b in any_layout(&[2, 2])) {
        match a.invert_and_compose(&b) {
            Ok(g) => prop_assert_eq!(b.full_matrix().compose(&g), a.full_matrix()),
            Err(_) => prop_assert!(a.full_matrix().columns().iter().any(|c| !b.full_matrix().image().contains(*c))),
        }
    }

    #[test]
    fn offsets_invert_memory(s in any_memory(&[2, 3])) {
        let inverse = s.offset_of().unwrap();
        for offset in 0..32 {
            prop_assert_eq!(inverse.apply(s.flat_at_offset(offset)), offset);
        }
    }

    #[test]
    fn tile_operations_move_elements(l in any_layout(&[2, 1, 2])) {
        let permuted = l.permute(&[2, 0, 1]).unwrap();
        let sliced = l.slice(1).unwrap();
        let expanded = l.expand_dims(1).unwrap();
        let reshaped = l.reshape(&Shape::new(&[8, 4]).unwrap()).unwrap();
        for (r, n, w) in places(&l) {
            let c = l.coords(r, n, w);
            let at = |l: &Layout| l.coords(r, n, w).to_vec();
            prop_assert_eq!(at(&permuted), vec![c[2], c[0], c[1]]);
            prop_assert_eq!(at(&sliced), vec![c[0], c[2]]);
            prop_assert_eq!(at(&expanded), vec![c[0], 0, c[1], c[2]]);
            let flat = (c[0] * 2 + c[1]) * 4 + c[2];
            prop_assert_eq!(at(&reshaped), vec![flat / 4, flat % 4]);
        }
        prop_assert_eq!(expanded.slice(1).unwrap(), l);
    }

    #[test]
    fn broadcast_repeats_and_its_source_matches(l in any_layout(&[2, 0, 1])) {
        let wide = Shape::new(&[4, 8, 2]).unwrap();
        let b = l.broadcast(&wide).unwrap();
        for (r, n, w) in places(&b) {
            let (c, from) = (b.coords(r, n, w), l.coords(r % l.registers(), n, w));
            prop_assert_eq!((c[0], c[1], c[2]), (from[0], r / l.registers(), from[2]));
        }
        let source = b.broadcast_source(l.shape()).unwrap();
        prop_assert_eq!(source.without_redundant_registers().0, l.without_redundant_registers().0);
        let narrow = Shape::new(&[4, 8, 1]).unwrap();
        prop_assert!(l.broadcast(&narrow).is_err());
    }

    #[test]
    fn concat_puts_copies_in_registers(l in any_layout(&[1, 2])) {
        let two = l.concat(0, 2).unwrap();
        for (r, n, w) in places(&two) {
            let (c, from) = (two.coords(r, n, w), l.coords(r % l.registers(), n, w));
            prop_assert_eq!((c[0], c[1]), (from[0] + 2 * (r / l.registers()), from[1]));
        }
    }

    #[test]
    fn dropping_registers_loses_nothing(l in any_layout(&[1, 2])) {
        let (small, dropped) = l.without_redundant_registers();
        let elements = |l: &Layout| -> std::collections::BTreeSet<u64> { (0..l.registers()).map(|r| l.flat(r, 0, 0)).collect() };
        prop_assert_eq!(elements(&small), elements(&l));
        prop_assert_eq!(small.registers() as usize, elements(&l).len());
        prop_assert_eq!(small.in_bits(In::Register) + dropped.count_ones(), l.in_bits(In::Register));
    }

    #[test]
    fn contiguity_in_a_thread_asks_for_no_order_of_registers(l in any_layout(&[1, 2])) {
        let sorted = l.with_bases(In::Register, |b| b.sort_by_key(|&v| (v == 0, v))).unwrap();
        prop_assert_eq!(l.contiguous_in_thread(&[1, 0]).unwrap(), sorted.contiguous_per_thread(&[1, 0]).unwrap());
    }

    #[test]
    fn contiguity_is_what_enumeration_says(l in any_layout(&[1, 2])) {
        let run = l.contiguous_per_thread(&[1, 0]).unwrap();
        for (r, n, w) in places(&l) {
            prop_assert_eq!(l.flat(r, n, w), l.flat(r & !(run - 1), n, w) + r % run);
        }
        // One longer would be wrong somewhere.
        let longer = run * 2;
        let fits = longer <= l.registers() && longer <= 8
            && places(&l).all(|(r, n, w)| {
                let base = l.flat(r & !(longer - 1), n, w);
                base % longer == 0 && l.flat(r, n, w) == base + r % longer
            });
        prop_assert!(!fits);
    }
}

#[test]
fn division_needs_a_whole_tile() {
    let shape = Shape::new(&[8]).unwrap();
    let tile = Layout::identity_1d(In::Register, 2, 0, 1).unwrap();
    let clean = Layout::distributed(shape.clone(), vec![1, 4], vec![2], vec![]).unwrap();
    assert_eq!(
        clean.divide(&tile).map(|q| q.to_string()).as_deref(),
        Some("4: reg [(2)] lane [(1)] warp []")
    );
    let mixed = Layout::distributed(shape, vec![1, 4], vec![3], vec![]).unwrap();
    assert_eq!(mixed.divide(&tile), None, "a lane moves inside the tile");
}

#[test]
fn mistakes_are_errors() {
    let shape = Shape::new(&[4, 4]).unwrap();
    assert!(Layout::distributed(shape.clone(), vec![16], vec![], vec![]).is_err());
    let l = Layout::distributed(shape, vec![1, 2], vec![4, 8], vec![]).unwrap();
    assert!(l.permute(&[0, 0]).is_err());
    assert!(l.slice(2).is_err());
    assert!(l.expand_dims(3).is_err());
    assert!(l.reshape(&Shape::new(&[8]).unwrap()).is_err());
    assert!(l.concat(0, 3).is_err());
    assert!(l.product(&Layout::unit(1)).is_err());
    assert!(Layout::identity_1d(In::Lane, 12, 0, 1).is_err());
    assert!(Shape::from_bits(&[32, 32]).is_err());
}
