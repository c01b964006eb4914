//! Network namespaces that only a file descriptor keeps alive.

use crate::error::{SysError, errno_of};
use crate::link;
use crate::privilege::Capability;
use rustix::fs::{fstat, statfs};
use rustix::io::Errno;
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_change, unmount};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

/// A network namespace.
///
/// A created namespace has no name, and only this descriptor (and sockets opened in it) keeps it alive: when it is dropped, or the
/// process ends in any way, the kernel removes the namespace with every interface in it.
#[derive(Debug)]
pub struct NetNs {
    fd: OwnedFd,
}

impl NetNs {
    /// Makes a namespace with nothing but `lo` in it, which is up. IPv6 is off in it, where the kernel permits, so that no router
    /// solicitation or neighbour discovery runs between the frames of a test.
    ///
    /// # Errors
    /// [`SysError::MissingCapability`] without `CAP_SYS_ADMIN`, else the kernel's refusal.
    pub fn create() -> Result<Self, SysError> {
        on_scratch_thread(|| {
            // SAFETY: CLONE_NEWNET touches no file descriptor table, the one danger of unshare; it moves this thread, which
            // runs nothing but this closure and then ends, into a new network namespace.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }.map_err(|errno| {
                SysError::or_capability(Capability::SysAdmin, "create", "a network namespace", errno)
            })?;
            // Best effort: /proc/sys is read-only in some containers, and kernels without IPv6 have no such file.
            for all in ["all", "default"] {
                let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{all}/disable_ipv6"), "1");
            }
            link::set_up("lo")?;
            Self::current()
        })?
    }

    /// Opens the namespace of the calling thread.
    ///
    /// # Errors
    /// An error of opening it in /proc.
    pub fn current() -> Result<Self, SysError> {
        // File::open sets O_CLOEXEC: a load or tool that we start does not keep the namespace alive.
        File::open("/proc/thread-self/ns/net")
            .map(|file| Self { fd: file.into() })
            .map_err(|error| SysError::refused("open", "/proc/thread-self/ns/net", errno_of(&error)))
    }

    /// Opens the namespace that a file represents, such as `/proc/PID/ns/net` or `/run/netns/NAME`.
    ///
    /// # Errors
    /// An error of opening it.
    pub fn open(path: &Path) -> Result<Self, SysError> {
        File::open(path)
            .map(|file| Self { fd: file.into() })
            .map_err(|error| SysError::refused("open", path.display().to_string(), errno_of(&error)))
    }

    /// Inode number, by which the kernel and `/proc/PID/ns/net` identify the namespace.
    ///
    /// # Errors
    /// A refusal of the kernel.
    pub fn inode(&self) -> Result<u32, SysError> {
        let found = fstat(&self.fd).map_err(|errno| SysError::refused("look at", "a network namespace", errno))?;
        // The kernel numbers its namespaces with 32 bits.
        Ok(u32::try_from(found.st_ino).unwrap_or(u32::MAX))
    }

    /// Runs `work` inside the namespace, on a new thread, and returns its result; a panic of `work` continues in the caller.
    ///
    /// Sockets opened there stay in the namespace wherever they are used. /sys still shows the caller's namespace.
    ///
    /// # Errors
    /// The thread could not start or could not enter the namespace.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, SysError> {
        on_scratch_thread(|| self.enter().map(|()| work()))?
    }

    /// Moves the calling thread into the namespace for good. Do not call it on the main thread.
    ///
    /// # Errors
    /// [`SysError::MissingCapability`] without `CAP_SYS_ADMIN`, else the kernel's refusal.
    pub fn enter(&self) -> Result<(), SysError> {
        move_into_link_name_space(self.fd.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(|errno| SysError::or_capability(Capability::SysAdmin, "enter", "a network namespace", errno))
    }

    /// A path to the namespace for other programs, such as `nsenter --net=PATH`; valid while this value lives.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.fd.as_raw_fd()))
    }
}

/// The file system whose files are namespaces (`NSFS_MAGIC`, linux/magic.h).
const NSFS: i64 = 0x6e73_6673;

/// Names of namespaces, as `ip netns` keeps them in `/run/netns`: a named namespace outlives this process.
impl NetNs {
    /// Gives the namespace a name: makes the file `path`, which represents it from then on.
    ///
    /// # Errors
    /// The file exists already, or [`SysError::MissingCapability`] without `CAP_SYS_ADMIN`.
    pub fn pin(&self, path: &Path) -> Result<(), SysError> {
        let file = || path.display().to_string();
        File::create_new(path).map_err(|error| SysError::refused("make", file(), errno_of(&error)))?;
        mount_bind(self.path(), path)
            .map_err(|errno| SysError::or_capability(Capability::SysAdmin, "mount", "a network namespace", errno))
    }

    /// True if the file is the name of a namespace.
    pub fn is_pinned(path: &Path) -> bool {
        statfs(path).is_ok_and(|found| found.f_type == NSFS)
    }

    /// Removes the name: the namespace ends when nothing runs in it. A missing file is no error.
    ///
    /// # Errors
    /// A refusal of the kernel.
    pub fn unpin(path: &Path) -> Result<(), SysError> {
        let file = || path.display().to_string();
        match unmount(path, UnmountFlags::DETACH) {
            // EINVAL: nothing is mounted there, as after a crash before the mount.
            Ok(()) | Err(Errno::INVAL | Errno::NOENT) => {}
            Err(errno) => {
                return Err(SysError::or_capability(
                    Capability::SysAdmin,
                    "unmount",
                    "a network namespace",
                    errno,
                ));
            }
        }
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(SysError::refused("remove", file(), errno_of(&error)))
            }
            _ => Ok(()),
        }
    }
}

impl AsFd for NetNs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Runs `work` on a thread whose `/sys` shows the calling thread's network namespace, and returns its result. No other thread sees
/// that `/sys`, and it is gone with the thread; nothing can be changed through it.
///
/// # Errors
/// [`SysError::MissingCapability`] without `CAP_SYS_ADMIN`, else the kernel's refusal (some containers).
pub fn with_own_sys<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, SysError> {
    let refused = |errno| SysError::or_capability(Capability::SysAdmin, "mount", "a separate /sys", errno);
    on_scratch_thread(|| {
        // SAFETY: CLONE_NEWNS touches no file descriptor table, the one danger of unshare; it gives mounts of its own to this
        // thread, which runs nothing but this closure and then ends.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.map_err(refused)?;
        // Mounts made here must not reach the mounts of others.
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC).map_err(refused)?;
        let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        mount("sysfs", "/sys", "sysfs", flags, None).map_err(refused)?;
        Ok(work())
    })?
}

/// Runs `work` on a thread that ends with it, so that changes to the thread end there.
fn on_scratch_thread<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, SysError> {
    let mut done = None;
    run_there(Box::new(|| done = Some(work())))?;
    // A panic of `work` was resumed in this thread.
    Ok(done.expect("the thread has ended well"))
}

/// Not generic, so that it is compiled once and not for each of its many callers.
fn run_there(work: Box<dyn FnOnce() + Send + '_>) -> Result<(), SysError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("triptime-netns".to_owned())
            .spawn_scoped(scope, work)
            .map_err(|error| SysError::refused("start", "a thread", errno_of(&error)))?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        Ok(())
    })
}
