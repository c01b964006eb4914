//! Actions of a plan, in the HTML page.

use super::{HEADS, TITLE, command, lines, meaning, shown};
use crate::Report;
use askama::Template;

/// Most executions on the page.
const MOST: usize = 500;

#[derive(Template)]
#[template(
    ext = "html",
    source = r##"
<section id="actions">
  <h2>{{ title }}</h2>
  <p class="what">{{ meaning }}{% if left_out > 0 %} {{ left_out }} more executions are in the result document.{% endif %}</p>
  <table class="figures">
    <thead><tr>{% for head in heads %}<th{% if loop.index0 > 0 && loop.index0 != 3 && loop.index0 != 5 %} class="n"{% endif %}>{{ head }}</th>{% endfor %}</tr></thead>
    <tbody>{% for row in rows %}{% for line in row.lines %}<tr>{% for cell in line %}<td{% if loop.index0 > 0 && loop.index0 != 3 && loop.index0 != 5 %} class="n"{% endif %}>{{ cell }}</td>{% endfor %}</tr>{% endfor %}<tr><td colspan="9" class="dim">{{ row.command }}</td></tr>{% endfor %}</tbody>
  </table>
</section>
"##
)]
struct Html {
    title: &'static str,
    meaning: String,
    left_out: usize,
    heads: [&'static str; 9],
    rows: Vec<Part>,
}

struct Part {
    lines: Vec<[String; 9]>,
    command: String,
}

/// The section of the page; empty without actions.
pub(super) fn html(report: &Report) -> askama::Result<String> {
    let run = &report.run;
    if run.actions.is_empty() {
        return Ok(String::new());
    }
    let (rows, left_out) = shown(super::cost::rows(run), MOST);
    let part = |row: &super::Row<'_>| Part {
        lines: lines(row),
        command: command(row),
    };
    Html {
        title: TITLE,
        meaning: meaning(run, &rows),
        left_out,
        heads: HEADS,
        rows: rows.iter().map(part).collect(),
    }
    .render()
}

#[cfg(test)]
mod tests {
    use crate::Report;
    use crate::subjects::actions::cost::tests::{action, measured};

    #[test]
    fn commands_on_the_page_are_text() {
        let mut evil = action("a", 30, 45);
        evil.line = "echo '<script>'".to_owned();
        let page = super::html(&Report::new(measured(vec![evil]), Vec::new())).expect("a page");
        assert!(page.contains("300 µs") && page.contains("script"), "{page}");
        assert!(!page.contains("<script>"), "{page}");
        assert_eq!(
            super::html(&Report::new(measured(Vec::new()), Vec::new())).expect("a page"),
            ""
        );
    }
}
