//! The figures of a series. One table, which files, reports and exports go through.

use serde::ser::{Serialize, SerializeMap, Serializer};
use stats::Summary;
use std::fmt;

/// Makes [`Figures`] and [`Figure`] of one list: variant, field, type, heading, and the quantile that it is.
macro_rules! figures {
    ($($(#[$doc:meta])* $figure:ident = $field:ident: $type:ty, $title:literal, $quantile:expr;)*) => {
        /// The figures of a series that every form of the report shows, in ns.
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub struct Figures {
            $($(#[$doc])* pub $field: Option<$type>,)*
        }

        /// One of the [`Figures`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Figure {
            $($(#[$doc])* $figure,)*
        }

        impl Figure {
            /// Every figure, in the order to show.
            pub const ALL: [Self; [$($title),*].len()] = [$(Self::$figure),*];

            /// Its name in JSON and exports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$figure => stringify!($field),)*
                }
            }

            /// Its heading, for a person.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$figure => $title,)*
                }
            }

            /// The fraction of samples that lies at or below it, if it is a quantile.
            pub const fn quantile(self) -> Option<f64> {
                match self {
                    $(Self::$figure => $quantile,)*
                }
            }
        }

        impl Figures {
            /// The value of one.
            pub fn get(&self, figure: Figure) -> Option<FigureValue> {
                match figure {
                    $(Figure::$figure => self.$field.map(FigureValue::from),)*
                }
            }
        }
    };
}

figures! {
    /// Smallest sample.
    Min = min: i64, "min", None;
    /// Mean.
    Mean = mean: f64, "mean", None;
    /// Median. As all quantiles, `None` where fewer than ten samples lie beyond it.
    P50 = p50: u64, "p50", Some(0.5);
    /// 99 % quantile.
    P99 = p99: u64, "p99", Some(0.99);
    /// 99.9 % quantile.
    P999 = p999: u64, "p99.9", Some(0.999);
    /// 99.99 % quantile.
    P9999 = p9999: u64, "p99.99", Some(0.9999);
    /// 99.999 % quantile.
    P99999 = p99999: u64, "p99.999", Some(0.99999);
    /// Largest sample.
    Max = max: i64, "max", None;
}

/// The value of a figure in ns. Whole numbers stay whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FigureValue {
    /// An extreme; below zero where two clocks differ.
    Whole(i64),
    /// A quantile.
    Count(u64),
    /// A mean.
    Real(f64),
}

impl FigureValue {
    /// In ns, for what need not be exact.
    pub fn ns(self) -> f64 {
        match self {
            Self::Whole(ns) => ns as f64,
            Self::Count(ns) => ns as f64,
            Self::Real(ns) => ns,
        }
    }
}

impl From<i64> for FigureValue {
    fn from(ns: i64) -> Self {
        Self::Whole(ns)
    }
}

impl From<u64> for FigureValue {
    fn from(ns: u64) -> Self {
        Self::Count(ns)
    }
}

impl From<f64> for FigureValue {
    fn from(ns: f64) -> Self {
        Self::Real(ns)
    }
}

impl fmt::Display for FigureValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(ns) => ns.fmt(f),
            Self::Count(ns) => ns.fmt(f),
            Self::Real(ns) => ns.fmt(f),
        }
    }
}

impl Serialize for FigureValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(ns) => serializer.serialize_i64(*ns),
            Self::Count(ns) => serializer.serialize_u64(*ns),
            Self::Real(ns) => serializer.serialize_f64(*ns),
        }
    }
}

/// A map from the figures' names to their values in ns, or null.
impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Figure::ALL.len()))?;
        for figure in Figure::ALL {
            map.serialize_entry(figure.name(), &self.get(figure))?;
        }
        map.end()
    }
}

impl From<&Summary> for Figures {
    fn from(summary: &Summary) -> Self {
        let whole = |ns: Option<u64>| ns.and_then(|ns| i64::try_from(ns).ok());
        Self {
            min: whole(summary.min),
            mean: summary.mean,
            p50: summary.p50,
            p99: summary.p99,
            p999: summary.p999,
            p9999: summary.p9999,
            p99999: summary.p99999,
            max: whole(summary.max),
        }
    }
}

impl Figures {
    /// Negative samples are in the histogram as its lowest value: a quantile that would be above the largest sample is not
    /// known, but for being below zero. Without a maximum as they are.
    pub(crate) fn below(mut self, max_ns: Option<i64>) -> Self {
        let Some(max_ns) = max_ns else { return self };
        let quantiles = [
            &mut self.p50,
            &mut self.p99,
            &mut self.p999,
            &mut self.p9999,
            &mut self.p99999,
        ];
        for quantile in quantiles {
            *quantile = quantile.filter(|_| max_ns >= 0).map(|ns| ns.min(max_ns.unsigned_abs()));
        }
        self
    }
}
