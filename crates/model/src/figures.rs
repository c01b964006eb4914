//! The figures of a series, in one table from which files, reports and exports are made.

use serde::ser::{Serialize, SerializeMap, Serializer};
use stats::Summary;
use std::fmt;

/// Makes [`Figures`] and [`Figure`] from one list: variant, field, type, heading, and quantile.
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

            /// Name in JSON and exports.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$figure => stringify!($field),)*
                }
            }

            /// Heading, for a person.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$figure => $title,)*
                }
            }

            /// The fraction of samples at or below it, if it is a quantile.
            pub const fn quantile(self) -> Option<f64> {
                match self {
                    $(Self::$figure => $quantile,)*
                }
            }
        }

        impl Figures {
            /// The value of one figure.
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
    /// Median. Like all quantiles, `None` if fewer than ten samples are beyond it.
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

/// The value of a figure in ns. Whole numbers stay integers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FigureValue {
    /// An extreme; negative values occur between two different clocks.
    Whole(i64),
    /// A quantile.
    Count(u64),
    /// A mean.
    Real(f64),
}

impl FigureValue {
    /// The value in ns, for uses that need not be exact.
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
    /// Adjusts for negative samples, which the histogram holds as its lowest value: a quantile above the largest sample becomes
    /// `None`, because it is only known to be below zero. Without a maximum the figures stay unchanged.
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
