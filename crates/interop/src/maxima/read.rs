//! Reads the text of a log: a line with the names, then a line for each report.

use super::MaximaError;
use jiff::Timestamp;
use model::Kind;
use units::{Refusal, refusal};

/// Name of the first column.
const TIME: &str = "time";

/// Units of a largest sample, and their length in ns.
const UNITS: [(&str, u64); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// The columns of a quantity.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    /// Name of its series: `task/F1`.
    pub(super) name: String,
    pub(super) kind: &'static Kind,
    unit_ns: u64,
    /// The smallest step of its values, in ns, by the digits of the first one.
    pub(super) step_ns: u64,
    count_at: usize,
    max_at: usize,
}

impl Column {
    /// The measured object: `F1` in `task/F1`.
    pub(super) fn label(&self) -> &str {
        self.name.split_once('/').map_or(&self.name, |(_, label)| label)
    }
}

/// A report: its instant in ns since 1970 and, for each quantity, the number of samples and the largest in ns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Report {
    pub(super) at_ns: i64,
    pub(super) values: Vec<Option<(u64, i64)>>,
}

/// The first line that says something, with its number.
pub(super) fn head(text: &str) -> Option<(usize, &str)> {
    lines(text).next()
}

/// True if a line names the columns of such a log, rightly or not.
pub(super) fn names_columns(head: &str) -> bool {
    let mut names = head.split(',').map(str::trim);
    names.next() == Some(TIME) && names.any(|name| name.ends_with(" count") || name.contains(" max_"))
}

/// The lines that say something, with their numbers.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let trimmed = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    trimmed.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

/// The columns by the line with the names.
pub(super) fn columns(file: &str, head: &str) -> Result<Vec<Column>, MaximaError> {
    let wrong = |why: String| MaximaError::Wrong {
        file: file.to_owned(),
        line: 1,
        why,
    };
    let names: Vec<&str> = head.split(',').map(str::trim).collect();
    if names.first() != Some(&TIME) {
        return Err(wrong(format!("the first column is {TIME}")));
    }
    let mut columns: Vec<Column> = Vec::new();
    for (at, text) in names.iter().enumerate().skip(1) {
        let (name, what) = text.rsplit_once(' ').unwrap_or((text, ""));
        if what == "count" {
            continue;
        }
        let unit = what
            .strip_prefix("max_")
            .and_then(|unit| UNITS.iter().find(|(name, _)| *name == unit));
        let Some((_, unit_ns)) = unit else {
            return Err(wrong(format!(
                "column \"{text}\": name it \"QUANTITY count\" or \"QUANTITY max_us\" (max_ns, max_us, max_ms, max_s)"
            )));
        };
        let kind = Kind::of_series(name).filter(|_| name.split_once('/').is_some_and(|(_, label)| !label.is_empty()));
        let kind = kind.ok_or_else(|| {
            wrong(format!(
                "column \"{text}\": a quantity is named KIND/NAME with a kind of triptime's series, such as task/F1, use/MU01, age/MU01"
            ))
        })?;
        let count = format!("{name} count");
        let count_at = names.iter().position(|other| *other == count);
        let count_at =
            count_at.ok_or_else(|| wrong(format!("{name} has no column \"{count}\": a maximum of how many?")))?;
        if columns.iter().any(|known| known.name == name) {
            return Err(wrong(format!("{name} has two maxima")));
        }
        columns.push(Column {
            name: name.to_owned(),
            kind,
            unit_ns: *unit_ns,
            step_ns: *unit_ns,
            count_at,
            max_at: at,
        });
    }
    match columns.is_empty() {
        true => Err(wrong(
            "no quantity: name columns as \"task/F1 count\" and \"task/F1 max_us\"".to_owned(),
        )),
        false => Ok(columns),
    }
}

