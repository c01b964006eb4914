//! The search for the largest number of streams: doubling, then bisection, then the hold. A pure algorithm: the caller runs the attempts.

use report::capacity::{GaveWay, Part, Tried};

/// Failed attempts until a number of streams counts as too large: a single stall of the machine does not end the search.
const FAILURES: u8 = 2;

/// Number of holds that are tried, each with a tenth fewer streams than the previous one.
const HOLDS: u8 = 4;

/// Tries numbers of streams up to `max`, until one is sustained and the next is not; returns all attempts in order.
///
/// # Errors
/// The error with which `attempt` ends the search.
pub(super) fn search<E>(max: u16, mut attempt: impl FnMut(u16) -> Result<Option<GaveWay>, E>) -> Result<Vec<Tried>, E> {
    let (mut held, mut next, mut gave_way) = (0, 1, None);
    let mut tried = Vec::new();
    while held < max && gave_way.is_none_or(|above| above > held + 1) {
        let one = repeated(next, &mut attempt)?;
        match one.gave_way {
            None => held = next,
            Some(_) => gave_way = Some(next),
        }
        tried.push(one);
        next = match gave_way {
            Some(above) => held + (above - held) / 2,
            None => held.saturating_mul(2).min(max),
        };
    }
    Ok(tried)
}

/// The largest number of sustained streams; 0 if none.
pub(super) fn held(tried: &[Tried]) -> u16 {
    let held = tried.iter().filter(|tried| tried.gave_way.is_none());
    held.map(|tried| tried.streams).max().unwrap_or(0)
}

/// Repeats one number of streams until the failures reach the limit, or successes outnumber failures.
fn repeated<E>(streams: u16, attempt: &mut impl FnMut(u16) -> Result<Option<GaveWay>, E>) -> Result<Tried, E> {
    let mut tried = Tried {
        streams,
        is_hold: false,
        attempts: 0,
        failed: 0,
        gave_way: None,
    };
    let mut worst: Option<GaveWay> = None;
    loop {
        let gave_way = attempt(streams)?;
        tried.attempts += 1;
        tried.failed += u8::from(gave_way.is_some());
        worst = of_both(worst, gave_way);
        if tried.failed == FAILURES {
            tried.gave_way = worst;
            return Ok(tried);
        }
        if tried.attempts - tried.failed > tried.failed {
            return Ok(tried);
        }
    }
}

/// The result of two failed attempts: the host is the cause only if it is in both.
fn of_both(first: Option<GaveWay>, second: Option<GaveWay>) -> Option<GaveWay> {
    match (first, second) {
        (Some(first), Some(second)) if first.part == Part::Host => Some(second),
        (first, second) => first.or(second),
    }
}

