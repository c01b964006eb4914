//! Values in definitions that no name marks as secret: those for the programs of a domain, of a container and of a service.

use super::neutral::HIDDEN;
use crate::processes::is_daemon_of_time;

/// Elements of a domain whose text may be anything: SMBIOS and firmware configuration, programs of a container, cookies of a disk's server,
/// notes and data of other programs (libvirt: formatdomain).
const FREE_TEXT: [&str; 9] = [
    "entry",
    "initenv",
    "initarg",
    "cookie",
    "session",
    "dhCert",
    "metadata",
    "description",
    "title",
];

/// Keys of a bundle, and of what Docker stores, with words of programs.
const WORDS: [&str; 4] = ["args", "cmd", "entrypoint", "test"];
/// Keys above pairs that other programs choose.
const FREE_PAIRS: [&str; 3] = ["annotations", "labels", "logconfig"];

/// Text of a file without such values, and their number.
pub(super) fn hidden(path: &str, text: String) -> (String, usize) {
    match path {
        _ if path.ends_with("config.json") => container(&text),
        _ if path.contains("/systemd/") => service(&text),
        _ if text.contains("<domain") => domain(&text),
        _ => (text, 0),
    }
}

/// A domain: `value` of elements with a prefix, such as `qemu:env`, texts of the elements above, comments, and queries of addresses.
fn domain(text: &str) -> (String, usize) {
    let (mut out, mut count) = (String::with_capacity(text.len()), 0);
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let (tag, after) = rest[at..].split_at(end_of_tag(&rest[at..]));
        rest = after;
        if let Some(comment) = tag.strip_prefix("<!--") {
            let lines = comment.matches('\n').count();
            out.push_str(&format!("<!--{}-->", "\n".repeat(lines)));
            continue;
        }
        let name = tag[1..].split(|c: char| c.is_whitespace() || "/>".contains(c));
        let name = name.clone().next().unwrap_or_default();
        let attribute = if name.contains(':') { "value" } else { "query" };
        let (tag_kept, is_hidden) = without_attribute(tag, attribute);
        count += usize::from(is_hidden);
        out.push_str(&tag_kept);
        if FREE_TEXT.contains(&name) && !tag.ends_with("/>") {
            let end = after.find(&format!("</{name}")).unwrap_or(after.len());
            if !after[..end].trim().is_empty() {
                out.push_str(HIDDEN);
                count += 1;
            }
            rest = &after[end..];
        }
    }
    out.push_str(rest);
    (out, count)
}

/// Length of a tag or a comment, at whose `<` the text begins.
fn end_of_tag(text: &str) -> usize {
    if text.starts_with("<!--") {
        return text.find("-->").map_or(text.len(), |at| at + 3);
    }
    let mut open = None;
    for (at, c) in text.char_indices() {
        match (open, c) {
            (None, '>') => return at + 1,
            (None, '"' | '\'') => open = Some(c),
            (Some(quote), _) if quote == c => open = None,
            _ => {}
        }
    }
    text.len()
}

/// A tag with the value of an attribute hidden.
fn without_attribute(tag: &str, name: &str) -> (String, bool) {
    let kept = || (tag.to_owned(), false);
    let mut places = tag.match_indices(name);
    let found = places.find_map(|(at, _)| {
        let is_begin = tag[..at].ends_with(char::is_whitespace);
        let after = tag[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        let quote = after.chars().next().filter(|c| "\"'".contains(*c))?;
        let start = tag.len() - after.len() + 1;
        is_begin.then_some((start, quote))
    });
    let Some((start, quote)) = found else { return kept() };
    let end = tag[start..].find(quote).map_or(tag.len(), |length| start + length);
    match end > start {
        true => (format!("{}{HIDDEN}{}", &tag[..start], &tag[end..]), true),
        false => kept(),
    }
}

/// A service: what it gives its program as environment, with lines that continue it.
fn service(text: &str) -> (String, usize) {
    let (mut out, mut count, mut continues) = (String::with_capacity(text.len()), 0, false);
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        let is_begin = bare
            .split_once('=')
            .is_some_and(|(key, value)| key.trim_end() == "Environment" && !value.is_empty());
        if is_begin {
            count += 1;
            out.push_str(&format!("Environment={HIDDEN}\n"));
        } else if !continues {
            out.push_str(line);
        }
        continues = (is_begin || continues) && bare.ends_with('\\');
    }
    (out, count)
}

