use super::super::processes::process;
use super::{Neighbours, Shared};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A process that does not descend from this one, because its parent has ended. Real-time, on one CPU, awake at intervals.
struct Stranger(u32);

impl Stranger {
    fn start(cpu: u32) -> Self {
        let line = format!("taskset -c {cpu} chrt -f 5 sh -c 'while :; do sleep 0.01; done' >/dev/null 2>&1 & echo $!");
        let output = Command::new("sh").args(["-c", &line]).stdin(Stdio::null()).output();
        let output = output.expect("a shell");
        let pid = String::from_utf8_lossy(&output.stdout)
            .trim()
            .parse()
            .expect("a number");
        Self(pid)
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-9", &self.0.to_string()]).status();
        // It ends only when it gets its CPU: until then a measuring thread there sees it as a real-time thread of another program.
        let process = format!("/proc/{}", self.0);
        let until = Instant::now() + Duration::from_secs(10);
        while Path::new(&process).exists() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn of(found: &[Shared], pid: u32) -> Vec<&Shared> {
    let whose = format!("(pid {pid})");
    found.iter().filter(|shared| shared.text.contains(&whose)).collect()
}

#[test]
fn a_pinned_real_time_thread_of_another_process_is_found_and_a_child_is_not() {
    const NAME: &str = "a_pinned_real_time_thread_of_another_process_is_found_and_a_child_is_not";
    if sys::privilege::require(sys::privilege::Capability::SysNice, "be real-time").is_err() {
        testing::skip(NAME, "needs CAP_SYS_NICE");
        return;
    }
    let cpu = sys::thread::allowed_cpus().iter().last().expect("a CPU");
    let stranger = Stranger::start(cpu);
    let mut child: Child = Command::new("taskset")
        .args([
            "-c",
            &cpu.to_string(),
            "chrt",
            "-f",
            "5",
            "sh",
            "-c",
            "while :; do sleep 0.01; done",
        ])
        .spawn()
        .expect("a child");
    std::thread::sleep(Duration::from_millis(300));
    let mut neighbours = Neighbours::default();
    assert!(
        of(&neighbours.look_at_all(), stranger.0).is_empty(),
        "whether it runs is not known yet"
    );
    std::thread::sleep(Duration::from_millis(300));
    let found = neighbours.look_at_all();
    let of_child = of(&found, child.id()).len();
    let _ = child.kill();
    let _ = child.wait();
    let of_stranger = of(&found, stranger.0);
    assert_eq!(of_stranger.len(), 1, "{found:?}");
    assert_eq!(of_stranger[0].cpu, cpu);
    assert!(
        of_stranger[0].text.contains("(fifo:5) of another process, sh (pid"),
        "{found:?}"
    );
    assert_eq!(of_child, 0, "{found:?}");
}

#[test]
fn a_process_is_read_with_its_parent() {
    let own = process(std::process::id()).expect("this process");
    assert_eq!(
        Some(own.parent),
        rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get() as u32)
    );
    assert!(!own.is_kernel);
    assert!(process(2).is_none_or(|second| second.is_kernel == (second.name == "kthreadd")));
}
