//! The drawings of the page as SVG. With scripts, uPlot replaces a time chart by a zoomable one.

pub(crate) mod boxes;
pub(crate) mod charts;
pub(crate) mod lines;
pub(crate) mod overlay;
pub(crate) mod panels;
pub(crate) mod svg;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod timeline;

pub(crate) const CSS: &str = concat!(
    include_str!("../../assets/uplot/uPlot.min.css"),
    "\n",
    include_str!("../../assets/report.css")
);

/// The rules for several runs in one drawing, for pages that have such drawings.
pub(crate) const PICTURE_CSS: &str = include_str!("../../assets/picture.css");

const REPORT_CSS: &str = include_str!("../../assets/report.css");

/// The rules of [`CSS`] for drawings.
pub(crate) fn drawing_rules() -> &'static str {
    let from = REPORT_CSS
        .split_once("/* Drawings */")
        .map_or(REPORT_CSS, |(_, rest)| rest);
    from.split_once("/* Panels */").map_or(from, |(rules, _)| rules)
}

/// The colours of a light page: name and value.
pub(crate) fn colours() -> impl Iterator<Item = (&'static str, &'static str)> {
    let root = REPORT_CSS.split('}').next().unwrap_or_default();
    let declared = root.split_once('{').map_or("", |(_, rest)| rest).split(';');
    declared
        .filter_map(|one| one.split_once(':'))
        .map(|(name, value)| (name.trim(), value.trim()))
}

/// CSS class of a verdict over profiles: a pass of only some limits looks different from a pass of all.
pub(crate) fn look(verdict: &'static str, is_partial_pass: bool) -> &'static str {
    if is_partial_pass { "partial" } else { verdict }
}