/// A bundle, or what Docker stores of a container: keeps the names of the environment, and of the words of a program only daemons that set
/// a clock, which a rule looks for. Annotations stay if CRI-O reads them.
fn container(text: &str) -> (String, usize) {
    let (mut out, mut count) = (String::with_capacity(text.len()), 0);
    // The key at which each object is; a list has the key of the object around it.
    let mut keys: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}', '"']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let (sign, after) = from.split_at(1);
        out.push_str(sign);
        rest = after;
        match sign {
            "{" => keys.push(String::new()),
            "}" => drop(keys.pop()),
            _ => {
                let (own, behind) = after.split_at(end_of_string(after));
                rest = behind;
                let is_key = behind.trim_start_matches('"').trim_start().starts_with(':');
                let shown = match is_key {
                    true => {
                        if let Some(last) = keys.last_mut() {
                            *last = own.to_owned();
                        }
                        own.to_owned()
                    }
                    false => shown(&keys, own),
                };
                count += usize::from(shown != own);
                out.push_str(&shown);
                // The quote at the end.
                let quote = usize::from(rest.starts_with('"'));
                out.push_str(&rest[..quote]);
                rest = &rest[quote..];
            }
        }
    }
    out.push_str(rest);
    (out, count)
}

/// Length of a text in JSON up to its last quote.
fn end_of_string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    text.len()
}

/// The part of a value that is kept; `keys` lead to it.
fn shown(keys: &[String], value: &str) -> String {
    let Some((own, above)) = keys.split_last() else {
        return value.to_owned();
    };
    let is = |key: &String, names: &[&str]| names.contains(&key.to_ascii_lowercase().as_str());
    let is_of_crio = own.ends_with(".crio.io") || own == "io.container.manager";
    if is(own, &["env"]) {
        let name = value.split_once('=').map_or("", |(name, _)| name);
        return format!("{name}={HIDDEN}");
    }
    if is(own, &WORDS) {
        return words(value);
    }
    match above.iter().any(|key| is(key, &FREE_PAIRS)) && !is_of_crio {
        true => HIDDEN.to_owned(),
        false => value.to_owned(),
    }
}

