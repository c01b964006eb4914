//! Matches the streams of several runs.
//!
//! A stream is identified by its svID, destination, APPID and source, as far as a run has them. The VLAN is compared only if both runs recorded one,
//! because a tag may be removed on the way. If a stream matches two others, it is matched with neither, and the result for them in the other run is
//! unknown.

use recording::StreamInfo;

/// The streams of all runs.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// The properties of each stream, from all runs that have it; its number is its index.
    pub(crate) known: Vec<StreamInfo>,
    /// Index in `known`, by run and by the number there.
    of_run: Vec<Vec<Option<u16>>>,
    /// Streams that match two others.
    pub(crate) alike: Vec<Alike>,
}

/// A stream of a run that matches two others.
#[derive(Debug)]
pub(crate) struct Alike {
    /// The run.
    run: usize,
    /// Its index, and those of the matching streams of earlier runs.
    own: u16,
    others: Vec<u16>,
    /// Description for the user.
    pub(crate) text: String,
}

impl Alike {
    /// True if a run may have frames of a stream under the other's name.
    fn hides(&self, run: usize, stream: u16) -> bool {
        match stream == self.own {
            true => run < self.run,
            false => run == self.run && self.others.contains(&stream),
        }
    }
}

impl Streams {
    /// Adds the next run's streams; `label` is the run's name. `None` if there are more than a recording can have.
    pub(crate) fn add_run(&mut self, label: &str, streams: &[StreamInfo]) -> Option<()> {
        let known = self.known.len();
        let numbers = streams.iter().map(|info| usize::from(info.number)).max();
        let mut of_run = vec![None; numbers.map_or(0, |highest| highest + 1)];
        let run = self.of_run.len();
        for info in streams {
            let same = only(self.known[..known].iter(), |other| may_be_same(info, other));
            let place = match same {
                Only::One(place) => {
                    let like = |other: &StreamInfo| may_be_same(other, &self.known[place]);
                    if matches!(only(streams.iter(), like), Only::One(_)) {
                        complete(&mut self.known[place], info);
                        place
                    } else {
                        self.add_alike((run, known), label, info)?
                    }
                }
                Only::None => self.add(label, info)?,
                Only::Several => self.add_alike((run, known), label, info)?,
            };
            of_run[usize::from(info.number)] = u16::try_from(place).ok();
        }
        self.of_run.push(of_run);
        Some(())
    }

    /// The index of a run's stream.
    pub(crate) fn place(&self, run: usize, number: u16) -> Option<u16> {
        *self.of_run.get(run)?.get(usize::from(number))?
    }

    /// Ambiguities that hide frames of a stream in a run, or in the runs that are compared with it.
    pub(crate) fn hiding(&self, run: usize, stream: u16) -> impl Iterator<Item = &Alike> {
        self.alike.iter().filter(move |alike| alike.hides(run, stream))
    }

    fn add(&mut self, label: &str, info: &StreamInfo) -> Option<usize> {
        let place = self.known.len();
        let number = u16::try_from(place).ok().filter(|_| place < recording::MAX_STREAMS)?;
        let sv_id = info.sv_id().to_owned();
        let is_taken = |name: &String| self.known.iter().any(|other| other.name == *name);
        let mut names = [info.name.clone(), format!("{}@{label}", info.name)].into_iter();
        let name = names.find(|name| !is_taken(name));
        let name = name.unwrap_or_else(|| format!("{}@{label}#{number}", info.name));
        self.known.push(StreamInfo {
            number,
            sv_id: (name != sv_id).then_some(sv_id),
            name,
            ..info.clone()
        });
        Some(place)
    }

    /// Adds a stream that matches two others as a separate one; the first `known` streams are of earlier runs.
    fn add_alike(&mut self, (run, known): (usize, usize), label: &str, info: &StreamInfo) -> Option<usize> {
        let others = self.known[..known].iter().filter(|other| may_be_same(info, other));
        let others = others.map(|other| other.number).collect();
        let own = self.add(label, info)?;
        self.alike.push(Alike {
            run,
            own: u16::try_from(own).ok()?,
            others,
            text: format!(
                "{label}: {} could be either of two streams (same svID, destination, APPID, and no source or VLAN that distinguishes them): \
                 it is not paired",
                info.name
            ),
        });
        Some(own)
    }
}

/// Number of matches: none, one or several.
enum Only {
    None,
    One(usize),
    Several,
}

