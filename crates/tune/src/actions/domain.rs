//! Threads of a running libvirt domain.

use super::Scene;
use crate::operation::{Operation, Target, ThreadId};
use audit::{domain_moves, domain_priorities};

/// Moves the threads to the CPUs in the definition.
pub(super) fn places(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let moves = domain_moves(scene.reader, &scene.part()?.name, &scene.cpus("hk_cpus")?)?;
    let moved = moves.into_iter().map(|thread| Operation {
        target: Target::Thread(ThreadId {
            tid: thread.tid,
            started: thread.started_ticks,
            name: thread.name,
        }),
        value: thread.cpus.to_string(),
    });
    Ok(moved.collect())
}

/// Makes vCPUs real-time threads: with the policy of the definition, else at the lowest priority. No vCPU reaches the priority of the
/// kernel's own threads on its CPU.
pub(super) fn priorities(scene: &Scene<'_>) -> Result<Vec<Operation>, String> {
    let threads = domain_priorities(scene.reader, &scene.part()?.name)?;
    for thread in threads.iter().filter(|thread| thread.priority > 1) {
        let above = |why: &str| {
            format!(
                "the definition gives {} {}: {why}; lower it first, preferably to 1",
                thread.name, thread.policy
            )
        };
        let of_kernel = scene.number("dom.kernel-priority").map_err(|why| above(&why))?;
        if f64::from(thread.priority) >= of_kernel {
            return Err(above(&format!(
                "the kernel's threads rcuc on its CPU have priority {of_kernel}"
            )));
        }
    }
    let raised = threads.into_iter().map(|thread| Operation {
        target: Target::Priority(ThreadId {
            tid: thread.tid,
            started: thread.started_ticks,
            name: thread.name,
        }),
        value: thread.policy,
    });
    Ok(raised.collect())
}
