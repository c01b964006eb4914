//! The runs of a comparison in one drawing: all series of a kind in one box plot, and each over time.

use super::series::MOST_OPEN;
use super::{Compared, Comparison, key};
use crate::picture::sheet::{self, Part};
use crate::picture::{Drawn, Group, Picture, boxes, course, look};
use crate::section::Section;
use askama::Template;
use model::{Kind, RunView, SeriesView, kind};
use units::foreign::Show;

/// Largest number of series of a kind for a common picture in the page: more are streams of sampled values, and fill it.
const MOST_SERIES: usize = 24;

/// One box plot for each kind of which several series were compared.
pub(super) struct BoxesSection;

impl Section<Comparison> for BoxesSection {
    fn html(&self, comparison: &Comparison) -> askama::Result<String> {
        let compared = |family: &&str| {
            let in_several = comparison
                .groups(family)
                .into_iter()
                .filter(|group| group.series.len() > 1);
            (2..=MOST_SERIES).contains(&in_several.count())
        };
        let drawn = families(&comparison.runs).into_iter().filter(compared);
        let kinds = drawn.map(|family| {
            let groups = comparison.groups(family);
            KindPart {
                title: title(family),
                series: groups.len(),
                drawn: boxes::of(&comparison.names(), &groups),
            }
        });
        let kinds = kinds.filter(|kind| !kind.drawn.svg.is_empty()).collect();
        Html { kinds }.render()
    }
}

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"{% for kind in kinds %}
<section>
  <h2>{{ kind.title }}: all series and runs</h2>
  {% if kind.series > MOST_OPEN %}<details class="counters"><summary>One picture of {{ kind.series }} series</summary>{% endif %}
  <figure class="box"><figcaption>{{ kind.drawn.caption }}</figcaption>{{ kind.drawn.svg|safe }}</figure>
  {% for line in kind.drawn.left_out %}<p class="note">No box: {{ line }}.</p>{% endfor %}
  {% if kind.series > MOST_OPEN %}</details>{% endif %}
</section>
{% endfor %}"##
)]
struct Html {
    kinds: Vec<KindPart>,
}

struct KindPart {
    title: String,
    /// Their number.
    series: usize,
    drawn: Drawn,
}

pub(super) fn title(family: &str) -> String {
    Kind::named(family).map_or(family, |kind| kind.title).to_owned()
}

/// The name of the kind of series to draw: `wanted` if the runs have it; without it, the tasks of relays or the only kind.
///
/// # Errors
/// The runs have no such kind, or several others.
pub fn kind_to_draw(runs: &[(String, RunView)], wanted: Option<&str>) -> Result<String, String> {
    let families = families(runs);
    let wanted = match (wanted, &families[..]) {
        (None, [only]) => Some(*only),
        (None, _) => Some(kind::TASK.name).filter(|task| families.contains(task)),
        (wanted, _) => wanted.filter(|wanted| families.contains(wanted)),
    };
    let known = || match families.is_empty() {
        true => "none".to_owned(),
        false => families.join(", ").shown(),
    };
    let refused = || format!("name a kind of series with --kind; these runs have: {}", known());
    wanted.map(str::to_owned).ok_or_else(refused)
}

/// The kinds of series of all runs, in the order of a report.
fn families(runs: &[(String, RunView)]) -> Vec<&str> {
    let series = runs.iter().flat_map(|(_, run)| run.series.iter());
    kind::in_order(series.map(SeriesView::family))
}

impl Comparison {
    /// The runs in one drawing of a kind of series, as an SVG file that needs nothing else, and the series that are not
    /// drawn, each with the reason.
    ///
    /// # Errors
    /// The reason why there is nothing to draw.
    pub fn picture(&self, picture: Picture, family: &str) -> Result<(String, Vec<String>), String> {
        let shown = self.shown();
        let parts = shown.parts(picture, family);
        let left_out = parts.iter().flat_map(|part| part.drawn.left_out.iter().cloned());
        let left_out = left_out.collect::<Vec<_>>();
        if parts.iter().all(|part| part.drawn.svg.is_empty()) {
            return Err(format!("nothing of {family} can be drawn: {}", left_out.join("; ")));
        }
        Ok((sheet::of(&title(family), &shown.names(), &parts), left_out))
    }

    fn parts(&self, picture: Picture, family: &str) -> Vec<Part> {
        let (names, groups) = (self.names(), self.groups(family));
        match picture {
            Picture::Boxes => vec![Part {
                heading: String::new(),
                drawn: boxes::of(&names, &groups),
            }],
            Picture::Course => groups
                .iter()
                .map(|group| Part {
                    heading: group.name.clone(),
                    drawn: course::of(&format!("{}, {}", title(family), group.name), &names, group),
                })
                .collect(),
        }
    }

