//! Notices of the probes: reports of a measuring thread in addition to its samples.
//!
//! Each probe has one enum of notices, made by [`notices!`]. A function next to the enum gives each notice its words and its kind
//! of event; the kind decides whether it is a doubt.

use wire::goose::{FollowerDoubt, REFUSALS, Refusal};
use wire::routed::Proof;
use wire::sequence::What;

/// An item with a number that a notice carries in its code.
pub(crate) trait Numbered: Copy {
    /// Number of the item.
    fn number(self) -> u16;
    /// The item with this number, if there is one.
    fn of(number: u16) -> Option<Self>;
}

impl Numbered for What {
    fn number(self) -> u16 {
        What::number(self).into()
    }

    fn of(number: u16) -> Option<Self> {
        What::of(u8::try_from(number).ok()?)
    }
}

impl Numbered for Refusal {
    fn number(self) -> u16 {
        self as u16
    }

    fn of(number: u16) -> Option<Self> {
        REFUSALS.get(usize::from(number)).copied()
    }
}

impl Numbered for FollowerDoubt {
    fn number(self) -> u16 {
        self as u16
    }

    fn of(number: u16) -> Option<Self> {
        FollowerDoubt::ALL.get(usize::from(number)).copied()
    }
}

impl Numbered for Proof {
    fn number(self) -> u16 {
        // Only results that are counted have a place, and are told.
        self.place().and_then(|place| u16::try_from(place).ok()).unwrap_or(0)
    }

    fn of(number: u16) -> Option<Self> {
        Self::COUNTED.get(usize::from(number)).copied()
    }
}

/// Makes the enum of a probe's notices, each with its code. Notices listed after `each` concern one of several [`Numbered`]
/// items: their code is the given number plus the number of the item.
macro_rules! notices {
    (
        $(#[$meta:meta])*
        $visible:vis enum $name:ident {
            $($(#[$doc:meta])* $one:ident = $code:literal,)+
        }
        $(each {
            $($(#[$each_doc:meta])* $each:ident($of:ty) = $first:literal,)+
        })?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $visible enum $name {
            $($(#[$doc])* $one,)+
            $($($(#[$each_doc])* $each($of),)+)?
        }

        impl $name {
            /// The notice with this code; `None` if there is no such code.
            $visible fn of(code: u16) -> Option<Self> {
                match code {
                    $($code => return Some(Self::$one),)+
                    _ => {}
                }
                $($(
                    if let Some(number) = code.checked_sub($first)
                        && let Some(of) = $crate::notice::Numbered::of(number)
                    {
                        return Some(Self::$each(of));
                    }
                )+)?
                None
            }
        }

        impl run::Notice for $name {
            fn code(self) -> u16 {
                match self {
                    $(Self::$one => $code,)+
                    $($(Self::$each(of) => $first + $crate::notice::Numbered::number(of),)+)?
                }
            }
        }
    };
}

pub(crate) use notices;

#[cfg(test)]
mod tests {
    use run::Notice as _;
    use wire::goose::{REFUSALS, Refusal};
    use wire::sequence::What;

    notices! {
        enum Notice {
            One = 7,
        }
        each {
            Found(What) = 0x100,
            Refused(Refusal) = 1_100,
            RefusedTotal(Refusal) = 1_200,
        }
    }

    #[test]
    fn a_notice_survives_its_way_and_no_other_code_becomes_one() {
        let refused = REFUSALS
            .into_iter()
            .flat_map(|refusal| [Notice::Refused(refusal), Notice::RefusedTotal(refusal)]);
        let found = (0..=u8::MAX).filter_map(What::of).map(Notice::Found);
        let all: Vec<Notice> = refused.chain(found).chain([Notice::One]).collect();
        let mut codes: Vec<u16> = all.iter().map(|notice| notice.code()).collect();
        assert!(
            all.iter()
                .zip(&codes)
                .all(|(notice, code)| Notice::of(*code) == Some(*notice))
        );
        codes.sort_unstable();
        let known: Vec<u16> = (0..=u16::MAX).filter(|code| Notice::of(*code).is_some()).collect();
        assert_eq!(codes, known);
    }
}