/// Holds `streams`, and after a failure fewer and fewer; appends the failed holds, except the last, to `tried`.
///
/// # Errors
/// The error with which `attempt` ends it.
pub(super) fn hold<E>(
    streams: u16,
    mut tried: Vec<Tried>,
    mut attempt: impl FnMut(u16, &[Tried]) -> Result<Option<GaveWay>, E>,
) -> Result<(), E> {
    let mut streams = streams;
    for left in (0..HOLDS).rev() {
        let gave_way = attempt(streams, &tried)?;
        if gave_way.is_none() || left == 0 || streams == 1 {
            break;
        }
        tried.push(Tried {
            streams,
            is_hold: true,
            attempts: 1,
            failed: 1,
            gave_way,
        });
        streams = (streams - 1).min(streams / 10 * 9 + streams % 10 * 9 / 10);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{held, hold, search};
    use report::capacity::{GaveWay, Part, Tried};
    use std::convert::Infallible;

    /// A simulated host that sustains a number of streams, and a test set that sends a number of them; attempts at a fixed interval are disturbed.
    struct Simulated {
        host: u16,
        test_set: u16,
        disturbed: usize,
        attempts: usize,
    }

    impl Simulated {
        fn of(host: u16) -> Self {
            Self {
                host,
                test_set: u16::MAX,
                disturbed: usize::MAX,
                attempts: 0,
            }
        }

        fn attempt(&mut self, streams: u16) -> Option<GaveWay> {
            self.attempts += 1;
            let part = match streams {
                _ if self.attempts.is_multiple_of(self.disturbed) => Part::Host,
                _ if streams > self.test_set => Part::TestSet,
                _ if streams > self.host => Part::Host,
                _ => return None,
            };
            Some(GaveWay {
                part,
                what: "simulated".into(),
            })
        }

        fn search(&mut self, max: u16) -> Vec<Tried> {
            search::<Infallible>(max, |streams| Ok(self.attempt(streams))).expect("no error")
        }
    }

    fn first_failure(tried: &[Tried]) -> (u16, Part) {
        let failed = tried
            .iter()
            .filter_map(|one| Some((one.streams, one.gave_way.as_ref()?.part)));
        failed.min_by_key(|(streams, _)| *streams).expect("one that gave way")
    }

    #[test]
    fn every_capacity_is_found_to_the_stream() {
        for host in 0..=130 {
            let tried = Simulated::of(host).search(128);
            assert_eq!(held(&tried), host.min(128), "{tried:?}");
            assert!(tried.len() <= 15, "{host}: {}", tried.len());
            if host < 128 {
                assert_eq!(first_failure(&tried), (host + 1, Part::Host));
            } else {
                assert!(tried.iter().all(|one| one.gave_way.is_none()));
            }
        }
    }

    #[test]
    fn a_single_disturbance_ends_nothing_and_is_counted() {
        for disturbed in 3..9 {
            let mut host = Simulated {
                disturbed,
                ..Simulated::of(37)
            };
            let tried = host.search(1_000);
            assert_eq!(held(&tried), 37, "{tried:?}");
            let in_spite: u8 = tried
                .iter()
                .filter(|one| one.gave_way.is_none())
                .map(|one| one.failed)
                .sum();
            let failed: u8 = tried.iter().map(|one| one.failed).sum();
            assert!(failed > in_spite && host.attempts >= tried.len());
        }
        let mut once = Simulated {
            disturbed: 4,
            ..Simulated::of(1_000)
        };
        let tried = once.search(8);
        let of_8 = tried.last().expect("one");
        assert_eq!(
            (of_8.streams, of_8.attempts, of_8.failed),
            (8, 3, 1),
            "held in two of three"
        );
    }

    #[test]
    fn a_test_set_that_gives_way_is_not_the_host() {
        let mut host = Simulated {
            test_set: 20,
            ..Simulated::of(50)
        };
        assert_eq!(first_failure(&host.search(1_000)), (21, Part::TestSet));
        let mut parts = [Part::Host, Part::TestSet, Part::Host].into_iter();
        let tried = search::<Infallible>(1, |_| {
            Ok(parts.next().map(|part| GaveWay {
                part,
                what: String::new(),
            }))
        });
        let tried = tried.expect("no error");
        assert_eq!(
            first_failure(&tried),
            (1, Part::TestSet),
            "the host's only when both are"
        );
        assert_eq!(tried[0].attempts, 2);
    }

    #[test]
    fn a_hold_that_fails_goes_down_and_ends() {
        let held_by = |limit: u16, from: u16| {
            let (mut asked, mut seen) = (Vec::new(), 0);
            hold::<Infallible>(from, Vec::new(), |streams, tried| {
                asked.push(streams);
                seen = tried.len();
                Ok((streams > limit).then(|| GaveWay {
                    part: Part::Host,
                    what: String::new(),
                }))
            })
            .expect("no error");
            (asked, seen)
        };
        assert_eq!(held_by(100, 100), (vec![100], 0));
        assert_eq!(held_by(85, 100), (vec![100, 90, 81], 2));
        assert_eq!(held_by(0, 1_000), (vec![1_000, 900, 810, 729], 3), "bounded");
        assert_eq!(held_by(0, 2), (vec![2, 1], 1));
    }

    #[test]
    fn what_ends_an_attempt_ends_the_search() {
        assert_eq!(
            search(4, |streams| if streams < 4 { Ok(None) } else { Err("over") }),
            Err("over")
        );
    }
}
