//! Files that are made to do harm, or are damaged at any place.

use proptest::prelude::{ProptestConfig, any, proptest};
use scl::{parse, parse_bytes};
use std::fmt::Write;
use std::time::{Duration, Instant};

const STATION: &str = include_str!("data/station.scd");

#[test]
fn types_that_contain_themselves_or_grow_without_end() {
    let mut types =
        String::from("<LNodeType id=\"TCTR_T\" lnClass=\"TCTR\"><DO name=\"AmpSv\" type=\"SAV_T\"/></LNodeType>");
    types.push_str("<DOType id=\"SAV_T\"><DA name=\"instMag\" bType=\"Struct\" type=\"D0\" fc=\"MX\"/></DOType>");
    for level in 0..30 {
        write!(types, "<DAType id=\"D{level}\">").expect("text");
        for part in 0..20 {
            write!(
                types,
                "<BDA name=\"p{part}\" bType=\"Struct\" type=\"D{}\"/>",
                (level + 1) % 30
            )
            .expect("text");
        }
        types.push_str("</DAType>");
    }
    let file = format!(
        "<SCL><Communication><SubNetwork><ConnectedAP iedName=\"M\" apName=\"P\"><SMV ldInst=\"L\" cbName=\"C\"><Address>\
         <P type=\"MAC-Address\">01-0C-CD-04-00-01</P><P type=\"APPID\">4000</P></Address></SMV></ConnectedAP></SubNetwork>\
         </Communication><IED name=\"M\"><AccessPoint name=\"P\"><Server><LDevice inst=\"L\"><LN0 lnClass=\"LLN0\">\
         <DataSet name=\"D\"><FCDA ldInst=\"L\" lnClass=\"TCTR\" lnInst=\"1\" doName=\"AmpSv\" fc=\"MX\"/></DataSet>\
         <SampledValueControl name=\"C\" smvID=\"S\" datSet=\"D\" smpRate=\"80\" nofASDU=\"1\"/></LN0>\
         <LN lnClass=\"TCTR\" inst=\"1\" lnType=\"TCTR_T\"/></LDevice></Server></AccessPoint></IED>\
         <DataTypeTemplates>{types}</DataTypeTemplates></SCL>"
    );
    let started = Instant::now();
    let document = parse(&file).expect("a file");
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(
        document
            .warnings
            .iter()
            .any(|warning| warning.what.contains("contains itself")),
        "{:?}",
        document.warnings
    );
    assert_eq!(document.sampled_values.len(), 1);
    assert!(document.sampled_values[0].data_set.layout().is_err());
}

/// The station with `count` merging units like the first.
fn station_of(count: usize) -> String {
    let part = |from: &str, to: &str| {
        let start = STATION.find(from).expect("the part");
        let end = start + STATION[start..].find(to).expect("its end") + to.len();
        STATION[start..end].to_owned()
    };
    let access = part("<ConnectedAP iedName=\"MU01\"", "</ConnectedAP>");
    let ied = part("<IED name=\"MU01\"", "</IED>");
    let all = |text: &str| -> String {
        (0..count)
            .map(|number| text.replace("MU01", &format!("M{number}")))
            .collect()
    };
    STATION.replace(&access, &all(&access)).replace(&ied, &all(&ied))
}

#[test]
fn a_large_station_takes_time_by_its_size() {
    let file = station_of(400);
    let started = Instant::now();
    let document = parse(&file).expect("a file");
    assert_eq!(document.sampled_values.len(), 801);
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{} octets in {:?}",
        file.len(),
        started.elapsed()
    );
}

#[test]
fn elements_within_elements_without_end() {
    let deep = format!("<SCL>{}{}</SCL>", "<IED>".repeat(200_000), "</IED>".repeat(200_000));
    let _ = parse(&deep);
    let _ = parse(&"<SCL>".repeat(200_000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_octets(octets in any::<Vec<u8>>()) {
        let _ = parse_bytes(&octets);
    }

    #[test]
    fn a_file_cut_or_changed_anywhere(at in 0..STATION.len(), octet in any::<u8>(), cut in any::<bool>()) {
        let mut octets = STATION.as_bytes().to_vec();
        octets[at] = octet;
        if cut {
            octets.truncate(at);
        }
        if let Ok(document) = parse_bytes(&octets) {
            for block in &document.sampled_values {
                let _ = (block.data_set.layout(), block.data_set.sv_octets(), block.samples_per_second(50.0));
            }
        }
    }
}
