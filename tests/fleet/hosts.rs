//! Two hosts for playbooks: for each an sshd in namespaces of its own (mounts, names, processes), which sees its own folders of the system.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use support::{binary, stderr};
use tempfile::TempDir;

/// Starts one host: its keys are in $1, it listens on port $2 of the loopback, its name is $3, and the files of sshd are in $4.
const HOST: &str = r#"
set -e
mount -t tmpfs none /run; mkdir -p /run/sshd
mount -t tmpfs none /usr/local/bin
mkdir -p /var/lib/triptime; mount -t tmpfs none /var/lib/triptime
mount -t tmpfs none /root; mkdir -m 700 /root/.ssh; cp "$1/key.pub" /root/.ssh/authorized_keys
{ grep -v '^sshd:' /etc/passwd; echo 'sshd:x:65000:65534::/run/sshd:/usr/sbin/nologin'; } > /run/passwd; mount --bind /run/passwd /etc/passwd
hostname "$3"
export LD_LIBRARY_PATH="$4/lib/x86_64-linux-gnu:$4/usr/lib/x86_64-linux-gnu"
exec "$4/usr/sbin/sshd" -D -e -f /dev/null -h "$1/host_key" -o ListenAddress=127.0.0.1 -p "$2" -o UsePAM=no -o PidFile=none -o PermitRootLogin=yes -o StrictModes=no
"#;

/// Two hosts that run, and a control node with the collection.
pub(super) struct Hosts {
    /// Folder of the control node.
    folder: TempDir,
    running: Vec<Child>,
}

/// Something that scripts/need.sh left in the target folder.
pub(super) fn built(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target").join(name);
    path.canonicalize()
        .unwrap_or_else(|error| panic!("{}: {error}: run scripts/need.sh test", path.display()))
}

fn done(command: &mut Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
}

impl Hosts {
    /// Starts them, with the collection built from its source and installed as a user does it.
    pub(super) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for key in ["key", "host_key"] {
            done(
                Command::new("ssh-keygen")
                    .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                    .arg(folder.path().join(key)),
            );
        }
        // Both sockets are open at the same time, so the ports differ.
        let sockets = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port"));
        let ports = sockets.map(|socket| socket.local_addr().expect("its address").port());
        let mut hosts = Self {
            folder,
            running: Vec::new(),
        };
        for (port, name) in ports.iter().zip(["relays1", "relays2"]) {
            let child = Command::new("unshare")
                .args([
                    "--mount",
                    "--uts",
                    "--pid",
                    "--fork",
                    "--kill-child",
                    "--mount-proc",
                    "bash",
                    "-c",
                    HOST,
                    "host",
                ])
                .arg(hosts.path())
                .args([&port.to_string(), name])
                .arg(built("openssh-server"))
                .stdin(Stdio::null())
                .stderr(fs::File::create(hosts.path().join(name)).expect("a log"))
                .spawn();
            hosts.running.push(child.expect("unshare starts"));
            hosts.until_listening(name);
        }
        hosts.write_inventory(ports);
        hosts.install_collection();
        hosts
    }

    /// Folder of the control node.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn until_listening(&self, name: &str) {
        let until = Instant::now() + Duration::from_secs(60);
        let log = self.path().join(name);
        while !fs::read_to_string(&log).expect("a log").contains("Server listening") {
            assert!(
                Instant::now() < until,
                "{name}: {}",
                fs::read_to_string(&log).expect("a log")
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn write_inventory(&self, ports: [u16; 2]) {
        let folder = self.path().display();
        let binary = binary().canonicalize().expect("the binary");
        let binary = binary.display();
        let text = format!(
            "all:\n  vars:\n    ansible_user: root\n    ansible_host: 127.0.0.1\n    ansible_become: false\n    ansible_ssh_private_key_file: {folder}/key\n    \
             ansible_ssh_transfer_method: piped\n    ansible_ssh_common_args: -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null\n    \
             ansible_python_interpreter: /usr/bin/python3\n    triptime_install_binary: {binary}\n    triptime_audit_folder: {folder}/collected\n    \
             triptime_qualify_options: [--step, wakeup, --no-flight-recorder]\n    triptime_qualify_duration: 1s\n    triptime_qualify_poll: 1\n    \
             triptime_collect_to: {folder}/collected\n    triptime_collect_path: {binary}\n  hosts:\n    relays1: {{ansible_port: {}}}\n    relays2: {{ansible_port: {}}}\n",
            ports[0], ports[1]
        );
        fs::write(self.path().join("hosts.yml"), text).expect("written");
        fs::create_dir(self.path().join("collected")).expect("a folder");
    }

    fn install_collection(&self) {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/ansible");
        done(self.ansible("ansible-galaxy").args(["collection", "build"]).arg(source));
        done(self.ansible("ansible-galaxy").args([
            "collection",
            "install",
            "-p",
            "collections",
            "triptime-host-0.1.0.tar.gz",
        ]));
    }

    fn ansible(&self, program: &str) -> Command {
        let mut command = Command::new(built("oracle").join("bin").join(program));
        command
            .current_dir(self.path())
            .env("HOME", self.path())
            .env("ANSIBLE_COLLECTIONS_PATH", self.path().join("collections"))
            .env("ANSIBLE_NOCOLOR", "1")
            .stdin(Stdio::null());
        command
    }

    /// Runs a playbook of the collection, or a file of the control node.
    pub(super) fn play(&self, playbook: &str, more: &[&str]) -> Output {
        let mut command = self.ansible("ansible-playbook");
        command.args(["-i", "hosts.yml", playbook]).args(more);
        command.output().expect("ansible starts")
    }

    /// Runs a playbook made of these tasks.
    pub(super) fn play_tasks(&self, tasks: &str, more: &[&str]) -> Output {
        fs::write(
            self.path().join("play.yml"),
            format!("- hosts: all\n  gather_facts: false\n  tasks:\n{tasks}"),
        )
        .expect("written");
        self.play("play.yml", more)
    }

    /// Output of a shell command on the host of this number.
    pub(super) fn on(&self, host: usize, script: &str) -> String {
        let children =
            fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.running[host].id())).expect("its children");
        let output = Command::new("nsenter")
            .args(["--target", children.trim(), "--mount", "--pid", "sh", "-c", script])
            .output()
            .expect("nsenter starts");
        String::from_utf8(output.stdout).expect("text")
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for child in &mut self.running {
            let _ = kill_process(Pid::from_child(child), Signal::KILL);
            let _ = child.wait();
        }
    }
}
