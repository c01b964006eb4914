//! `triptime qualify`: the main job.

use crate::arguments::RunArgs;
use crate::failure::Failure;
use crate::run_file::{Run, Start};
use lab::plan::{Plan, PlanRun, Thresholds};

/// Inventory, loads, all probes of a plan, verdict, HTML report: the main job
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "Example: triptime qualify\n         triptime qualify site.toml --html site.html")]
pub(crate) struct QualifyArgs {
    /// Plan: the name of one inside triptime (quick), or a TOML file
    #[arg(default_value = "quick")]
    plan: String,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command; returns its exit status.
pub(crate) fn run(args: QualifyArgs) -> Result<u8, Failure> {
    let plan = Plan::load(&args.plan)?;
    let (housekeeping, measured) = plan.roles(&sys::thread::allowed_cpus())?;
    for (capability, what) in [
        (
            sys::privilege::Capability::SysAdmin,
            "build the test bed of network namespaces",
        ),
        (sys::privilege::Capability::NetAdmin, "join the test bed's namespaces"),
        (
            sys::privilege::Capability::NetRaw,
            "open packet sockets in the test bed",
        ),
    ] {
        sys::privilege::require(capability, what)?;
    }
    let begin = Start {
        command: "qualify",
        profile: Some(&plan.limits),
        window_ns: Some(plan.window.0),
        default_system: false,
        measured: measured.clone(),
        documents: vec![("plan".into(), plan.text.clone())],
        open_ended: false,
    };
    let mut run = Run::start(begin, args.run)?;
    run.html_beside_the_run();
    let thresholds = Thresholds {
        wakeup_ns: run.threshold_ns("wakeup/cpu0"),
        rtt_ns: run.threshold_ns("rtt/reflect"),
        age_ns: run.threshold_ns("age/MU01"),
    };
    let (session, progress) = run.parts();
    let work = PlanRun {
        plan: &plan,
        housekeeping,
        measured,
        thresholds,
        progress: Box::new(|session, doing| progress.show(session, doing)),
    };
    let outcome = lab::plan::run(session, work);
    run.finish(outcome)
}
