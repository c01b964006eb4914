//! Texts of rules with placeholders: `{rt_cpus}`, `{hk_mask}`, `{cpu}`, `{nic}`, or any other fact.

use units::CpuList;

use super::facts::{Facts, Subject};
use super::value::{Unknown, Value};

/// Text with every placeholder replaced: CPUs as a list (`2-3`), `…_mask` of a CPU fact in hexadecimal (`c`), `…_count` as a number.
///
/// # Errors
/// A fact of a placeholder is unknown, or contains no CPU: a setting without CPUs would change the rule's meaning.
pub fn fill(text: &str, facts: &Facts, part: Option<&Subject>) -> Result<String, Unknown> {
    replaced(text, |name| place(name, facts, part))
}

/// Same as [`fill`], for a person: an unknown fact appears by its name, as in `nohz_full=RT_CPUS`.
pub fn shown(text: &str, facts: &Facts, part: Option<&Subject>) -> String {
    let filled = replaced(text, |name| {
        Ok(place(name, facts, part).unwrap_or_else(|_| name.to_uppercase()))
    });
    filled.unwrap_or_else(|_: Unknown| text.to_owned())
}

fn replaced(text: &str, value: impl Fn(&str) -> Result<String, Unknown>) -> Result<String, Unknown> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let place = after.split_once('}').filter(|(name, _)| is_name(name));
        out.push_str(before);
        match place {
            Some((name, behind)) => {
                out.push_str(&value(name)?);
                rest = behind;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

fn place(name: &str, facts: &Facts, part: Option<&Subject>) -> Result<String, Unknown> {
    let (fact, form) = match name.rsplit_once('_') {
        Some((stem, "mask")) => (format!("{stem}_cpus"), "mask"),
        Some((stem, "count")) => (format!("{stem}_cpus"), "count"),
        _ => (name.to_owned(), "list"),
    };
    match facts.get(part, &fact)? {
        Value::Cpus(cpus) if cpus.is_empty() => Err(Unknown::unclear(format!("{fact}: no CPU"))),
        Value::Cpus(cpus) => Ok(match form {
            "mask" => mask(&cpus),
            "count" => cpus.len().to_string(),
            _ => cpus.to_string(),
        }),
        other => Ok(other.to_string()),
    }
}

/// A mask in the kernel's notation: groups of 32 bits in hexadecimal, the highest first.
pub(crate) fn mask(cpus: &CpuList) -> String {
    let highest = cpus.iter().last().unwrap_or(0) / 32;
    let group = |index: u32| {
        let bits = cpus
            .iter()
            .filter(|cpu| cpu / 32 == index)
            .map(|cpu| 1u32 << (cpu % 32));
        bits.fold(0, |mask, bit| mask | bit)
    };
    let groups = (0..=highest).rev().map(group).enumerate();
    let texts = groups.map(|(at, bits)| {
        if at == 0 {
            format!("{bits:x}")
        } else {
            format!("{bits:08x}")
        }
    });
    texts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::{fill, shown};
    use crate::facts::{Facts, Subject};
    use units::CpuList;

    #[test]
    fn places_are_filled_or_named() {
        let mut facts = Facts::default();
        facts.set("rt_cpus", "2-3,33".parse::<CpuList>().expect("CPUs"));
        facts.set("hk_cpus", CpuList::default());
        let mut part = Subject::new("3");
        part.set("cpu", 3u32);
        let text = "isolcpus={rt_cpus} mask {rt_mask} of {rt_count}, cpu{cpu} { not a place }";
        let filled = fill(text, &facts, Some(&part)).expect("all are known");
        assert_eq!(filled, "isolcpus=2-3,33 mask 2,0000000c of 3, cpu3 { not a place }");
        assert!(
            fill("irqaffinity={hk_cpus}", &facts, None).is_err(),
            "no CPU is no setting"
        );
        assert_eq!(shown("irqaffinity={hk_cpus}", &facts, None), "irqaffinity=HK_CPUS");
    }
}
