//! The HTML report in a real browser: it opens without errors, shows the figures of the result document, zooms, opens
//! and closes, prints. Needs the Debian packages `chromium`, `chromium-driver` and `poppler-utils`.

mod shape;

use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::browser::Browser;

/// A report of a run that was never measured, and its result document.
fn make_report(directory: &Path, kind: &str) -> (PathBuf, Value) {
    let html = directory.join(format!("{kind}.html"));
    let program = env!("CARGO_BIN_EXE_synthetic_report");
    let made = Command::new(program).arg(&html).arg(kind).status().expect(program);
    assert!(made.success(), "{program}: {made}");
    let document = std::fs::read_to_string(format!("{}.json", html.display())).expect("the result document");
    (html, serde_json::from_str(&document).expect("JSON"))
}

/// Folder of the screenshots, next to other build results.
fn shots() -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report-shots");
    std::fs::create_dir_all(&directory).expect("a directory for screenshots");
    directory
}

/// The range of a chart, or nothing while it is not drawn.
fn range(browser: &Browser, chart: &str) -> (f64, f64) {
    let found = browser.run(&format!(
        "const d = document.querySelector('{chart}').dataset; return [Number(d.min), Number(d.max)];"
    ));
    (
        found[0].as_f64().expect("a number"),
        found[1].as_f64().expect("a number"),
    )
}

/// A point of a chart's drawing area, as shares of its width and height, in pixels of the window.
fn point(browser: &Browser, chart: &str, across: f64, down: f64) -> (i64, i64) {
    let found = browser.run(&format!(
        "const chart = document.querySelector('{chart}'); chart.scrollIntoView({{block: 'center'}});
         const box = chart.querySelector('.u-over').getBoundingClientRect();
         return [box.left + box.width * {across}, box.top + box.height * {down}];"
    ));
    (
        found[0].as_f64().expect("a number") as i64,
        found[1].as_f64().expect("a number") as i64,
    )
}

fn move_to((x, y): (i64, i64)) -> Value {
    json!({"type": "pointerMove", "duration": 30, "x": x, "y": y})
}

fn drag(browser: &Browser, from: (i64, i64), to: (i64, i64)) {
    let button = |kind: &str| json!({"type": kind, "button": 0});
    browser.mouse(&json!([
        move_to(from),
        button("pointerDown"),
        move_to(to),
        button("pointerUp")
    ]));
}

fn double_click(browser: &Browser, at: (i64, i64)) {
    let button = |kind: &str| json!({"type": kind, "button": 0});
    let (down, up) = (button("pointerDown"), button("pointerUp"));
    browser.mouse(&json!([move_to(at), down, up, down, up]));
}

/// Drags across the middle of a chart, checks that it shows a smaller range, and restores the whole range.
fn zooms(browser: &Browser, chart: &str) {
    browser.run(&format!(
        "document.querySelector('{chart}').scrollIntoView({{block: 'center'}});"
    ));
    browser.wait_for(
        &format!("{chart} is drawn"),
        &format!("return document.querySelector('{chart}').dataset.max !== undefined;"),
    );
    let whole = range(browser, chart);
    let (from, to) = (point(browser, chart, 0.3, 0.5), point(browser, chart, 0.6, 0.5));
    drag(browser, from, to);
    let part = range(browser, chart);
    assert!(part.0 > whole.0 && part.1 < whole.1, "{chart}: {part:?} of {whole:?}");
    double_click(browser, from);
    assert_eq!(range(browser, chart), whole, "{chart} after a double click");
}

#[test]
fn the_report_opens_shows_its_figures_zooms_and_prints() {
    let directory = tempfile::tempdir().expect("a directory");
    let browser = Browser::open();
    for kind in ["pass", "fail", "doubt"] {
        let (html, document) = make_report(directory.path(), kind);
        browser.resize(1280, 900);
        browser.go(&format!("file://{}", html.display()));
        browser.wait_for(
            "the first chart",
            "return document.documentElement.classList.contains('js');",
        );
        browser.screenshot(&shots().join(format!("{kind}-first.png")));
        shows_the_figures_of(&browser, &document);
        for chart in ["bars", "time"] {
            zooms(&browser, &format!(".chart[data-chart={chart}]"));
        }
        prints(&browser, &document, &shots().join(format!("{kind}.pdf")));
        whole_page(&browser, &shots().join(format!("{kind}-whole.png")));
        gives_its_figures(&browser);
        fits_a_narrow_screen(&browser);
        assert_eq!(
            browser.complaints(),
            Vec::<Value>::new(),
            "{kind}: the browser complained"
        );
    }
}

