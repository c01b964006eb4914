//! Drawings of the page, as SVG; where scripts run, uPlot lays a zoomable chart over a chart of time.

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

/// How a verdict over profiles looks: a pass of some limits only is another thing than one of all.
pub(crate) fn look(verdict: &'static str, is_partial_pass: bool) -> &'static str {
    if is_partial_pass { "partial" } else { verdict }
}
