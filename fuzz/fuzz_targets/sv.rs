//! Sampled values.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::ether::EthernetView;
use wire::sv;

fuzz_target!(|octets: &[u8]| {
    let Ok(ethernet) = EthernetView::parse(octets) else {
        return;
    };
    let inspected = sv::inspect(&ethernet);
    match sv::Frame::parse(&ethernet) {
        Err(error) => assert_eq!(inspected.error, Some(error)),
        Ok(frame) => {
            assert_eq!(inspected.error, None);
            assert_eq!(frame.asdus().count(), frame.asdu_count());
            let message = sv::Message::from(&frame);
            // A frame of unusual encoding or jumbo size may be too long for our publisher.
            if let Ok(encoded) = message.encode() {
                let ethernet = EthernetView::parse(&encoded).expect("own frame");
                let again = sv::Message::from(&sv::Frame::parse(&ethernet).expect("own frame"));
                assert_eq!(again, message);
            }
        }
    }
});
