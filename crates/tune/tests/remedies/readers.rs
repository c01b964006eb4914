//! Readers of emitted files: their effect on a copy of a machine.

use std::fs;

use tune::{Operation, TunedMachine};

use super::Twin;

impl Twin {
    /// The next boot, with the emitted files installed.
    pub(super) fn boot(&self, emitted: &[(&str, String)]) {
        for (kind, text) in emitted {
            match *kind {
                "kernel-args" => self.arguments(text.lines().next().unwrap_or_default(), text),
                "sysctl" => text
                    .lines()
                    .filter_map(|line| line.split_once(" = "))
                    .for_each(|(name, value)| {
                        self.set(&format!("/proc/sys/{}", name.replace('.', "/")), value);
                    }),
                "ansible" => {
                    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("line: \"w "));
                    for (path, value) in lines.filter_map(|line| line.trim_end_matches('"').split_once(" - - - - ")) {
                        self.set(path, value);
                    }
                }
                "tuned" => self.profile(text),
                "udev" => self.rules(text),
                "modprobe" => self.modules(text),
                _ => {
                    let masked = text.lines().filter_map(|line| line.strip_prefix("systemctl mask "));
                    masked.flat_map(str::split_whitespace).for_each(|unit| self.mask(unit));
                    if text.contains("ExecStart=/bin/sh -c 'pgrep \"^ktimer\" | xargs -r -n1 chrt -f -p 2'") {
                        self.raise("ktimer", 2);
                    }
                    self.link(text);
                }
            }
        }
    }

    /// Writes an existing kernel file, as all these readers do.
    pub(super) fn set(&self, path: &str, value: &str) {
        let operation = Operation::write(path, value);
        let choice = self.choice(&operation);
        let machine = TunedMachine::at(&self.root());
        if machine.read(&operation.target).is_ok() {
            machine
                .write(&operation.target, Some(value))
                .expect("a file of the tree");
        }
        if let Some((place, shown)) = choice {
            fs::write(place, shown).expect("a file");
        }
    }

    /// Settings that udev applies from a `.link` file to the only card that has one.
    fn link(&self, text: &str) {
        let Some(card) = self.parameters.nics.first().filter(|_| text.contains("[Link]")) else {
            return;
        };
        let place = self.root().join(format!(".answers/ethtool-{card}"));
        let mut answers: toml::Table = toml::from_str(&fs::read_to_string(&place).expect("answers")).expect("answers");
        let mut set = |section: &str, key: &str, value: toml::Value| {
            answers[section]
                .as_table_mut()
                .expect("a section")
                .insert(key.to_owned(), value);
        };
        for (key, value) in text.lines().filter_map(|line| line.split_once('=')) {
            let number = || toml::Value::Integer(value.parse().expect("a number"));
            match key {
                "RxCoalesceSec" => set("coalesce", "rx-usecs", number()),
                "TxCoalesceSec" => set("coalesce", "tx-usecs", number()),
                "RxFlowControl" => set("pause", "rx", (value != "no").into()),
                "TxFlowControl" => set("pause", "tx", (value != "no").into()),
                "CombinedChannels" => set("channels", "combined", number()),
                "RxBufferSize" => set("rings", "rx", number()),
                _ => {}
            }
        }
        fs::write(place, answers.to_string()).expect("answers");
    }

    /// A TuneD profile and the daemon that applies it (TuneD 2.20: plugins sysctl, sysfs, cpu and bootloader).
    fn profile(&self, text: &str) {
        let tuned = self.root().join("etc/tuned");
        fs::create_dir_all(tuned.join("triptime")).expect("folders");
        fs::write(tuned.join("triptime/tuned.conf"), text).expect("a profile");
        fs::write(tuned.join("active_profile"), "triptime\n").expect("its name");
        let main = "dynamic_tuning = 0\nrollback = not_on_exit\n";
        fs::write(tuned.join("tuned-main.conf"), main).expect("settings");
        let mut section = "";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            match line.split_once('=') {
                None => section = line.trim(),
                Some((name, value)) => self.of_profile(section, name, value, text),
            }
        }
    }

    fn of_profile(&self, section: &str, name: &str, value: &str, text: &str) {
        let each = |file: &str| {
            let cpus = fs::read_dir(self.root().join("sys/devices/system/cpu"))
                .into_iter()
                .flatten()
                .flatten();
            for cpu in cpus.map(|cpu| cpu.file_name().display().to_string()) {
                self.set(&format!("/sys/devices/system/cpu/{cpu}/{file}"), value);
            }
        };
        match (section, name) {
            ("[sysctl]", _) => self.set(&format!("/proc/sys/{}", name.replace('.', "/")), value),
            ("[sysfs]", _) => self.set(name, value),
            ("[cpu]", "governor") => each("cpufreq/scaling_governor"),
            ("[cpu]", "energy_perf_bias") => each("power/energy_perf_bias"),
            ("[cpu]", "energy_performance_preference") => each("cpufreq/energy_performance_preference"),
            (_, "coalesce") => {
                let card = section.trim_start_matches("[net_").trim_end_matches(']');
                self.ethtool(&format!("-C {card} {value}"));
            }
            ("[bootloader]", _) => self.arguments(value.trim_start_matches('+'), text),
            ("[scheduler]", group) if group.starts_with("group.") => self.of_group(value),
            _ => {}
        }
    }

    /// Parses `0:f:4:*:rcuc.*`: order, policy, priority, CPUs, and an expression for names (TuneD 2.20: plugin_scheduler.py).
    fn of_group(&self, value: &str) {
        let [_, "f", priority, "*", names] = value.splitn(5, ':').collect::<Vec<_>>()[..] else {
            return;
        };
        self.raise(names.trim_end_matches(".*"), priority.parse().expect("a priority"));
    }

    /// Applies udev rules when their device appears (udev(7): `ATTR` is below the device, `[net/IF]` below /sys/class).
    fn rules(&self, text: &str) {
        let quoted = |line: &str, key: &str| {
            let (_, rest) = line.split_once(&format!("{key}\""))?;
            Some(rest.split_once('"')?.0.to_owned())
        };
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let kernel = quoted(line, "KERNEL==").unwrap_or_default();
            let device = match quoted(line, "SUBSYSTEM==").as_deref() {
                Some("net") => format!("/sys/class/net/{kernel}"),
                Some("cpu") => format!("/sys/devices/system/cpu/{kernel}"),
                _ => continue,
            };
            for attribute in line.split("ATTR{").skip(1) {
                let (name, rest) = attribute.split_once('}').expect("a name");
                let Some(value) = rest.strip_prefix("=\"").and_then(|rest| rest.split_once('"')) else {
                    continue;
                };
                let name = name.replace(&format!("[net/{kernel}]"), "");
                self.set(&format!("{device}/{name}"), value.0);
            }
            for command in line.split("RUN+=\"/sbin/ethtool ").skip(1) {
                self.ethtool(command.split('"').next().unwrap_or_default());
            }
        }
    }

    /// Applies `-C eth0 rx-usecs 0`: the setting of a card, as its driver then reports it.
    fn ethtool(&self, command: &str) {
        let words: Vec<&str> = command.split(' ').collect();
        let (section, card, pairs) = match words.as_slice() {
            ["-C", card, pairs @ ..] => ("coalesce", card, pairs),
            ["-A", card, pairs @ ..] => ("pause", card, pairs),
            ["-L", card, pairs @ ..] => ("channels", card, pairs),
            ["-G", card, pairs @ ..] => ("rings", card, pairs),
            ["--set-eee", card, pairs @ ..] => ("eee", card, pairs),
            _ => panic!("ethtool {command}"),
        };
        let place = self.root().join(format!(".answers/ethtool-{card}"));
        let mut answers: toml::Table = toml::from_str(&fs::read_to_string(&place).expect("answers")).expect("answers");
        let told = answers[section].as_table_mut().expect("a section");
        for pair in pairs.chunks(2) {
            let [name, value] = pair else {
                panic!("ethtool {command}")
            };
            match (section, *name) {
                ("eee", "eee") => {
                    told.insert("enabled".to_owned(), false.into());
                    told.insert("active".to_owned(), false.into());
                }
                _ => {
                    let value = value.parse::<i64>().map_or((*value == "on").into(), toml::Value::from);
                    let before = told.insert((*name).to_owned(), value);
                    assert!(
                        before.is_some(),
                        "the driver did not tell {name}: it refuses the request"
                    );
                }
            }
        }
        fs::write(place, answers.to_string()).expect("answers");
    }

    /// Gives threads with this name prefix a real-time priority (proc(5): fields 40 and 41 of `stat`).
    fn raise(&self, begin: &str, priority: u32) {
        for process in fs::read_dir(self.root().join("proc")).expect("processes").flatten() {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            if !name.starts_with(begin) {
                continue;
            }
            let number = process.file_name();
            for place in [process.path(), process.path().join("task").join(&number)] {
                let stat = fs::read_to_string(place.join("stat")).expect("a thread");
                let (named, rest) = stat.trim().rsplit_once(") ").expect("a name");
                let mut fields: Vec<String> = rest.split(' ').map(str::to_owned).collect();
                (fields[37], fields[38]) = (priority.to_string(), "1".to_owned());
                fs::write(place.join("stat"), format!("{named}) {}\n", fields.join(" "))).expect("a thread");
            }
        }
    }

    fn mask(&self, unit: &str) {
        match unit {
            "swap.target" => {
                fs::write(self.root().join("proc/swaps"), "Filename\tType\tSize\tUsed\tPriority\n").expect("swaps");
            }
            service => {
                let name = format!("{}\n", service.trim_end_matches(".service"));
                for process in fs::read_dir(self.root().join("proc")).expect("processes").flatten() {
                    if fs::read_to_string(process.path().join("comm")).is_ok_and(|comm| comm == name) {
                        fs::remove_dir_all(process.path()).expect("a process");
                    }
                }
            }
        }
    }

    /// The kernel's own arguments, in the files that show their effect (Linux 6.12: kernel-parameters.txt).
    fn arguments(&self, words: &str, notes: &str) {
        let line = self.root().join("proc/cmdline");
        let before = fs::read_to_string(&line).unwrap_or_default();
        let name = |word: &str| word.split('=').next().unwrap_or(word).to_owned();
        let new: Vec<String> = words.split_whitespace().map(name).collect();
        // A person removes the arguments that the notes name.
        let kept = before
            .split_whitespace()
            .filter(|word| !notes.contains(&format!("take {word} out")));
        let kept: Vec<&str> = kept.collect();
        let twice = kept.iter().find(|word| new.contains(&name(word)));
        assert_eq!(twice, None, "an argument that is there already: {words}");
        fs::write(line, format!("{} {words}\n", kept.join(" "))).expect("arguments");
        for word in words.split_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            match name {
                "isolcpus" => {
                    let cpus = value.trim_start_matches(|c: char| c.is_alphabetic() || "_,".contains(c));
                    self.set("/sys/devices/system/cpu/isolated", cpus);
                }
                "nohz_full" => self.set("/sys/devices/system/cpu/nohz_full", value),
                "transparent_hugepage" => self.set("/sys/kernel/mm/transparent_hugepage/enabled", value),
                "nmi_watchdog" => self.set("/proc/sys/kernel/nmi_watchdog", value),
                "rcutree.kthread_prio" => ["rcuc/", "rcub/"]
                    .iter()
                    .for_each(|begin| self.raise(begin, value.parse().expect("a priority"))),
                "nosoftlockup" => self.set("/proc/sys/kernel/soft_watchdog", "0"),
                "irqaffinity" => {
                    let cpus: units::CpuList = value.parse().expect("CPUs");
                    for irq in fs::read_dir(self.root().join("proc/irq"))
                        .into_iter()
                        .flatten()
                        .flatten()
                    {
                        let folder = format!("/proc/irq/{}", irq.file_name().display());
                        self.set(&format!("{folder}/smp_affinity_list"), value);
                        self.set(
                            &format!("{folder}/effective_affinity_list"),
                            &cpus.first().expect("a CPU").to_string(),
                        );
                    }
                    let mask = cpus.iter().fold(0_u64, |mask, cpu| mask | 1 << cpu);
                    self.set("/proc/irq/default_smp_affinity", &format!("{mask:x}"));
                }
                _ => {}
            }
        }
    }
}