fn only<'a>(mut infos: impl Iterator<Item = &'a StreamInfo>, fits: impl Fn(&StreamInfo) -> bool) -> Only {
    let Some(first) = infos.by_ref().position(&fits) else {
        return Only::None;
    };
    match infos.any(fits) {
        true => Only::Several,
        false => Only::One(first),
    }
}

/// True if no known property of the two differs.
fn may_be_same(a: &StreamInfo, b: &StreamInfo) -> bool {
    let rates = a.rate.zip(b.rate);
    // Imported svIDs can be longer than those on the wire.
    a.sv_id() == b.sv_id() && a.id().may_be(&b.id()) && rates.is_none_or(|(a, b)| a == b)
}

fn complete(known: &mut StreamInfo, info: &StreamInfo) {
    known.destination = known.destination.or(info.destination);
    known.appid = known.appid.or(info.appid);
    known.source = known.source.or(info.source);
    known.vid = known.vid.or(info.vid);
    known.rate = known.rate.or(info.rate);
}

#[cfg(test)]
mod tests {
    use super::Streams;
    use recording::StreamInfo;

    fn stream(number: u16, name: &str, source: Option<u8>, vid: Option<u16>) -> StreamInfo {
        StreamInfo {
            sv_id: Some(name.split('@').next().expect("a part").to_owned()),
            source: source.map(|last| [2, 0, 0, 0, 0, last]),
            destination: Some([1, 12, 205, 4, 0, 1]),
            appid: Some(0x4000),
            vid,
            ..StreamInfo::named(number, name)
        }
    }

    fn places(runs: &[Vec<StreamInfo>]) -> (Vec<Vec<Option<u16>>>, usize) {
        let mut streams = Streams::default();
        for (run, infos) in runs.iter().enumerate() {
            streams.add_run(&format!("run{run}"), infos).expect("room");
        }
        let of =
            |run: usize, infos: &Vec<StreamInfo>| infos.iter().map(|info| streams.place(run, info.number)).collect();
        let places = runs.iter().enumerate().map(|(run, infos)| of(run, infos)).collect();
        (places, streams.alike.len())
    }

    #[test]
    fn a_tag_may_be_taken_off_and_the_order_does_not_matter() {
        let host = vec![stream(0, "MU01", Some(1), Some(5)), stream(1, "MU02", Some(2), Some(5))];
        let guest = vec![stream(0, "MU02", Some(2), None), stream(1, "MU01", Some(1), None)];
        assert_eq!(
            places(&[host, guest]),
            (vec![vec![Some(0), Some(1)], vec![Some(1), Some(0)]], 0)
        );
    }

    #[test]
    fn two_publishers_with_one_sv_id_are_told_apart_by_their_source() {
        let host = vec![
            stream(0, "MU01", Some(1), None),
            stream(1, "MU01@02:…:02", Some(2), None),
        ];
        let guest = vec![
            stream(0, "MU01", Some(2), None),
            stream(1, "MU01@02:…:01", Some(1), None),
        ];
        assert_eq!(
            places(&[host, guest]),
            (vec![vec![Some(0), Some(1)], vec![Some(1), Some(0)]], 0)
        );
    }

    #[test]
    fn one_that_could_be_either_of_two_is_neither() {
        let host = vec![
            stream(0, "MU01", Some(1), None),
            stream(1, "MU01@02:…:02", Some(2), None),
        ];
        let subscriber = vec![stream(0, "MU01", None, None)];
        assert_eq!(
            places(&[host.clone(), subscriber.clone()]),
            (vec![vec![Some(0), Some(1)], vec![Some(2)]], 1)
        );
        assert_eq!(
            places(&[subscriber, host]),
            (vec![vec![Some(0)], vec![Some(1), Some(2)]], 2)
        );
    }

    #[test]
    fn of_what_could_be_either_nothing_is_known_in_the_other_run() {
        let host = vec![
            stream(0, "MU01", Some(1), None),
            stream(1, "MU01@02:…:02", Some(2), None),
            stream(2, "MU02", Some(3), None),
        ];
        let subscriber = vec![stream(0, "MU01", None, None), stream(1, "MU02", Some(3), None)];
        let mut streams = Streams::default();
        streams.add_run("host", &host).expect("room");
        streams.add_run("guest", &subscriber).expect("room");
        let hidden = |run: usize| {
            (0..4)
                .map(|stream| streams.hiding(run, stream).count())
                .collect::<Vec<_>>()
        };
        assert_eq!(hidden(1), [1, 1, 0, 0], "both of the host's from the guest");
        assert_eq!(hidden(0), [0, 0, 0, 1], "the guest's from the host");
    }
}
