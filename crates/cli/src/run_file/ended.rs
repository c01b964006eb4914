//! End of a run: display and exit status.

use crate::arguments::RunArgs;
use crate::failure::{Failure, say};
use crate::table;
use crate::verdict;
use report::limits::Profile;
use report::tables::Layout;
use session::{Became, Ended};

/// Options for displaying a finished run.
pub(super) struct Ending {
    pub(super) profile: Option<Profile>,
    pub(super) args: RunArgs,
    pub(super) table: Option<Layout>,
}

impl Ending {
    /// Shows the run, unless nothing was measured. Returns the exit status.
    pub(super) fn report(mut self, ended: &mut Ended) -> Result<u8, Failure> {
        let file = ended.found(&|text| say(&text));
        self.args.pages.follow(ended.made(), &file);
        let used_up = ended
            .keeper
            .used_up()
            .map(|why| Failure::CouldNotMeasure(why.to_owned()));
        match ended.became(&file) {
            Became::Part(error) => {
                let status = verdict::show(&file, self.profile, &self.args)?;
                ended_early(status, error.into())
            }
            Became::Failed(error) => {
                if file.exists() {
                    say(&format_args!("the measured data is in {}", file.display()));
                } else {
                    say_doubts(&ended.doubts);
                }
                Err(error.into())
            }
            Became::Nothing => {
                say_doubts(&ended.doubts);
                let why = if ended.told_to_end {
                    "ended before anything was measured"
                } else {
                    "no traffic to measure arrived"
                };
                Err(used_up.unwrap_or_else(|| Failure::CouldNotMeasure(why.to_owned())))
            }
            Became::Whole => {
                table::before_the_answer(&file, self.table, &self.args)?;
                let status = verdict::show(&file, self.profile, &self.args)?;
                used_up.map_or(Ok(status), |why| ended_early(status, why))
            }
        }
    }
}

/// Exit status of a run that ended early and was shown: a failed limit is a fail, however little was measured.
fn ended_early(shown: u8, why: Failure) -> Result<u8, Failure> {
    if shown != verdict::LIMIT_FAILED {
        return Err(why);
    }
    say(&why);
    Ok(shown)
}

/// Prints the doubts found before measuring: they may explain why nothing arrived, and no report contains them then.
fn say_doubts(doubts: &[String]) {
    for doubt in doubts {
        say(doubt);
    }
}
