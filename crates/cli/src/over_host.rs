//! A command in a guest whose host answers questions about late samples: `lab guest` starts it so.

use place::line::{ToPlace, read};
use place::{Answers, asking};
use session::Explainer;
use std::sync::atomic::{AtomicBool, Ordering};

/// The hidden option before the words of the command.
pub(crate) const FLAG: &str = "--over-host";

/// True from the start of such a command until its run has taken the explainer: standard input has one reader.
static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// The host answers this command.
pub(crate) fn allow() {
    IS_ASKED.store(true, Ordering::Relaxed);
}

/// The explainer of a run of this command.
pub(crate) fn explainer() -> Explainer {
    if !IS_ASKED.swap(false, Ordering::Relaxed) {
        return Explainer::Own;
    }
    let (asking, answers) = asking();
    let reader = std::thread::Builder::new().name("triptime-answers".to_owned());
    match reader.spawn(move || pass_on(&answers)) {
        Ok(_) => Explainer::OverHost(asking),
        Err(_) => Explainer::Own,
    }
}

/// Passes on the answers until the host closes standard input.
fn pass_on(answers: &Answers) {
    for line in std::io::stdin().lines().map_while(Result::ok) {
        if let Some(ToPlace::Because(told)) = read(&line) {
            answers.take(told);
        }
    }
}
