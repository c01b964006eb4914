//! GOOSE.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::ether::EthernetView;
use wire::goose::{self, Data};

fn walk(data: Data<'_>) -> usize {
    match data {
        Data::Array(entries) | Data::Structure(entries) => entries.map(walk).max().unwrap_or_default() + 1,
        _ => 0,
    }
}

fuzz_target!(|octets: &[u8]| {
    let Ok(ethernet) = EthernetView::parse(octets) else {
        return;
    };
    let inspected = goose::inspect(&ethernet);
    match goose::Frame::parse(&ethernet) {
        Err(error) => assert_eq!(inspected.error, Some(error)),
        Ok(frame) => {
            assert_eq!(inspected.error, None);
            assert_eq!(frame.all_data().count(), frame.num_dat_set_entries() as usize);
            assert!(frame.all_data().all(|data| walk(data) <= goose::MAX_NESTING));
            let settings = goose::Settings {
                edition_1: true,
                ..goose::Settings::default()
            };
            // The same message again is never a new state, with any numbers.
            let mut supervisor = goose::Supervisor::new(settings, goose::Expectation::default());
            let now = goose::Heard::at(Some(0));
            supervisor.accept(&frame, now);
            let again = supervisor.accept(&frame, now);
            assert!(!again.is_event(0) && supervisor.counts().repetitions == 1);
            supervisor.finish(goose::Heard::at(Some(i64::MAX)));
            let message = goose::Message::from(&frame);
            if let Ok(encoded) = message.encode() {
                let ethernet = EthernetView::parse(&encoded).expect("own frame");
                let frame = goose::Frame::parse(&ethernet).expect("own frame");
                // Compared as bytes, because NaN is not equal to itself.
                assert_eq!(goose::Message::from(&frame).encode(), Ok(encoded));
            }
        }
    }
});
