//! The terminal that the answer is printed on.

use report::screen::Size;
use std::io::{self, IsTerminal};

/// The room for an answer on standard output: the size of the terminal, otherwise the largest answer.
pub(crate) fn size() -> Size {
    let out = io::stdout();
    match out.is_terminal().then(|| rustix::termios::tcgetwinsize(&out)) {
        Some(Ok(size)) if size.ws_col > 0 && size.ws_row > 0 => Size::of_terminal(size.ws_col, size.ws_row),
        _ => Size::LARGEST,
    }
}

/// Columns of the terminal of standard error; `otherwise` if it does not tell.
pub(crate) fn columns_of_stderr(otherwise: usize) -> usize {
    match rustix::termios::tcgetwinsize(io::stderr()) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => otherwise,
    }
}
