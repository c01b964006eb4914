//! The single file of 2013: sections, each starting with a line `--- file type: … ---`.

use super::config::{FileType, file_type_named};
use super::error::Problem;

/// The two sections that are used.
#[derive(Debug)]
pub(super) struct Sections<'a> {
    pub(super) config: &'a [u8],
    pub(super) data: &'a [u8],
    /// Data format according to the title of the data section.
    pub(super) file_type: Option<FileType>,
    /// Number of lines before the configuration and before the data.
    pub(super) config_line: u64,
    pub(super) data_line: u64,
    pub(super) warnings: Vec<String>,
}

/// A section's title.
#[derive(Debug)]
struct Title {
    /// `CFG`, `INF`, `HDR` or `DAT`.
    kind: String,
    /// Format of the data.
    file_type: Option<FileType>,
    /// Length of the section in bytes, if the title has it.
    octets: Option<usize>,
}

pub(super) fn split(octets: &[u8]) -> Result<Sections<'_>, Problem> {
    let (mut config, mut data) = (None, None);
    let mut warnings = Vec::new();
    let (mut at, mut line) = (0, 0);
    while let Some((text, next)) = line_at(octets, at) {
        line += 1;
        at = next;
        let Some(title) = title(text) else { continue };
        let binary = title.kind == "DAT" && title.file_type != Some(FileType::Ascii);
        let end = if binary {
            binary_end(octets.len(), at, title.octets, &mut warnings)
        } else {
            next_title(octets, at)
        };
        let section = &octets[at..end];
        match title.kind.as_str() {
            "CFG" if config.is_none() => config = Some((section, line)),
            "DAT" if data.is_none() => data = Some((section, line, title.file_type)),
            _ => {}
        }
        line += section.iter().filter(|octet| **octet == b'\n').count() as u64;
        at = end;
    }
    let missing = |name: &str| {
        Problem::whole(format!(
            "no section \"--- file type: {name} ---\": it is not a whole .cff file"
        ))
    };
    let (config, config_line) = config.ok_or_else(|| missing("CFG"))?;
    let (data, data_line, file_type) = data.ok_or_else(|| missing("DAT"))?;
    Ok(Sections {
        config,
        data,
        file_type,
        config_line,
        data_line,
        warnings,
    })
}

/// The end of binary data that start at `at`. Without a length in the title they extend to the end of the file.
fn binary_end(len: usize, at: usize, octets: Option<usize>, warnings: &mut Vec<String>) -> usize {
    let Some(octets) = octets else { return len };
    let end = at.saturating_add(octets);
    if end > len {
        warnings.push(format!(
            "the file announces {octets} bytes of data and contains {}",
            len - at
        ));
    }
    end.min(len)
}

fn next_title(octets: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some((text, next)) = line_at(octets, at) {
        if title(text).is_some() {
            return at;
        }
        at = next;
    }
    octets.len()
}

/// The line that starts at `at`, and the start of the next one.
fn line_at(octets: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let rest = octets.get(at..).filter(|rest| !rest.is_empty())?;
    let end = rest
        .iter()
        .position(|octet| *octet == b'\n')
        .map_or(rest.len(), |end| end + 1);
    Some((&rest[..end], at + end))
}

fn title(line: &[u8]) -> Option<Title> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let inner = text
        .strip_prefix("---")?
        .strip_suffix("---")?
        .trim()
        .to_ascii_uppercase();
    let mut parts = inner.strip_prefix("FILE TYPE:")?.splitn(2, ':');
    let mut words = parts.next()?.split_whitespace();
    let kind = words.next()?.to_owned();
    Some(Title {
        file_type: words.next().and_then(file_type_named),
        octets: parts.next().and_then(|octets| octets.trim().parse().ok()),
        kind,
    })
}