    /// The names of the runs.
    fn names(&self) -> Vec<String> {
        self.runs.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The series of a kind, those with the same key together, also those of one run alone.
    fn groups(&self, family: &str) -> Vec<Group<'_>> {
        let mut groups: Vec<(String, Vec<(usize, usize)>)> = Vec::new();
        for (run, (_, view)) in self.runs.iter().enumerate() {
            let of_kind = view
                .series
                .iter()
                .enumerate()
                .filter(|(_, series)| series.family() == family);
            for (place, series) in of_kind {
                let key = key(&self.runs, series);
                match groups.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, places)) => places.push((run, place)),
                    None => groups.push((key, vec![(run, place)])),
                }
            }
        }
        groups.iter().map(|(_, places)| self.group(places)).collect()
    }

    /// These series (index of the run, index in the run) as a group.
    fn group(&self, places: &[(usize, usize)]) -> Group<'_> {
        let view = |(run, place): &(usize, usize)| (*run, &self.runs[*run].1.series[*place]);
        let series: Vec<(usize, &SeriesView)> = places.iter().map(view).collect();
        let mut labels: Vec<&str> = series.iter().map(|(_, one)| one.spec.label()).collect();
        labels.dedup();
        let name = labels.join(" / ");
        let allowed = |(run, place): &(usize, usize)| self.allowed[*run].get(*place).copied().flatten();
        let mut limits: Vec<Option<u64>> = places.iter().map(allowed).collect();
        limits.dedup();
        let limit_ns = match limits[..] {
            [same] => same,
            _ => None,
        };
        Group { name, series, limit_ns }
    }

    fn group_of(&self, compared: &Compared) -> Group<'_> {
        let places = compared.places.iter().enumerate();
        let places: Vec<(usize, usize)> = places.filter_map(|(run, place)| Some((run, (*place)?))).collect();
        self.group(&places)
    }

    /// A compared series over time.
    pub(super) fn course(&self, compared: &Compared) -> Drawn {
        course::of(&compared.name, &self.names(), &self.group_of(compared))
    }

    /// CSS class and name of the runs of a compared series.
    pub(super) fn keys(&self, compared: &Compared) -> Vec<(String, String)> {
        let group = self.group_of(compared);
        group
            .series
            .iter()
            .map(|(run, _)| (look(*run), self.runs[*run].0.clone()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Picture, kind_to_draw};
    use crate::limits::Profile;
    use model::RunView;
    use testing::synthetic;

    /// Two loads in 60 windows of a second; the second one is slower.
    fn machine(loaded_ns: i64) -> RunView {
        synthetic::run(vec![
            synthetic::series("task/none", 6_000, 400_000, 60),
            synthetic::series("task/hackbench", 6_000, loaded_ns, 60),
            synthetic::series("wakeup/cpu1", 6_000, 40_000, 60),
        ])
    }

    fn comparison() -> Comparison {
        let runs = [("gold", 700_000), ("silver & old", 1_900_000)];
        let profile = Profile::find("substation").expect("embedded");
        Comparison::of(runs.map(|(name, ns)| (name.to_owned(), machine(ns))).to_vec())
            .judged(&[Some(profile.clone()), Some(profile)])
    }

    #[test]
    fn the_page_has_all_loads_and_machines_in_one_picture_and_each_series_over_time() {
        let html = comparison().html().expect("a page");
        assert!(html.contains("<h2>Protection task: all series and runs</h2>"), "{html}");
        assert!(
            !html.contains("Wake-up latency: all series"),
            "one series needs no second picture"
        );
        assert_eq!(html.matches("class=\"boxes picture\"").count(), 1);
        assert_eq!(html.matches("class=\"static\"").count(), 3, "a course for each series");
        assert!(html.contains("silver &amp; old") || html.contains("silver &#38; old"));
    }

    #[test]
    fn a_picture_is_a_file_of_its_own_with_the_limit() {
        let comparison = comparison();
        assert_eq!(kind_to_draw(&comparison.runs, None).as_deref(), Ok("task"));
        for picture in Picture::ALL {
            let (svg, left_out) = comparison.picture(picture, "task").expect("drawn");
            assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{svg}");
            for part in ["hackbench", "gold", "silver &amp; old", "limit 1 ms", "Protection task"] {
                assert!(svg.contains(part), "{part} in {svg}");
            }
            assert!(left_out.is_empty() && !svg.contains("var("));
        }
    }

    #[test]
    fn a_kind_that_no_run_has_is_refused_with_those_that_there_are() {
        let comparison = comparison();
        let why = kind_to_draw(&comparison.runs, Some("trip")).expect_err("refused");
        assert_eq!(why, "name a kind of series with --kind; these runs have: wakeup, task");
    }

    #[test]
    fn a_series_of_one_run_alone_is_drawn_too() {
        let alone = synthetic::run(vec![synthetic::series("task/relay", 6_000, 500_000, 60)]);
        let comparison = Comparison::of(vec![("gold".to_owned(), machine(1)), ("bronze".to_owned(), alone)]);
        let (svg, _) = comparison.picture(Picture::Boxes, "task").expect("drawn");
        assert!(svg.contains(">relay<") && svg.contains(">none<"), "{svg}");
        assert!(!svg.contains("class=\"limit\""), "neither run has limits");
    }
}
