//! Shells on the consoles of the machine.

/// Device numbers of consoles: virtual and serial, the console itself, Arm's serial lines, hypervisor consoles
/// (Linux: admin-guide/devices.txt).
const CONSOLES: [u64; 4] = [4, 5, 204, 229];

const SHELLS: [&str; 8] = ["bash", "sh", "dash", "ash", "zsh", "fish", "ksh", "busybox"];

/// True for the name of a shell.
pub fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// The name of a shell that has a console as its terminal; `None` for other processes. From the process's line in `/proc/PID/stat`
/// (proc_pid_stat(5), fields 2 and 7).
pub fn shell_on_console(stat: &str) -> Option<&str> {
    let (before, behind) = stat.rsplit_once(") ")?;
    let (_, name) = before.split_once('(')?;
    let terminal: u64 = behind.split_whitespace().nth(4)?.parse().ok()?;
    let is_console = terminal != 0 && CONSOLES.contains(&(terminal >> 8 & 0xfff));
    (is_console && is_shell(name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::shell_on_console;

    #[test]
    fn only_shells_with_a_console_are_on_one() {
        let line = |name: &str, terminal: u64| format!("77 ({name}) S 1 77 77 {terminal} 77 4194304 1");
        for (name, terminal, is_one) in [
            ("bash", 1_025, true),
            ("sh", 1_088, true),
            ("bash", 0, false),
            // A pseudo-terminal, as of ssh.
            ("bash", 34_816, false),
            ("agetty", 1_025, false),
            ("a) b(", 1_025, false),
        ] {
            assert_eq!(
                shell_on_console(&line(name, terminal)).is_some(),
                is_one,
                "{name} {terminal}"
            );
        }
        assert_eq!(shell_on_console("77 (bash) S 1"), None);
    }
}
