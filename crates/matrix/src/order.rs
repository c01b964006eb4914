//! The order of the measurements: every cell once before any cell a second time, shuffled in each round, so that a drift of the machine favours no
//! cell.

use stats::random::Random;

/// The order of `cells` cells in each of `rounds` rounds, shuffled (Fisher and Yates); the same seed gives the same order.
pub fn rounds(cells: usize, rounds: u32, seed: u64) -> Vec<Vec<usize>> {
    let mut random = Random::new(seed);
    (0..rounds).map(|_| shuffled(cells, &mut random)).collect()
}

fn shuffled(cells: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..cells).collect();
    for last in (1..cells).rev() {
        let other = (random.unit() * (last + 1) as f64) as usize;
        order.swap(last, other.min(last));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::rounds;

    #[test]
    fn each_round_has_every_cell_once_and_the_seed_decides_the_order() {
        let all = rounds(12, 5, 7);
        assert_eq!(all.len(), 5);
        for round in &all {
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..12).collect::<Vec<_>>());
        }
        assert!(all.windows(2).any(|pair| pair[0] != pair[1]), "{all:?}");
        assert_eq!(rounds(12, 5, 7), all);
        assert_ne!(rounds(12, 5, 8), all);
        assert!(rounds(0, 2, 1).iter().all(Vec::is_empty));
    }

    /// A shuffle that prefers one position would fail here: in 4000 draws, each of four positions is expected 1000 times, with a standard
    /// deviation of 27.
    #[test]
    fn no_cell_is_favoured() {
        let all = rounds(4, 4_000, 3);
        for cell in 0..4 {
            for place in 0..4 {
                let times = all.iter().filter(|round| round[place] == cell).count();
                assert!((860..1140).contains(&times), "cell {cell} at {place}: {times}");
            }
        }
    }
}
