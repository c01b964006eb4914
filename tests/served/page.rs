//! The page in a browser, while fifty others read it too.

use super::{read_by, within};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use support::browser::Browser;

/// Waits until the page has renewed itself once more without a fault.
fn renewed(browser: &Browser) {
    let looks = || {
        browser
            .run("return Number(document.documentElement.dataset.looks || 0);")
            .as_u64()
    };
    let (before, until) = (looks(), Instant::now() + Duration::from_secs(40));
    while looks() == before {
        assert!(Instant::now() < until, "it does not renew itself");
        std::thread::sleep(Duration::from_millis(100));
    }
    let said =
        browser.run("const told = document.getElementById('stale'); return told.hidden ? '' : told.textContent;");
    assert_eq!(said, json!(""), "it gets answers");
}

fn shots() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("live-shots");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn the_page_renews_itself_keeps_the_place_and_fits_a_phone_in_the_dark() {
    let served = within("60s", &[]);
    served.until("/", "course-wakeup");
    let browser = Browser::open();
    browser.go(&format!("http://127.0.0.1:{}/", served.way.port()));
    std::thread::scope(|scope| {
        let until = Instant::now() + Duration::from_secs(12);
        let served = &served;
        scope.spawn(move || read_by(served, 50, |_| Instant::now() < until));
        renewed(&browser);
        goes_on(&browser);
        keeps_the_place(&browser);
        fits(&browser);
    });
    needs_nothing_else(&browser);
    let (status, said, _) = served.end();
    assert_eq!(status, Some(3), "{said}");
    browser.wait_for(
        "it tells that nobody answers",
        "return !document.getElementById('stale').hidden;",
    );
    browser.screenshot(&shots().join("ended.png"));
    let dimmed = browser.run("return document.documentElement.classList.contains('stale');");
    assert_eq!(dimmed, json!(true));
}

/// The figures go on without loading the page again, and the verdict is one so far.
fn goes_on(browser: &Browser) {
    let figures =
        "return [document.querySelector('#course-wakeup td:nth-child(2)').textContent, performance.timeOrigin];";
    let before = browser.run(figures);
    let until = Instant::now() + Duration::from_secs(80);
    // One that took long to make is kept for longer than the page waits.
    let after = loop {
        renewed(browser);
        let after = browser.run(figures);
        if after[0] != before[0] || Instant::now() > until {
            break after;
        }
    };
    assert_ne!(before[0], after[0], "the number of samples");
    assert_eq!(before[1], after[1], "it was not loaded again");
    let verdict = browser.run("return document.getElementById('verdict').textContent;");
    assert_eq!(verdict, json!("Within so far"));
    assert!(
        browser
            .run("return document.title;")
            .as_str()
            .is_some_and(|title| title.starts_with("Within so far"))
    );
}

/// The part at the upper edge of the window stays there.
fn keeps_the_place(browser: &Browser) {
    // Lower parts are longer than the window: the place is not the page's end.
    browser.resize(900, 300);
    browser.run("const parts = document.getElementById('parts').children; parts[Math.floor(parts.length / 3)].scrollIntoView();");
    let top = "const parts = document.getElementById('parts').children;
        return parts[Math.floor(parts.length / 3)].getBoundingClientRect().top;";
    let before = browser.run(top).as_f64().expect("a number");
    assert!((0.0..48.0).contains(&before), "{before}: it is below the bar");
    renewed(browser);
    renewed(browser);
    let after = browser.run(top).as_f64().expect("a number");
    assert!((before - after).abs() < 3.0, "{before} before, {after} after");
}

/// A phone's width needs no scrolling sideways; in the dark it is dark.
fn fits(browser: &Browser) {
    let phone = json!({"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true});
    browser.devtools("Emulation.setDeviceMetricsOverride", &phone);
    for scheme in ["light", "dark"] {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.devtools("Emulation.setEmulatedMedia", &features);
        browser.run("window.scrollTo(0, 0);");
        renewed(browser);
        let wide = browser.run("return document.documentElement.scrollWidth;");
        assert_eq!(wide, json!(360), "{scheme}");
        let paper = browser.run("return getComputedStyle(document.body).backgroundColor;");
        let channels = paper
            .as_str()
            .expect("a colour")
            .trim_start_matches("rgb(")
            .trim_end_matches(')');
        let brightness: u32 = channels
            .split(", ")
            .filter_map(|channel| channel.parse::<u32>().ok())
            .sum();
        assert_eq!(brightness > 380, scheme == "light", "{scheme}: {paper}");
        browser.screenshot(&shots().join(format!("phone-{scheme}.png")));
    }
    browser.devtools("Emulation.clearDeviceMetricsOverride", &json!({}));
}

/// Everything comes from this server, and the browser has nothing to complain of.
fn needs_nothing_else(browser: &Browser) {
    let others = browser.run(
        "return performance.getEntriesByType('resource').map((one) => one.name).filter((name) => !name.startsWith(location.origin));",
    );
    assert_eq!(others, json!([]));
    assert_eq!(browser.complaints(), Vec::<Value>::new());
}
