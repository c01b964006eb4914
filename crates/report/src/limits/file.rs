//! The TOML form of a profile.

use super::counted::refusal;
use super::decision::{self, DecisionFile};
use super::{Class, Limit, LimitsError, Pattern, Profile, Quantity, Requirement, Sense, Unit, Until, Wanted};
use serde::Deserialize;
use std::collections::HashSet;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProfileFile {
    name: Spanned<String>,
    what: String,
    #[serde(default)]
    limit: Vec<LimitFile>,
    #[serde(default)]
    require: Vec<RequireFile>,
    decision: Option<DecisionFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequireFile {
    id: Spanned<String>,
    name: Option<Spanned<String>>,
    group: Spanned<String>,
    fact: Spanned<String>,
    is: Option<Spanned<String>>,
    at_most: Option<u64>,
    at_least: Option<u64>,
    #[serde(default)]
    unit: String,
    source: Spanned<String>,
    #[serde(default)]
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitFile {
    id: Spanned<String>,
    name: Option<Spanned<String>>,
    series: Spanned<String>,
    quantity: Spanned<String>,
    allowed: Option<Spanned<Amount>>,
    at_least: Option<Spanned<Amount>>,
    source: Spanned<String>,
    #[serde(default)]
    why: String,
    #[serde(default)]
    classes: Vec<Spanned<ClassFile>>,
    samples: Option<u64>,
    exposure: Option<Spanned<String>>,
    stamps: Option<Spanned<String>>,
    load: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassFile {
    under: Option<String>,
    at_most: Option<String>,
    is: String,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a duration in quotes (\"120us\") or a count (0)")]
enum Amount {
    Count(u64),
    Duration(String),
}

/// The position of values, for error messages.
pub(super) struct LimitsText<'a> {
    text: &'a str,
    origin: &'a str,
    /// True if the profile was given, and was not read from a run.
    is_given: bool,
}

impl LimitsText<'_> {
    pub(super) fn error<T>(&self, value: &Spanned<T>, key: &'static str, problem: String) -> LimitsError {
        let before = self.text.get(..value.span().start).unwrap_or_default();
        LimitsError::Value {
            origin: self.origin.to_owned(),
            line: before.matches('\n').count() + 1,
            key,
            problem,
        }
    }

    fn not_empty(&self, value: &Spanned<String>, key: &'static str) -> Result<String, LimitsError> {
        if value.get_ref().trim().is_empty() {
            return Err(self.error(value, key, "must not be empty".into()));
        }
        Ok(value.get_ref().clone())
    }

    /// The name for people: without one, the id.
    fn name(&self, given: Option<&Spanned<String>>, id: &Spanned<String>) -> Result<String, LimitsError> {
        given.map_or_else(|| Ok(id.get_ref().clone()), |name| self.not_empty(name, "name"))
    }

    /// A pattern whose alternatives are all non-empty.
    fn pattern(&self, value: &Spanned<String>, key: &'static str) -> Result<Pattern, LimitsError> {
        let pattern = Pattern::new(self.not_empty(value, key)?);
        if pattern.alternatives().any(str::is_empty) {
            let problem =
                "there is nothing on one side of a \"|\", which matches nothing: write a name there, or leave it out";
            return Err(self.error(value, key, problem.into()));
        }
        Ok(pattern)
    }
}

pub(super) fn parse(text: &str, origin: &str, is_given: bool) -> Result<Profile, LimitsError> {
    let place = LimitsText { text, origin, is_given };
    let file: ProfileFile = toml::from_str(text).map_err(|error| LimitsError::Toml {
        origin: origin.to_owned(),
        message: error.to_string().trim_end().to_owned(),
    })?;
    let name = place.not_empty(&file.name, "name")?;
    if file.limit.is_empty() && file.require.is_empty() {
        return Err(place.error(
            &file.name,
            "limit",
            "the profile has no [[limit]] and no [[require]]: it could judge nothing".into(),
        ));
    }
    let ids = file.limit.iter().map(|limit| &limit.id);
    unique(ids.chain(file.require.iter().map(|require| &require.id)), &place)?;
    let limits = file.limit.iter().map(|limit| one(limit, &place));
    let requirements = file.require.iter().map(|require| requirement(require, &place));
    Ok(Profile {
        name,
        what: file.what,
        limits: limits.collect::<Result<_, _>>()?,
        requirements: requirements.collect::<Result<_, _>>()?,
        decision: decision::of(file.decision.as_ref(), &place)?,
    })
}

fn unique<'a>(ids: impl Iterator<Item = &'a Spanned<String>>, place: &LimitsText<'_>) -> Result<(), LimitsError> {
    let mut seen = HashSet::new();
    for id in ids {
        let name = place.not_empty(id, "id")?;
        if !seen.insert(name.clone()) {
            let problem = format!("\"{name}\" is used twice; each limit needs its own id");
            return Err(place.error(id, "id", problem));
        }
    }
    Ok(())
}

fn requirement(require: &RequireFile, place: &LimitsText<'_>) -> Result<Requirement, LimitsError> {
    let wanted = match (&require.is, require.at_most, require.at_least) {
        (Some(word), None, None) => Wanted::Is(place.not_empty(word, "is")?),
        (None, Some(number), None) => Wanted::AtMost(number),
        (None, None, Some(number)) => Wanted::AtLeast(number),
        _ => {
            let problem = format!(
                "requirement \"{}\" needs exactly one of is, at_most and at_least",
                require.id.get_ref()
            );
            return Err(place.error(&require.id, "is", problem));
        }
    };
    Ok(Requirement {
        id: require.id.get_ref().clone(),
        name: place.name(require.name.as_ref(), &require.id)?,
        group: place.pattern(&require.group, "group")?,
        fact: place.not_empty(&require.fact, "fact")?,
        wanted,
        unit: require.unit.clone(),
        source: place.not_empty(&require.source, "source")?,
        why: require.why.clone(),
    })
}

