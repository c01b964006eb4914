use serde_json::json;

use super::{documents, read};

/// No file is next to the definition.
const ALONE: fn(&str) -> Result<String, String> = |name| Err(name.to_owned());

#[test]
fn yaml_is_read_with_anchors_merge_keys_and_several_documents() {
    let text = "base: &base {cpus: 2, cap_add: [SYS_NICE]}\nrelay:\n  <<: *base\n  cpus: 3\n  cpuset: '2-3'\n---\n- ~\n- 1.5\n- yes\n- \"4\"\n";
    let found = documents(text).expect("YAML");
    assert_eq!(
        found[0]["relay"],
        json!({"cpus": 3, "cap_add": ["SYS_NICE"], "cpuset": "2-3"})
    );
    assert_eq!(found[1], json!([null, 1.5, "yes", "4"]));
}

#[test]
fn yaml_that_asks_for_too_much_or_is_broken_is_refused() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{},", level - 1).repeat(10);
        bomb.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    assert!(documents(&bomb).expect_err("a bomb").contains("values"));
    assert!(documents(&"[".repeat(5_000)).is_err());
    assert!(documents("a: [1, 2").is_err());
    assert!(documents("a: *nobody\n").is_err());
    assert_eq!(documents("").expect("nothing"), Vec::<serde_json::Value>::new());
}

#[test]
fn what_is_no_definition_says_so() {
    for text in [
        "",
        "{",
        "{}",
        "[1]",
        "a: 1\n",
        "kind: Podd\nmetadata: {}\n",
        "kind: ConfigMap\n",
        "\u{0}",
    ] {
        assert!(read("x", text, &ALONE).is_err(), "{text:?}");
    }
    assert!(read("x", &" ".repeat(5 << 20), &ALONE).is_err());
    let error = read(
        "x",
        "[Container]\nImage=relay\n# a comment \\\nExec=a \\\n b\nstray\n",
        &ALONE,
    )
    .expect_err("a stray line");
    assert!(error.starts_with("line 6: \"stray\" is neither"), "{error}");
}