/// The quantities and the reports, at least one, in ascending order of time.
pub(super) fn parse(file: &str, text: &str) -> Result<(Vec<Column>, Vec<Report>), MaximaError> {
    let wrong = |line: usize, why: String| MaximaError::Wrong {
        file: file.to_owned(),
        line,
        why,
    };
    let (number, head) = head(text).ok_or_else(|| MaximaError::Empty(file.to_owned()))?;
    let mut columns = columns(file, head).map_err(|error| error.at(number))?;
    let width = head.split(',').count();
    let mut reports: Vec<Report> = Vec::new();
    for (number, line) in lines(text).skip(1) {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != width {
            return Err(wrong(number, format!("{} fields, and {width} names", cells.len())));
        }
        let at_ns = instant(cells[0]).ok_or_else(|| {
            wrong(
                number,
                format!(
                    "time \"{}\": write 2026-11-29T10:00:20Z, or seconds since 1970",
                    cells[0]
                ),
            )
        })?;
        if reports.last().is_some_and(|last| last.at_ns >= at_ns) {
            return Err(wrong(number, "not later than the report before it".to_owned()));
        }
        let values = columns.iter_mut().map(|column| column.value(&cells));
        let values = values
            .collect::<Result<_, Refusal>>()
            .map_err(|why| wrong(number, why.into()))?;
        reports.push(Report { at_ns, values });
    }
    match reports.is_empty() {
        true => Err(MaximaError::Empty(file.to_owned())),
        false => Ok((columns, reports)),
    }
}

impl MaximaError {
    /// The error at another line.
    fn at(self, number: usize) -> Self {
        match self {
            Self::Wrong { file, why, .. } => Self::Wrong {
                file,
                line: number,
                why,
            },
            other => other,
        }
    }
}

impl Column {
    /// Number of samples and the largest one; `None` if the report has no sample.
    fn value(&mut self, cells: &[&str]) -> Result<Option<(u64, i64)>, Refusal> {
        let (count, max) = (cells[self.count_at], cells[self.max_at]);
        let name = &self.name;
        let number = match count {
            "" => 0,
            text => text
                .parse::<u64>()
                .map_err(|_| refusal!("{name} count \"{text}\" is not a whole number"))?,
        };
        match (number, max) {
            (0, "") => return Ok(None),
            (0, max) => return Err(refusal!("{name}: a largest sample of \"{max}\", and none counted")),
            (_, "") => return Err(refusal!("{name}: {number} samples, and no largest one")),
            _ => {}
        }
        let (ns, step_ns) = decimal(max, self.unit_ns)
            .ok_or_else(|| refusal!("{name}: a largest sample of \"{max}\": write a decimal number such as 431.25"))?;
        self.step_ns = self.step_ns.min(step_ns);
        // Digits that are not there may have been cut off: the longest that the sample can have been.
        let longest = ns.checked_add(step_ns - 1).and_then(|ns| i64::try_from(ns).ok());
        let longest = longest.ok_or_else(|| refusal!("{name}: \"{max}\" is longer than a run can hold"))?;
        Ok(Some((number, longest)))
    }
}

/// A decimal number of units in ns, rounded up, and the value of its last digit in ns, at least 1.
fn decimal(text: &str, unit_ns: u64) -> Option<(u64, u64)> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|octet| octet.is_ascii_digit());
    if whole.is_empty() || whole.len() > 12 || part.len() > 12 || !is_digits(whole) || !is_digits(part) {
        return None;
    }
    let scale = 10u128.pow(u32::try_from(part.len()).ok()?);
    let digits: u128 = format!("{whole}{part}").parse().ok()?;
    let ns = (digits * u128::from(unit_ns)).div_ceil(scale);
    Some((
        u64::try_from(ns).ok()?,
        u64::try_from(u128::from(unit_ns) / scale).ok()?.max(1),
    ))
}

/// An instant: RFC 3339, or seconds since 1970 with up to nine decimals.
fn instant(text: &str) -> Option<i64> {
    let seconds = |text: &str| decimal(text, 1_000_000_000).and_then(|(ns, _)| i64::try_from(ns).ok());
    seconds(text).or_else(|| i64::try_from(text.parse::<Timestamp>().ok()?.as_nanosecond()).ok())
}
