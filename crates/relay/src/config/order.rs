//! Assigns the members of a dataset to the channels of a bay.

use units::{Refusal, refusal};
use waveform::sample::{Dataset, MemberRole, Quantity};
use wire::quality::SvQuality;
use wire::sv::Members;

/// The eight channels of a bay, by the names of members.
pub const CHANNELS: [&str; 8] = ["Ia", "Ib", "Ic", "In", "Ua", "Ub", "Uc", "Un"];

/// Indexes of the residuals among the channels.
pub(crate) const RESIDUALS: [usize; 2] = [3, 7];

/// Position of each channel's member in the dataset, from 0; `None` if the dataset has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    places: [Option<u8>; 8],
    members: u8,
}

impl Order {
    /// The usual order: currents a, b, c, residual, then the voltages.
    pub(super) fn usual(dataset: &Dataset) -> Self {
        let place = |quantity: Quantity, role: MemberRole| {
            let members = dataset.members();
            let found = members
                .iter()
                .position(|member| member.quantity == quantity && member.place == role);
            found.map(|place| place as u8)
        };
        let role = |channel: usize| match channel % 4 {
            3 => MemberRole::Residual,
            phase => MemberRole::Phase(phase),
        };
        let quantity = |channel: usize| match channel {
            0..4 => Quantity::Current,
            _ => Quantity::Voltage,
        };
        Self {
            places: std::array::from_fn(|channel| place(quantity(channel), role(channel))),
            members: dataset.members().len() as u8,
        }
    }

    /// Makes the order stated in a file: the names of the members; `-` for an unused one.
    pub(super) fn of_names(names: &[String], dataset: &Dataset) -> Result<Self, Refusal> {
        let members = dataset.members();
        if names.len() != members.len() {
            return Err(refusal!(
                "order has {} members, the profile {}: name each, and write \"-\" for one that is not used",
                names.len(),
                members.len()
            ));
        }
        let mut places = [None; 8];
        for (place, name) in names.iter().enumerate().filter(|(_, name)| *name != "-") {
            let channel = super::names::find("channel", name, CHANNELS.into_iter())?;
            let is_current = members[place].quantity == Quantity::Current;
            if is_current != (channel < 4) {
                return Err(refusal!("order: member {} of the profile is not {name}", place + 1));
            }
            if places[channel].replace(place as u8).is_some() {
                return Err(refusal!("order: {name} is given twice"));
            }
        }
        Ok(Self {
            places,
            members: members.len() as u8,
        })
    }

    /// True if the dataset has this channel, 0 to 7.
    #[must_use]
    pub fn has(&self, channel: usize) -> bool {
        self.places.get(channel).is_some_and(Option::is_some)
    }

    /// Number of members of the dataset.
    #[must_use]
    pub fn members(&self) -> usize {
        usize::from(self.members)
    }

    /// Primary values in A and V, and qualities, of a sample with 9-2LE scaling (1 mA, 10 mV); `None` if its number of members
    /// differs. A phase that is not in the dataset has quality invalid.
    #[must_use]
    pub fn sample(&self, members: Members<'_>) -> Option<([f64; 8], [SvQuality; 8])> {
        if members.len() != self.members() {
            return None;
        }
        let mut values = [0.0; 8];
        let mut qualities = [SvQuality::GOOD; 8];
        for (channel, place) in self.places.iter().enumerate() {
            let member = place.and_then(|place| members.get(usize::from(place)));
            match member {
                Some((value, quality)) => {
                    values[channel] = f64::from(value) * if channel < 4 { 0.001 } else { 0.01 };
                    qualities[channel] = quality;
                }
                None if RESIDUALS.contains(&channel) => {}
                None => qualities[channel] = SvQuality::INVALID,
            }
        }
        Some((values, qualities))
    }
}

#[cfg(test)]
mod tests {
    use super::Order;
    use waveform::sample::Dataset;
    use wire::quality::SvQuality;
    use wire::sv::Members;

    fn octets(values: &[i32]) -> Vec<u8> {
        let members = values.iter().map(|value| [value.to_be_bytes(), [0; 4]].concat());
        members.flatten().collect()
    }

    #[test]
    fn members_become_channels() {
        let order = Order::usual(&Dataset::default());
        let octets = octets(&[1000, 2, 3, 4, 500, 6, 7, 8]);
        let (values, qualities) = order.sample(Members::new(&octets).expect("members")).expect("eight");
        assert_eq!((values[0], values[3], values[4], values[7]), (1.0, 0.004, 5.0, 0.08));
        assert_eq!(qualities, [SvQuality::GOOD; 8]);
    }

    #[test]
    fn what_is_not_there_is_invalid() {
        let dataset = Dataset::new(6, 3).expect("6I3U");
        let order = Order::usual(&dataset);
        assert!(order.has(3) && !order.has(7) && order.members() == 9);
        let names = ["-", "Ia", "Ib", "Ic", "-", "-", "Uc", "Ub", "Ua"].map(str::to_owned);
        let order = Order::of_names(&names, &dataset).expect("an order");
        let octets = octets(&[0, 1000, 2000, 3000, 0, 0, 300, 200, 100]);
        let (values, _) = order.sample(Members::new(&octets).expect("members")).expect("nine");
        assert_eq!(values, [1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 0.0]);
        let currents = Order::usual(&Dataset::new(3, 0).expect("3I"));
        let octets = &octets[..24];
        let (_, qualities) = currents.sample(Members::new(octets).expect("members")).expect("three");
        assert_eq!(qualities[4], SvQuality::INVALID);
        assert_eq!(qualities[7], SvQuality::GOOD, "a residual is summed up");
        assert_eq!(order.sample(Members::new(octets).expect("members")), None);
    }

    #[test]
    fn wrong_orders_are_refused() {
        let refusal = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            Order::of_names(&names, &Dataset::new(3, 1).expect("3I1U")).expect_err("refused")
        };
        assert!(
            refusal(&["Ia", "Ib", "Ic"])
                .to_string()
                .contains("3 members, the profile 4")
        );
        assert!(refusal(&["Ia", "Ib", "Ia", "Ua"]).to_string().contains("twice"));
        assert!(refusal(&["Ua", "Ib", "Ic", "-"]).to_string().contains("is not Ua"));
        assert!(
            refusal(&["Ia", "Ib", "Id", "Ua"])
                .to_string()
                .contains("no channel \"Id\"")
        );
    }
}
