//! Functions and their settings, as listed in a configuration.

use serde::Deserialize;

use crate::admittance::{Psde, PsdeSettings};
use crate::differential::{Pdif, PdifSettings};
use crate::distance::{Pdis, PdisSettings};
use crate::error::SettingError;
use crate::frequency::{FrequencyProtection, FrequencySettings};
use crate::function::{Function, Source};
use crate::overcurrent::{Pioc, PiocSettings, Psof, PsofSettings, Ptoc, PtocSettings};
use crate::rated::Rated;
use crate::voltage::{Ptov, PtovSettings, Ptuv, PtuvSettings};

/// Settings of one function of any kind. In a file the kind is the name of the table: `[settings.ptoc]`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FunctionSettings {
    /// Instantaneous overcurrent (50, 50N).
    Pioc(PiocSettings),
    /// Switch-on-to-fault (50SOTF).
    Psof(PsofSettings),
    /// Time overcurrent, directional or not (51, 51N, 46, 67, 67N).
    Ptoc(PtocSettings),
    /// Undervoltage (27).
    Ptuv(PtuvSettings),
    /// Overvoltage (59, 59N, 47).
    Ptov(PtovSettings),
    /// Frequency and its rate of change (81U, 81O, 81R).
    Frequency(FrequencySettings),
    /// A distance zone (21).
    Pdis(PdisSettings),
    /// Differential (87T, 87L).
    Pdif(PdifSettings),
    /// Multi-frequency neutral admittance (67YN).
    Psde(PsdeSettings),
}

impl FunctionSettings {
    /// The function with these settings.
    ///
    /// # Errors
    /// A setting outside its range, or settings that do not go together.
    pub fn make(&self, rated: &Rated) -> Result<Box<dyn Function + Send>, SettingError> {
        Ok(match *self {
            Self::Pioc(settings) => Box::new(Pioc::new(settings, rated)?),
            Self::Psof(settings) => Box::new(Psof::new(settings, rated)?),
            Self::Ptoc(settings) => Box::new(Ptoc::new(settings, rated)?),
            Self::Ptuv(settings) => Box::new(Ptuv::new(settings, rated)?),
            Self::Ptov(settings) => Box::new(Ptov::new(settings, rated)?),
            Self::Frequency(settings) => Box::new(FrequencyProtection::new(settings, rated)?),
            Self::Pdis(settings) => Box::new(Pdis::new(settings, rated)?),
            Self::Pdif(settings) => Box::new(Pdif::new(settings, rated)?),
            Self::Psde(settings) => Box::new(Psde::new(settings, rated)?),
        })
    }

    /// Harmonics that its bays must measure for all channels ([`crate::measure::BaySettings::harmonics`]).
    #[must_use]
    pub fn harmonics(&self) -> &'static [u32] {
        match self {
            Self::Pdif(settings) => match (settings.second_harmonic != 0.0, settings.fifth_harmonic != 0.0) {
                (true, true) => &[2, 5],
                (true, false) => &[2],
                (false, true) => &[5],
                (false, false) => &[],
            },
            _ => &[],
        }
    }

    /// Harmonics that its bays must measure for the residuals ([`crate::measure::BaySettings::residual_harmonics`]).
    #[must_use]
    pub fn residual_harmonics(&self) -> &'static [u32] {
        match self {
            Self::Psde(settings) if settings.harmonics => &[2, 3, 5, 7, 9],
            _ => &[],
        }
    }

    /// Indices of its sets: of currents and of voltages, or of the two sides.
    #[must_use]
    pub fn sets(&self) -> [usize; 2] {
        let source = match self {
            Self::Pioc(settings) => settings.source,
            Self::Psof(settings) => settings.source,
            Self::Ptoc(settings) => settings.source,
            Self::Ptuv(settings) => settings.source,
            Self::Ptov(settings) => settings.source,
            Self::Frequency(settings) => settings.source,
            Self::Pdis(settings) => settings.source,
            Self::Psde(settings) => settings.source,
            Self::Pdif(settings) => return settings.sides,
        };
        [source.current, source.voltage]
    }

    /// The same function with other sets, in the order of [`Self::sets`].
    #[must_use]
    pub fn of_sets(mut self, [current, voltage]: [usize; 2]) -> Self {
        let source = match &mut self {
            Self::Pioc(settings) => &mut settings.source,
            Self::Psof(settings) => &mut settings.source,
            Self::Ptoc(settings) => &mut settings.source,
            Self::Ptuv(settings) => &mut settings.source,
            Self::Ptov(settings) => &mut settings.source,
            Self::Frequency(settings) => &mut settings.source,
            Self::Pdis(settings) => &mut settings.source,
            Self::Psde(settings) => &mut settings.source,
            Self::Pdif(settings) => {
                settings.sides = [current, voltage];
                return self;
            }
        };
        *source = Source { current, voltage };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::FunctionSettings;
    use crate::rated::Rated;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Instance {
        name: String,
        settings: FunctionSettings,
    }

    #[derive(Deserialize)]
    struct File {
        function: Vec<Instance>,
    }

    #[test]
    fn a_file_lists_functions() {
        let text = r#"
            [[function]]
            name = "feeder 1, stage 2"
            settings.ptoc = { source = 4, pickup = 1.2, curve = "iec-very-inverse", time-multiplier = 0.3 }
            [[function]]
            name = "transformer"
            [function.settings.pdif]
            sides = [3, 1]
            object.transformer.vector-group = "Dyn11"
            fifth-harmonic = 0
            [[function]]
            name = "earth fault"
            settings.psde = { source = { current = 2, voltage = 0 } }
        "#;
        let file: File = toml::from_str(text).expect("TOML");
        let found: Vec<_> = file
            .function
            .iter()
            .map(|each| {
                let made = each.settings.make(&Rated::default()).expect("settings");
                (
                    each.name.as_str(),
                    made.node().ansi,
                    each.settings.sets(),
                    [each.settings.harmonics(), each.settings.residual_harmonics()],
                )
            })
            .collect();
        type Found = (&'static str, &'static str, [usize; 2], [&'static [u32]; 2]);
        let expected: [Found; 3] = [
            ("feeder 1, stage 2", "51", [4, 4], [&[], &[]]),
            ("transformer", "87T", [3, 1], [&[2], &[]]),
            ("earth fault", "67YN", [2, 0], [&[], &[2, 3, 5, 7, 9]]),
        ];
        assert_eq!(found, expected);
        let error = toml::from_str::<File>("[[function]]\nname = \"x\"\nsettings.ptoc = { pickpu = 1.2 }");
        let error = error.err().expect("refused").to_string();
        assert!(error.contains("line 3") && error.contains("pickpu"), "{error}");
    }
}
