//! The requested form of XDP, the form that runs, and why no better one does.

use std::fmt;

/// The form of XDP to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum XdpRequest {
    /// Native with zero-copy, else native with copying, else generic.
    #[default]
    Auto,
    /// Native with zero-copy, and no other form.
    ZeroCopy,
    /// Native with copying, and no other form.
    Native,
    /// Generic, which works with every driver.
    Generic,
}

/// The form of XDP that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XdpRunning {
    /// The driver runs the program, and the NIC writes into the port's own memory.
    ZeroCopy,
    /// The driver runs the program, and the kernel copies frames.
    Native,
    /// The kernel runs the program, after the driver, and copies frames.
    Generic,
}

impl fmt::Display for XdpRunning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ZeroCopy => "native, zero-copy",
            Self::Native => "native, copy",
            Self::Generic => "generic, copy",
        })
    }
}

/// A form that was tried and refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XdpRefusal {
    /// The form.
    pub form: XdpRunning,
    /// Why it was refused, with the kernel's error.
    pub why: String,
}

/// The form that runs, and the better forms that were refused.
///
/// Displayed as `native, copy (native, zero-copy refused: ...)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XdpMode {
    /// Form that runs.
    pub running: XdpRunning,
    /// Better forms that were tried, best first; empty if they were not requested.
    pub refused: Vec<XdpRefusal>,
}

impl fmt::Display for XdpMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.running)?;
        // Forms refused for the same reason share one mention of it.
        for (index, alike) in self.refused.chunk_by(|one, next| one.why == next.why).enumerate() {
            f.write_str(if index == 0 { " (" } else { "; " })?;
            for (place, refusal) in alike.iter().enumerate() {
                let before = if place == 0 { "" } else { " and " };
                write!(f, "{before}{}", refusal.form)?;
            }
            if let Some(first) = alike.first() {
                write!(f, " refused: {}", first.why)?;
            }
        }
        f.write_str(if self.refused.is_empty() { "" } else { ")" })
    }
}

#[cfg(test)]
mod tests {
    use super::{XdpMode, XdpRefusal, XdpRunning};

    #[test]
    fn says_what_runs_and_why_nothing_better_does() {
        let mut mode = XdpMode {
            running: XdpRunning::Generic,
            refused: Vec::new(),
        };
        assert_eq!(mode.to_string(), "generic, copy");
        for (form, why) in [(XdpRunning::ZeroCopy, "no"), (XdpRunning::Native, "never")] {
            let why = why.to_owned();
            mode.refused.push(XdpRefusal { form, why });
        }
        assert_eq!(
            mode.to_string(),
            "generic, copy (native, zero-copy refused: no; native, copy refused: never)"
        );
        mode.refused[1].why = "no".to_owned();
        assert_eq!(
            mode.to_string(),
            "generic, copy (native, zero-copy and native, copy refused: no)"
        );
    }
}
