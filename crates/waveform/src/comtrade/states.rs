//! The states of a digital channel.

/// The state of each sample: off, on, or unknown. At most two bits per sample, because a record may have hundreds of channels.
#[derive(Debug, Clone, Default)]
pub(super) struct States {
    samples: usize,
    on: Vec<u8>,
    /// Shorter than `on` if no later sample is unknown.
    unknown: Vec<u8>,
}

impl States {
    /// Adds the state of the next sample; `None` if it is unknown.
    pub(super) fn push(&mut self, state: Option<bool>) {
        let (octet, bit) = (self.samples / 8, 1 << (self.samples % 8));
        self.samples += 1;
        if self.on.len() == octet {
            self.on.push(0);
        }
        match state {
            Some(true) => self.on[octet] |= bit,
            Some(false) => {}
            None => {
                self.unknown.resize(octet + 1, 0);
                self.unknown[octet] |= bit;
            }
        }
    }

    /// The state at `sample`, from 0; `None` if it is unknown, or there is no such sample.
    pub(super) fn get(&self, sample: usize) -> Option<bool> {
        let (octet, bit) = (sample / 8, 1 << (sample % 8));
        let is_unknown = self.unknown.get(octet).is_some_and(|octet| octet & bit != 0);
        (sample < self.samples && !is_unknown).then(|| self.on[octet] & bit != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::States;

    #[test]
    fn what_is_pushed_is_there() {
        let pushed: Vec<Option<bool>> = (0..100)
            .map(|sample| (sample % 7 != 3).then_some(sample % 3 == 0))
            .chain(vec![Some(true); 20])
            .collect();
        let mut states = States::default();
        pushed.iter().for_each(|state| states.push(*state));
        let found: Vec<Option<bool>> = (0..pushed.len()).map(|sample| states.get(sample)).collect();
        assert_eq!(found, pushed);
        assert_eq!(states.get(pushed.len()), None);
    }
}
