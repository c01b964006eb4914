//! Loss of the host's PTP: it blocks, warns, or is ignored, as the file says.

mod common;

use common::{Rig, Wave, one, relay};
use protection::measure::Blocks;
use relay::config::{Config, Feed, parse};
use relay::engine::State;
use relay::events::{Change, Subject};
use relay::ptp::{PtpLoss, PtpState};

const FAULT_AT: u64 = 8_000;

fn with(loss: PtpLoss) -> Config {
    Config {
        ptp_loss: loss,
        ..one("pioc = { pickup = 5 }")
    }
}

/// A relay whose host is in this state from a second before the fault on; `None` tells it nothing.
fn faulted(loss: PtpLoss, state: Option<PtpState>) -> Rig {
    let wave = Wave {
        fault: FAULT_AT..u64::MAX,
        ..Wave::default()
    };
    let mut rig = Rig::new(&with(loss));
    if state.is_some() {
        rig.engine.set_ptp(PtpState::Synchronised);
    }
    rig.feed(&wave, FAULT_AT - 4_000);
    if let Some(state) = state {
        rig.engine.set_ptp(state);
    }
    rig.feed(&wave, FAULT_AT + 400);
    rig
}

fn trips(rig: &Rig) -> bool {
    !rig.operates(Subject::Trip(0)).is_empty()
}

fn states(rig: &Rig) -> Vec<PtpState> {
    let of_host = rig.events.iter().filter(|event| event.subject == Subject::HostClock);
    let state = |change| match change {
        Change::Ptp(state) => Some(state),
        _ => None,
    };
    of_host.filter_map(|event| state(event.change)).collect()
}

#[test]
fn block_blocks_unless_it_is_known_to_be_synchronised() {
    use PtpState::{Lost, Synchronised, Unknown};
    for (state, has_tripped) in [(Synchronised, true), (Lost, false), (Unknown, false)] {
        let rig = faulted(PtpLoss::Block, Some(state));
        assert_eq!(trips(&rig), has_tripped, "{state:?}");
        let blocked = rig.times(Subject::Function(0), |change| {
            change == Change::Blocked(Blocks::HOST_CLOCK)
        });
        assert_eq!(blocked.is_empty(), has_tripped, "{state:?}");
        let healthy = rig.engine.output(Feed::Quality) == State::Quality(true);
        assert_eq!(healthy, has_tripped, "{state:?}");
    }
}

#[test]
fn a_clock_that_is_back_releases_the_functions() {
    let wave = Wave {
        fault: FAULT_AT..u64::MAX,
        ..Wave::default()
    };
    let mut rig = faulted(PtpLoss::Block, Some(PtpState::Lost));
    rig.engine.set_ptp(PtpState::Synchronised);
    rig.feed(&wave, FAULT_AT + 800);
    assert!(trips(&rig));
    assert_eq!(
        states(&rig),
        [PtpState::Synchronised, PtpState::Lost, PtpState::Synchronised]
    );
    assert_eq!(rig.engine.output(Feed::Health), State::Number(1));
}

#[test]
fn warn_trips_and_says_so_in_the_health() {
    for state in [PtpState::Lost, PtpState::Unknown] {
        let rig = faulted(PtpLoss::Warn, Some(state));
        assert!(trips(&rig), "{state:?}");
        assert_eq!(rig.engine.output(Feed::Health), State::Number(2), "{state:?}");
        assert_eq!(rig.engine.output(Feed::Quality), State::Quality(true), "{state:?}");
        assert_eq!(states(&rig), [PtpState::Synchronised, state]);
    }
}

#[test]
fn ignore_and_a_replay_know_no_host() {
    let ignored = faulted(PtpLoss::Ignore, Some(PtpState::Lost));
    let replayed = faulted(PtpLoss::Block, None);
    for rig in [ignored, replayed] {
        assert!(trips(&rig));
        assert_eq!(rig.engine.output(Feed::Health), State::Number(1));
        assert_eq!(states(&rig), []);
    }
}

#[test]
fn the_file_says_which() {
    let text =
        |key: &str| format!("[relay]\nname = \"R\"\n{key}\n[[stream]]\nname = \"bay1\"\nsv = {{ svID = \"MU01\" }}\n");
    assert_eq!(relay(&text("")).ptp_loss, PtpLoss::Ignore);
    for loss in [PtpLoss::Block, PtpLoss::Warn, PtpLoss::Ignore] {
        let said = text(&format!("ptp-loss = \"{}\"", loss.name()));
        assert_eq!(relay(&said).ptp_loss, loss);
    }
    let error = parse(&text("ptp-loss = \"trip\""), "relay.toml").expect_err("no such response");
    assert!(error.to_string().contains("`block`, `warn`, `ignore`"), "{error}");
}