/// Daemons among the words, split as the rule that looks for them does it.
fn words(value: &str) -> String {
    let plain = value.replace("\\u0026", "&");
    let names = plain
        .split([' ', ';', '&'])
        .map(|word| word.rsplit('/').next().unwrap_or(word));
    let kept: Vec<&str> = names.filter(|name| is_daemon_of_time(name)).collect();
    match kept.is_empty() {
        true => HIDDEN.to_owned(),
        false => kept.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::neutral::Neutral;

    fn kept(path: &str, text: &str) -> String {
        String::from_utf8(Neutral::of(&[]).file(path, text.as_bytes())).expect("text")
    }

    #[test]
    fn a_domain_keeps_no_value_for_its_programs() {
        let domain = |inside: &str| format!("<domain type='kvm'><name>a</name>{inside}<vcpu>2</vcpu></domain>");
        for (inside, shown) in [
            (
                "<qemu:commandline><qemu:arg value='-fw_cfg'/><qemu:arg value='name=opt/a,string=geheim'/></qemu:commandline>",
                "<qemu:commandline><qemu:arg value='(hidden)'/><qemu:arg value='(hidden)'/></qemu:commandline>",
            ),
            (
                "<qemu:env name='A' value = \"ge>'heim\"/><xen:arg value='geheim'/>",
                "<qemu:env name='A' value = \"(hidden)\"/><xen:arg value='(hidden)'/>",
            ),
            (
                "<sysinfo type='fwcfg'><entry name='opt/a'>geheim</entry><entry name='b' file='/x'/></sysinfo>",
                "<sysinfo type='fwcfg'><entry name='opt/a'>(hidden)</entry><entry name='b' file='/x'/></sysinfo>",
            ),
            (
                "<oemStrings><entry><![CDATA[a > geheim]]></entry></oemStrings>",
                "<oemStrings><entry>(hidden)</entry></oemStrings>",
            ),
            (
                "<metadata>\n<a:b xmlns:a='x'>geheim</a:b></metadata><description>geheim</description>",
                "<metadata>(hidden)</metadata><description>(hidden)</description>",
            ),
            (
                "<initenv name='A'>geheim</initenv><initarg>geheim</initarg><cookie name='a'>geheim</cookie>",
                "<initenv name='A'>(hidden)</initenv><initarg>(hidden)</initarg><cookie name='a'>(hidden)</cookie>",
            ),
            (
                "<source protocol='https' name='x' query='sig=geheim'/>",
                "<source protocol='https' name='x' query='(hidden)'/>",
            ),
            (
                "<!-- don't use\n<qemu:env name='A' value='geheim'/> --><pm/>",
                "<!--\n--><pm/>",
            ),
            ("<metadata></metadata><entry/>", "<metadata></metadata><entry/>"),
            // Not XML, or no longer.
            ("<qemu:arg value='geheim", ""),
            ("<entry>geheim", ""),
        ] {
            let found = kept("/etc/libvirt/qemu/a.xml", &domain(inside));
            assert!(!found.contains("heim"), "{inside}: {found}");
            assert!(shown.is_empty() || found == domain(shown), "{inside}: {found}");
        }
    }

    #[test]
    fn a_bundle_keeps_the_names_of_its_environment_and_daemons_of_time() {
        let bundle = r#"{"process": {"args": ["sh", "-c", "/usr/sbin/chronyd -d\u0026\u0026/x --api ge\"heim", "geheim"],
 "env": ["PATH=/bin", "API=ge\\\"heim", "geheim"], "cwd": "/x"}, "hooks": {"prestart": [{"path": "/y", "args": ["y", "geheim"],
 "env": ["A=geheim"]}]}, "annotations": {"io.container.manager": "cri-o", "cpu-quota.crio.io": "disable",
 "last-applied": "{\"env\": \"geheim\"}"}, "linux": {"resources": {"cpu": {"cpus": "2-3"}}}}"#;
        let shown = r#"{"process": {"args": ["(hidden)", "(hidden)", "chronyd", "(hidden)"],
 "env": ["PATH=(hidden)", "API=(hidden)", "=(hidden)"], "cwd": "/x"}, "hooks": {"prestart": [{"path": "/y", "args": ["(hidden)", "(hidden)"],
 "env": ["A=(hidden)"]}]}, "annotations": {"io.container.manager": "cri-o", "cpu-quota.crio.io": "disable",
 "last-applied": "(hidden)"}, "linux": {"resources": {"cpu": {"cpus": "2-3"}}}}"#;
        let place = "/run/crun/a/config.json";
        assert_eq!(kept(place, bundle), shown);
        for cut in 0..bundle.len() {
            assert!(!kept(place, &bundle[..cut]).contains("geheim"), "{cut}");
        }
        let stored = r#"{"Annotations": {"a": "geheim"}, "LogConfig": {"Type": "x", "Config": {"url": "geheim"}}, "CpusetCpus": "2"}"#;
        assert_eq!(
            kept("/var/lib/docker/containers/a/hostconfig.json", stored),
            r#"{"Annotations": {"a": "(hidden)"}, "LogConfig": {"Type": "(hidden)", "Config": {"url": "(hidden)"}}, "CpusetCpus": "2"}"#
        );
    }

    #[test]
    fn a_service_keeps_no_environment() {
        let text =
            "[Service]\nEnvironment=\nEnvironment=A=geheim \\\n  B=geheim\nExecStart=/x\n  Environment = A=geheim\n";
        let shown = "[Service]\nEnvironment=\nEnvironment=(hidden)\nExecStart=/x\nEnvironment=(hidden)\n";
        assert_eq!(kept("/etc/systemd/system/a.service", text), shown);
    }
}