fn one(limit: &LimitFile, place: &LimitsText<'_>) -> Result<Limit, LimitsError> {
    let word = limit.quantity.get_ref();
    let quantity = Quantity::from_word(word).ok_or_else(|| {
        let known: Vec<&str> = Quantity::ALL.iter().map(|quantity| quantity.word()).collect();
        place.error(
            &limit.quantity,
            "quantity",
            format!("\"{word}\" is not known; write one of {}", known.join(", ")),
        )
    })?;
    let series = place.pattern(&limit.series, "series")?;
    if let Some(problem) = refusal(&series, quantity).filter(|_| place.is_given) {
        return Err(place.error(&limit.quantity, "quantity", problem));
    }
    Ok(Limit {
        id: limit.id.get_ref().clone(),
        name: place.name(limit.name.as_ref(), &limit.id)?,
        series,
        quantity,
        allowed: amount(limit, quantity, place)?,
        source: place.not_empty(&limit.source, "source")?,
        why: limit.why.clone(),
        classes: classes(limit, quantity, place)?,
        samples: limit.samples,
        exposure_ns: exposure(limit, place)?,
        needs_known_stamps: word_of(limit.stamps.as_ref(), "stamps", KNOWN, place)?,
        needs_load: word_of(limit.load.as_ref(), "load", REQUIRED, place)?,
    })
}

/// The least measured time.
fn exposure(limit: &LimitFile, place: &LimitsText<'_>) -> Result<Option<u64>, LimitsError> {
    let Some(text) = &limit.exposure else { return Ok(None) };
    let ns = units::parse_ns(text.get_ref()).map_err(|error| place.error(text, "exposure", error.to_string()))?;
    Ok(Some(ns))
}

/// The only word of the key `stamps`.
const KNOWN: &str = "known";
/// The only word of the key `load`.
const REQUIRED: &str = "required";

/// True if the key is there, with its only word.
fn word_of(
    given: Option<&Spanned<String>>,
    key: &'static str,
    word: &str,
    place: &LimitsText<'_>,
) -> Result<bool, LimitsError> {
    match given {
        None => Ok(false),
        Some(given) if given.get_ref() == word => Ok(true),
        Some(other) => Err(place.error(other, key, format!("write \"{word}\", or leave the key out"))),
    }
}

/// The classes of a limit: all except the last have an end, in ascending order.
fn classes(limit: &LimitFile, quantity: Quantity, place: &LimitsText<'_>) -> Result<Vec<Class>, LimitsError> {
    let mut classes: Vec<Class> = Vec::new();
    for (at, file) in limit.classes.iter().enumerate() {
        let error = |problem: &str| place.error(file, "classes", problem.to_owned());
        let end = |text: &str| units::parse_ns(text).map_err(|problem| error(&problem.to_string()));
        let class = file.get_ref();
        let is_last = at + 1 == limit.classes.len();
        let until = match (&class.under, &class.at_most) {
            (None, None) if is_last => Until::Open,
            (Some(under), None) if !is_last => Until::Under(end(under)?),
            (None, Some(at_most)) if !is_last => Until::AtMost(end(at_most)?),
            _ => {
                return Err(error(
                    "each class except the last needs under or at_most; the last takes neither",
                ));
            }
        };
        if class.is.trim().is_empty() || quantity.unit() != Unit::Ns {
            return Err(error(
                "classes are for durations, and each needs a name: write it after is",
            ));
        }
        if classes.last().is_some_and(|before| before.until.rank() >= until.rank()) {
            return Err(error("each class must end above the one before"));
        }
        classes.push(Class {
            until,
            is: class.is.clone(),
        });
    }
    Ok(classes)
}

/// The value of `allowed` or, for a quantity that must not fall below its limit, of `at_least`.
fn amount(limit: &LimitFile, quantity: Quantity, place: &LimitsText<'_>) -> Result<u64, LimitsError> {
    let (key, wanted, other) = match quantity.sense() {
        Sense::AtMost => ("allowed", &limit.allowed, &limit.at_least),
        Sense::AtLeast => ("at_least", &limit.at_least, &limit.allowed),
    };
    if let Some(other) = other {
        let problem = format!("the quantity {} is judged by the key \"{key}\"", quantity.word());
        let wrong = if key == "allowed" { "at_least" } else { "allowed" };
        return Err(place.error(other, wrong, problem));
    }
    let Some(value) = wanted else {
        let problem = format!("is missing in limit \"{}\"", limit.id.get_ref());
        return Err(place.error(&limit.id, key, problem));
    };
    match (value.get_ref(), quantity.unit()) {
        (Amount::Count(0), Unit::Count) if key == "at_least" => Err(place.error(
            value,
            key,
            "0 is reached by a series of which nothing came: write 1 or more".to_owned(),
        )),
        (Amount::Count(count), Unit::Count) => Ok(*count),
        (Amount::Duration(text), Unit::Ns) => {
            units::parse_ns(text).map_err(|error| place.error(value, key, error.to_string()))
        }
        (Amount::Count(count), Unit::Ns) => Err(place.error(
            value,
            key,
            format!(
                "{} is a duration: write \"{count}us\" or another unit, in quotes",
                quantity.word()
            ),
        )),
        (Amount::Duration(text), Unit::Count) => Err(place.error(
            value,
            key,
            format!(
                "{} is a count: write a whole number without quotes, not \"{text}\"",
                quantity.word()
            ),
        )),
    }
}
