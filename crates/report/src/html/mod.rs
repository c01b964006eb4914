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

/// CSS class of a verdict over profiles: a pass of only some limits looks different from a pass of all.
pub(crate) fn look(verdict: &'static str, is_partial_pass: bool) -> &'static str {
    if is_partial_pass { "partial" } else { verdict }
}
