//! The program on the interface, attached in one of two modes, and the socket that it delivers to.

use super::mode::{XdpMode, XdpRefusal, XdpRequest, XdpRunning};
use super::socket::{Socket, bind_refusal};
use super::{XdpOptions, program};
use crate::bpf;
use crate::error::SysError;
use crate::link::LinkInfo;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// `XDP_FLAGS_SKB_MODE` and `XDP_FLAGS_DRV_MODE` (linux/if_link.h).
const GENERIC: u32 = 1 << 1;
const NATIVE: u32 = 1 << 2;

/// A loaded program and its map of sockets, not yet attached.
pub(super) struct Program {
    program: OwnedFd,
    map: OwnedFd,
}

impl Program {
    /// Loads the program for these EtherTypes, and a map with room for `queue`.
    pub(super) fn load(name: &Arc<str>, ethertypes: &[u16], queue: u32) -> Result<Self, SysError> {
        let map = bpf::socket_map(queue.saturating_add(1))
            .map_err(|errno| bpf::refused("make a map of AF_XDP sockets for", name, errno))?;
        let code = program::assemble(ethertypes, map.as_raw_fd())?;
        let program = bpf::load(bpf::PROGRAM_TYPE_XDP, &code)
            .map_err(|errno| bpf::refused("load an XDP program for", name, errno))?;
        Ok(Self { program, map })
    }

    /// Attaches the program for as long as the returned descriptor is open.
    pub(super) fn attach(&self, link: &LinkInfo, form: XdpRunning) -> Result<OwnedFd, Errno> {
        let flags = if form == XdpRunning::Generic { GENERIC } else { NATIVE };
        bpf::attach(&self.program, link.index, bpf::ATTACH_XDP, flags)
    }

    /// Directs frames of `queue` to `socket` from now on.
    pub(super) fn deliver(&self, name: &Arc<str>, queue: u32, socket: &OwnedFd) -> Result<(), SysError> {
        bpf::insert(&self.map, queue, socket)
            .map_err(|errno| SysError::refused("deliver frames to the AF_XDP socket of", Arc::clone(name), errno))
    }
}

/// Attaches the program and binds the socket in the best form that is allowed. The program is attached only once for both native
/// forms, because some NICs restart when a program is attached.
pub(super) fn bind(
    link: &LinkInfo,
    name: &Arc<str>,
    program: &Program,
    socket: &mut Socket,
    options: &XdpOptions,
) -> Result<(OwnedFd, XdpMode), SysError> {
    let native: &[XdpRunning] = match options.mode {
        XdpRequest::Auto => &[XdpRunning::ZeroCopy, XdpRunning::Native],
        XdpRequest::ZeroCopy => &[XdpRunning::ZeroCopy],
        XdpRequest::Native => &[XdpRunning::Native],
        XdpRequest::Generic => &[],
    };
    let generic: &[XdpRunning] = match options.mode {
        XdpRequest::Auto | XdpRequest::Generic => &[XdpRunning::Generic],
        XdpRequest::ZeroCopy | XdpRequest::Native => &[],
    };
    let mut refusals = Vec::new();
    for forms in [native, generic] {
        let Some(first) = forms.first() else { continue };
        let attached = match program.attach(link, *first) {
            Ok(attached) => attached,
            Err(errno @ (Errno::PERM | Errno::ACCESS)) => {
                return Err(bpf::refused("attach an XDP program to", name, errno));
            }
            Err(errno) => {
                let why = attach_refusal(link, errno);
                refusals.extend(forms.iter().map(|form| XdpRefusal {
                    form: *form,
                    why: why.clone(),
                }));
                continue;
            }
        };
        for form in forms {
            match socket.bind(link.index, options.queue, *form) {
                Ok(()) => {
                    return Ok((
                        attached,
                        XdpMode {
                            running: *form,
                            refused: refusals,
                        },
                    ));
                }
                Err(errno) => refusals.push(XdpRefusal {
                    form: *form,
                    why: bind_refusal(options.queue, *form, errno),
                }),
            }
        }
    }
    Err(SysError::XdpRefused {
        interface: Arc::clone(name),
        why: in_words(&refusals),
    })
}

/// The forms with the reason of each, alike ones together.
pub(super) fn in_words(refused: &[XdpRefusal]) -> String {
    let alike = refused.chunk_by(|one, next| one.why == next.why);
    let each: Vec<String> = alike
        .filter_map(|alike| {
            let forms: Vec<String> = alike.iter().map(|refusal| refusal.form.to_string()).collect();
            Some(format!(
                "AF_XDP ({}) refused: {}",
                forms.join(" and "),
                alike.first()?.why
            ))
        })
        .collect();
    each.join("; ")
}

/// Why the program could not be attached, in words.
fn attach_refusal(link: &LinkInfo, errno: Errno) -> String {
    match errno {
        Errno::OPNOTSUPP => format!("the driver has no native XDP ({errno})"),
        Errno::BUSY | Errno::EXIST => match link.xdp_program {
            Some(number) => format!("XDP program {number} is attached already ({errno})"),
            None => format!("another XDP program is attached already ({errno})"),
        },
        Errno::RANGE | Errno::INVAL => format!(
            "the driver refuses, mostly because the MTU ({}) or an offload does not go with XDP, or because the kernel is \
             older than Linux 5.9 ({errno})",
            link.mtu
        ),
        _ => errno.to_string(),
    }
}