/// The page of an audit: it has every finding, causes no errors, and fits on a narrow screen.
#[test]
fn the_page_of_an_audit_opens_and_fits() {
    let directory = tempfile::tempdir().expect("a directory");
    let browser = Browser::open();
    for name in ["debian-untuned", "seapath-tuned", "docker-abb"] {
        let page = directory.path().join(format!("{name}.html"));
        let root = format!("{}/hosts/{name}/root", env!("CARGO_MANIFEST_DIR"));
        let html = page.to_str().expect("UTF-8");
        let output = support::run(&["audit", "--root", &root, "--cpus", "2-3", "--json", "--html", html]);
        let document = support::json(&output);
        browser.resize(1280, 900);
        browser.go(&format!("file://{}", page.display()));
        let text = browser.run("return document.body.textContent;");
        let text = text.as_str().expect("text");
        for finding in document["findings"].as_array().expect("findings") {
            if finding["outcome"] == "fail" {
                let id = finding["id"].as_str().expect("an id");
                assert!(text.contains(id), "{name}: no {id}");
            }
        }
        browser.screenshot(&shots().join(format!("audit-{name}.png")));
        fits_a_narrow_screen(&browser);
        assert_eq!(
            browser.complaints(),
            Vec::<Value>::new(),
            "{name}: the browser complained"
        );
    }
}

/// Verdict, checks and maxima on the page are those of the document.
fn shows_the_figures_of(browser: &Browser, document: &Value) {
    let verdict = browser.run("return document.getElementById('verdict').textContent.trim();");
    let word = document["verdict"]
        .as_str()
        .map(|word| match document["coverage"].as_str() {
            Some("partial") if word == "pass" => "partial pass",
            _ => word,
        });
    assert_eq!(verdict.as_str().map(str::to_lowercase).as_deref(), word);
    let checks = browser.run("return document.querySelectorAll('tr.check [data-measured]').length;");
    assert_eq!(
        checks.as_u64(),
        document["checks"].as_array().map(|checks| checks.len() as u64)
    );
    for series in document["series"].as_array().expect("series") {
        let name = series["name"].as_str().expect("a name");
        let shown = browser.run(&format!(
            "return document.querySelector('[data-max-of=\"{name}\"]').textContent;"
        ));
        let max_ns = series["max"].as_f64().expect("a maximum");
        assert_eq!(shown.as_str(), Some(units::format_ns(max_ns).as_str()), "{name}");
    }
}

/// A chart's figures as CSV: a header with the names of the lines, and a row for each window.
fn gives_its_figures(browser: &Browser) {
    let text = browser.run(
        "const link = document.querySelector('[data-csv=time]'); let blob;
         const made = URL.createObjectURL; URL.createObjectURL = (b) => { blob = b; return made.call(URL, b); };
         link.addEventListener('click', (event) => event.preventDefault()); link.click(); URL.createObjectURL = made;
         return link.download + '\\n' + blob.size;",
    );
    let (name, size) = text
        .as_str()
        .and_then(|text| text.split_once('\n'))
        .expect("a name and a size");
    assert!(name.ends_with("-wakeup-time.csv"), "{name}");
    assert!(size.parse::<u64>().is_ok_and(|size| size > 500), "{size} octets");
}

