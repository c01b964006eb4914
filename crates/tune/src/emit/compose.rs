//! Fragments for compose, adapted to the file into which they are merged: compose joins lists, and refuses the whole file if two keys
//! contradict each other.

use serde_json::Value as Json;

use super::capabilities::bare;
use audit::facts::{Facts, Subject};
use audit::value::Value;

/// Limits of a service, and the same below `deploy.resources.limits`. If a service has both, they must be equal (compose-go 2.16,
/// loader/validate.go, checkConsistency).
const MIRRORED: [(&str, &str); 2] = [("mem_limit", "memory"), ("cpus", "cpus")];

/// Adapts a fragment to its service. Returns the manual steps.
pub(super) fn fit(facts: &Facts, part: &Subject, fragment: &mut Json) -> Vec<String> {
    let has_limits = facts.get(Some(part), "ctr.deploy-limits") == Ok(Value::from(true));
    let has_mode = facts
        .get(Some(part), "ctr.network-mode")
        .is_ok_and(|mode| mode != Value::from(""));
    let services = fragment["services"].as_object_mut().into_iter().flatten();
    for (_, service) in services {
        if has_limits {
            mirror(service);
        }
        // A service with a network mode cannot join networks (as above); with an empty mode it gets no default network
        // (loader/normalize.go).
        if has_mode && service.get("networks").is_some() {
            service["network_mode"] = Json::from("");
        }
    }
    let mut by_hand = made_elsewhere(facts, part, fragment);
    by_hand.extend(added(facts, part, fragment));
    by_hand
}

fn mirror(service: &mut Json) {
    for (key, below) in MIRRORED {
        let limit = match &service[key] {
            Json::Null => continue,
            // The schema requires a text here, but a number in a service.
            Json::Number(number) => Json::from(number.to_string()),
            limit => limit.clone(),
        };
        service["deploy"]["resources"]["limits"][below] = limit;
    }
}

/// Networks that the file declares as external: compose refuses a driver for them (compose-go 2.16, validation/external.go).
fn made_elsewhere(facts: &Facts, part: &Subject, fragment: &mut Json) -> Vec<String> {
    let Ok(Value::List(external)) = facts.get(Some(part), "ctr.external-networks") else {
        return Vec::new();
    };
    let Some(networks) = fragment.get_mut("networks").and_then(Json::as_object_mut) else {
        return Vec::new();
    };
    let wanted: Vec<String> = networks
        .keys()
        .filter(|name| external.contains(name))
        .cloned()
        .collect();
    let taken = wanted.iter().filter_map(|name| Some((name, networks.remove(name)?)));
    taken
        .map(|(name, wanted)| {
            let options = wanted["driver_opts"].to_string();
            format!(
                "by hand: the network {name:?} is defined elsewhere: create it with the driver {} and the options {options}",
                wanted["driver"]
            )
        })
        .collect()
}

/// Capabilities that the definition adds and the fragment drops: compose joins the lists of its files, and the engine adds after dropping
/// (moby, oci/caps/utils.go, TweakCapabilities of 28.0), so only a person can remove them. They are not dropped, because podman refuses a
/// name on both sides.
fn added(facts: &Facts, part: &Subject, fragment: &mut Json) -> Option<String> {
    let Ok(Value::List(added)) = facts.get(Some(part), "ctr.added") else {
        return None;
    };
    let services = fragment.get_mut("services").and_then(Json::as_object_mut)?;
    let mut dropped: Vec<String> = Vec::new();
    let is_added = |name: &Json| {
        let name = bare(name.as_str().unwrap_or_default());
        added.iter().any(|known| bare(known) == name)
    };
    for (_, service) in services {
        if let Some(names) = service.get_mut("cap_drop").and_then(Json::as_array_mut) {
            dropped.extend(names.iter().filter_map(Json::as_str).map(bare));
            names.retain(|name| !is_added(name));
        }
    }
    let is_kept = |name: &&String| bare(name) == "ALL" || dropped.contains(&bare(name));
    let kept: Vec<String> = added.iter().filter(is_kept).map(|name| format!("{name:?}")).collect();
    (!kept.is_empty()).then(|| {
        format!(
            "by hand: take {} out of cap_add of the service {:?}: compose joins the lists of its files, and added capabilities override dropped ones",
            kept.join(", "),
            part.name
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fit;
    use audit::facts::{Facts, Subject};

    fn service(facts: &[&'static str], mode: &str) -> Subject {
        let mut part = Subject::new("relay");
        facts.iter().for_each(|fact| part.set(fact, true));
        part.set("ctr.network-mode", mode);
        part
    }

    #[test]
    fn what_contradicts_the_fragment_goes() {
        let fragment = json!({"services": {"relay": {"cpus": 0, "mem_limit": "4g", "networks": {"process-bus": {}}}}});
        let (mut plain, mut fitted) = (fragment.clone(), fragment.clone());
        fit(&Facts::default(), &service(&[], ""), &mut plain);
        assert_eq!(plain, fragment, "nothing contradicts it");
        fit(
            &Facts::default(),
            &service(&["ctr.deploy-limits"], "bridge"),
            &mut fitted,
        );
        let fitted = &fitted["services"]["relay"];
        assert_eq!(
            fitted["deploy"]["resources"]["limits"],
            json!({"cpus": "0", "memory": "4g"})
        );
        assert_eq!(fitted["network_mode"], "");
    }
}