/// On a screen of 420 pixels, no part makes the whole page scroll sideways.
fn fits_a_narrow_screen(browser: &Browser) {
    browser.in_session(
        "POST",
        "/goog/cdp/execute",
        &json!({"cmd": "Emulation.setDeviceMetricsOverride",
                "params": {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": false}}),
    );
    let width = browser.run("return document.documentElement.scrollWidth;");
    assert_eq!(width, json!(420));
    browser.in_session(
        "POST",
        "/goog/cdp/execute",
        &json!({"cmd": "Emulation.clearDeviceMetricsOverride", "params": {}}),
    );
}

/// On paper, the record comes first, and every check has its reason and its source, also in tables that are folded on the screen.
fn prints(browser: &Browser, document: &Value, path: &Path) {
    let record = "return document.getElementById('record').getBoundingClientRect().height;";
    assert_eq!(browser.run(record), json!(0), "the record is for paper");
    let pdf = browser.print();
    assert!(pdf.starts_with(b"%PDF"));
    let pages = pdf
        .windows(12)
        .filter(|octets| octets.starts_with(b"/Type /Page\n"))
        .count();
    assert!((4..=16).contains(&pages), "{pages} pages");
    std::fs::write(path, pdf).expect("the PDF is written");
    let printed = words_of(path);
    assert!(!document["checks"].as_array().expect("checks").is_empty());
    for check in document["checks"].as_array().expect("checks") {
        for key in ["limit", "series", "why", "source"] {
            let text = check[key].as_str().expect("a text");
            assert!(printed.contains(&letters(text)), "{key} is not on paper: {check}");
        }
    }
}

/// Letters and digits alone: spaces and hyphens change where lines are broken.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// The text of a PDF.
fn words_of(pdf: &Path) -> String {
    let output = Command::new("pdftotext").arg(pdf).arg("-").output();
    let output = output.expect("the Debian package poppler-utils");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    letters(&String::from_utf8_lossy(&output.stdout))
}

fn whole_page(browser: &Browser, path: &Path) {
    let height = browser.run("scrollTo(0, 0); return document.documentElement.scrollHeight;");
    browser.resize(
        1280,
        u32::try_from(height.as_u64().unwrap_or(4000))
            .unwrap_or(4000)
            .min(15_000),
    );
    browser.wait_for(
        "charts in sight are drawn",
        "return document.querySelectorAll('.chart.live').length > 0;",
    );
    browser.screenshot(path);
}

/// The page of a run file, made by the program; returns its size in bytes.
fn page_of(run_file: &Path) -> (PathBuf, u64) {
    let page = run_file.with_extension("html");
    let [file, html] = [run_file, &page].map(|path| path.to_str().expect("UTF-8"));
    let output = support::run(&["report", "--limits", "substation", "--html", html, file]);
    assert!(
        matches!(output.status.code(), Some(0 | 1 | 3)),
        "{}",
        support::stderr(&output)
    );
    let octets = std::fs::metadata(&page).expect("the page").len();
    (page, octets)
}

/// Largest size in bytes of a page for a run of the plan `substation`, and largest number of screens of 1280 by 900 pixels for a run of `quick`
/// and for two of them side by side.
const MOST_OCTETS: u64 = 2_000_000;
const MOST_SCREENS: f64 = 12.0;

#[test]
fn pages_of_the_plans_stay_small() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let series = shape::SUBSTATION.write(&path("substation.triptime"));
    assert!(series > 300, "{series} series");
    let (substation, octets) = page_of(&path("substation.triptime"));
    assert!(octets < MOST_OCTETS, "{octets} octets for {series} series");

    shape::QUICK.write(&path("quick.triptime"));
    let (quick, _) = page_of(&path("quick.triptime"));
    let browser = Browser::open();
    looks_whole(&browser, &substation, "substation");
    let screens = looks_whole(&browser, &quick, "quick");
    assert!((1.0..MOST_SCREENS).contains(&screens), "{screens} screens");
    let figures = format!("substation: {series} series, {octets} octets; quick: {screens:.1} screens");
    let _ = writeln!(std::io::stdout(), "{figures}");
}

/// A page of all series of two runs would have no end, whether nothing differs or everything does.
#[test]
fn the_comparison_of_two_quick_runs_stays_small() {
    let directory = tempfile::tempdir().expect("a directory");
    let browser = Browser::open();
    browser.resize(1280, 900);
    for (after, times) in [("again", 1), ("slower", 2)] {
        let path = |name: &str| directory.path().join(name).display().to_string();
        let (runs, page) = (
            ["before", after].map(|name| path(&format!("{name}.triptime"))),
            path(after),
        );
        let page = format!("{page}.html");
        let [one, other] = [shape::QUICK, shape::QUICK.again(1_000, times)];
        one.write(Path::new(&runs[0]));
        other.write(Path::new(&runs[1]));
        let output = support::run(&["compare", &runs[0], &runs[1], "--html", &page]);
        assert_eq!(output.status.code(), Some(0), "{}", support::stderr(&output));
        browser.go(&format!("file://{page}"));
        let name = format!("compare-{after}");
        browser.screenshot(&shots().join(format!("{name}.png")));
        let screens = screens(&browser, &name);
        assert!((1.0..MOST_SCREENS).contains(&screens), "{name}: {screens} screens");
        let of_runs =
            browser.run("return [...document.querySelectorAll('td')].map((cell) => cell.textContent.trim());");
        let cells = of_runs.as_array().expect("cells");
        assert!(
            ["before", after].iter().all(|name| cells.contains(&json!(name))),
            "{cells:?}"
        );
        std::fs::remove_file(&runs[0]).expect("removed");
        let _ = writeln!(std::io::stdout(), "{name}: {screens:.1} screens");
    }
}

/// Opens a page with charts on a screen of 1280 by 900 pixels; returns its length in screens.
fn looks_whole(browser: &Browser, page: &Path, name: &str) -> f64 {
    browser.resize(1280, 900);
    browser.go(&format!("file://{}", page.display()));
    browser.wait_for(
        "the first chart",
        "return document.documentElement.classList.contains('js');",
    );
    browser.screenshot(&shots().join(format!("{name}-first.png")));
    whole_page(browser, &shots().join(format!("{name}-whole.png")));
    browser.resize(1280, 900);
    screens(browser, name)
}

/// Length of a page that nothing in the browser complains about, in screens.
fn screens(browser: &Browser, name: &str) -> f64 {
    assert_eq!(
        browser.complaints(),
        Vec::<Value>::new(),
        "{name}: the browser complained"
    );
    let screens = browser.run(
        "if (document.getElementById('contradictions')) return 'the run file contradicts itself';
         return document.documentElement.scrollHeight / 900;",
    );
    screens.as_f64().unwrap_or_else(|| panic!("{screens}"))
}
