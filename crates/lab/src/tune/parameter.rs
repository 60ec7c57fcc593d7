//! The parameters of the family `rent` that a search may change, and the values that it tries.
//!
//! Every setting is a whole number here, so that a point of the search can be compared, remembered and written down
//! without rounding. Steps are coarse: a few dozen sessions cannot tell an age of 24 calls from one of 25.
//!
//! Inputs of tools are no parameter. A replay looks for what is missed in results only, so cutting inputs would look free.

use secateur::{Cap, Profile, Rent};

/// An age that is never reached, or a text that is never too long.
const NEVER: u32 = u32::MAX;

/// A parameter that a search may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    Other,
    Read,
    Edited,
    Agent,
    /// Both reasons for which a result is overtaken by a later one: the same text again, or more of it.
    Overtaken,
    Cold,
    Margin,
    LeastChars,
    Cap,
}

/// All parameters, those first that decide about most of the bill.
pub(super) const PARAMETERS: [Parameter; 9] = [
    Parameter::Other,
    Parameter::Margin,
    Parameter::Read,
    Parameter::Cap,
    Parameter::Cold,
    Parameter::Edited,
    Parameter::LeastChars,
    Parameter::Overtaken,
    Parameter::Agent,
];

/// How a text is shortened if the profile below does not say: mostly its head, and never a file.
const USUAL_CAP: Cap = Cap { chars: 8_000, head: 0.6, reads: false };

impl Parameter {
    /// The values that are tried.
    pub(super) fn grid(self) -> &'static [u32] {
        match self {
            Self::Other => &[1, 2, 3, 4, 6, 10, 20],
            Self::Margin => &[0, 50, 100, 150, 200, 300, 400, 600],
            Self::Read => &[5, 10, 15, 20, 25, 40, 60, 100],
            Self::Cap => &[8_000, 16_000, 32_000, NEVER],
            Self::Cold => &[1, 2, 3, 5, 10, 15, 25],
            Self::Edited => &[2, 4, 6, 10, 15, 25],
            Self::LeastChars => &[400, 800, 1_600, 3_200],
            Self::Overtaken => &[1, 2, 3, 5, 10],
            Self::Agent => &[10, 20, 25, 50, 100],
        }
    }

    /// Its value in a rule.
    fn read(self, rent: &Rent) -> u32 {
        let ages = &rent.ages;
        let age = |age: Option<u32>| age.unwrap_or(NEVER);
        let count = |count: u64| u32::try_from(count).unwrap_or(NEVER);
        match self {
            Self::Other => age(ages.other),
            Self::Margin => (rent.margin * 100.0).round() as u32,
            Self::Read => age(ages.read),
            Self::Cap => rent.cap.map_or(NEVER, |cap| count(cap.chars)),
            Self::Cold => age(ages.cold),
            Self::Edited => age(ages.edited),
            Self::LeastChars => count(rent.least_chars),
            Self::Overtaken => age(ages.covered),
            Self::Agent => age(ages.agent),
        }
    }

    /// Sets it.
    fn write(self, rent: &mut Rent, value: u32) {
        let ages = &mut rent.ages;
        let age = (value != NEVER).then_some(value);
        match self {
            Self::Other => ages.other = age,
            Self::Margin => rent.margin = f64::from(value) / 100.0,
            Self::Read => ages.read = age,
            // A profile can set a cap but not remove one, so no cap is one that nothing exceeds.
            Self::Cap => {
                let below = rent.cap.unwrap_or(USUAL_CAP);
                rent.cap = Some(Cap { chars: value.into(), ..below });
            }
            Self::Cold => ages.cold = age,
            Self::Edited => ages.edited = age,
            Self::LeastChars => rent.least_chars = value.into(),
            Self::Overtaken => (ages.covered, ages.repeated) = (age, age),
            Self::Agent => ages.agent = age,
        }
    }

    /// The keys of the table `rent` that it sets, and their value as it is written.
    fn keys(self, rent: &Rent) -> (&'static [&'static str], String) {
        let age = |age: Option<u32>| age.map_or_else(|| "\"never\"".to_owned(), |age| age.to_string());
        let cap = rent.cap.map(|Cap { chars, head, reads }| {
            format!("{{ chars = {chars}, head = {head:?}, reads = {reads} }}")
        });
        let ages = &rent.ages;
        match self {
            Self::Other => (&["ages.other"], age(ages.other)),
            Self::Margin => (&["margin"], format!("{:?}", rent.margin)),
            Self::Read => (&["ages.read"], age(ages.read)),
            Self::Cap => (&["cap"], cap.unwrap_or_else(|| "none".to_owned())),
            Self::Cold => (&["ages.cold"], age(ages.cold)),
            Self::Edited => (&["ages.edited"], age(ages.edited)),
            Self::LeastChars => (&["least_chars"], rent.least_chars.to_string()),
            Self::Overtaken => (&["ages.covered", "ages.repeated"], age(ages.covered)),
            Self::Agent => (&["ages.agent"], age(ages.agent)),
        }
    }
}

/// The values of all parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ParameterPoint([u32; PARAMETERS.len()]);

impl ParameterPoint {
    /// Their values in a rule.
    pub(super) fn of(rent: &Rent) -> Self {
        Self(PARAMETERS.map(|parameter| parameter.read(rent)))
    }

    /// The same with another value of the parameter of this number.
    pub(super) fn with(mut self, parameter: usize, value: u32) -> Self {
        if let Some(slot) = self.0.get_mut(parameter) {
            *slot = value;
        }
        self
    }

    /// The value of the parameter of this number.
    pub(super) fn at(&self, parameter: usize) -> u32 {
        self.0.get(parameter).copied().unwrap_or(NEVER)
    }

    /// A rule with these values. What no parameter sets stays as it is.
    pub(super) fn rent(&self, base: &Rent) -> Rent {
        let mut rent = base.clone();
        for (parameter, value) in PARAMETERS.into_iter().zip(self.0) {
            if parameter.read(base) != value {
                parameter.write(&mut rent, value);
            }
        }
        rent
    }

    /// A profile with these values.
    pub(super) fn profile(&self, base: &Profile, rent: &Rent) -> Profile {
        let mut profile = base.clone();
        profile.policy.family = secateur::Family::Rent(self.rent(rent));
        profile
    }

    /// What a file has to change of a rule: key, value there, value here.
    pub(super) fn changes(&self, base: &Rent) -> Vec<(&'static str, String, String)> {
        let rent = self.rent(base);
        let turned = PARAMETERS.into_iter().filter(|parameter| parameter.read(base) != parameter.read(&rent));
        turned
            .flat_map(|parameter| {
                let (before, (keys, after)) = (parameter.keys(base).1, parameter.keys(&rent));
                keys.iter().map(move |&key| (key, before.clone(), after.clone()))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secateur::{Family, Profiles};

    fn rent(name: &str) -> Rent {
        match Profiles::builtin().get(name).unwrap().policy.family {
            Family::Rent(rent) => rent,
            other => panic!("{name} is not of the family: {other:?}"),
        }
    }

    #[test]
    fn every_preset_is_a_point_of_the_grid_and_comes_back() {
        let base = rent("balanced");
        for name in ["careful", "balanced", "frugal"] {
            let preset = rent(name);
            let point = ParameterPoint::of(&preset);
            for (number, parameter) in PARAMETERS.into_iter().enumerate() {
                assert!(
                    parameter.grid().contains(&point.at(number)),
                    "{name}: {parameter:?} {}",
                    point.at(number)
                );
            }
            let without_inputs = Rent { inputs: None, ..preset };
            assert_eq!(point.rent(&base), without_inputs, "{name}");
        }
        assert!(ParameterPoint::of(&base).changes(&base).is_empty());
    }

    #[test]
    fn only_what_was_turned_is_written() {
        let base = rent("balanced");
        let point = ParameterPoint::of(&base).with(0, 2).with(1, 150).with(3, 16_000).with(7, 1);
        let changes = point.changes(&base);
        let text = |(key, before, after): &(&str, String, String)| format!("{key}: {before} -> {after}");
        assert_eq!(
            changes.iter().map(text).collect::<Vec<_>>(),
            [
                "ages.other: 3 -> 2",
                "margin: 3.0 -> 1.5",
                "cap: none -> { chars = 16000, head = 0.6, reads = false }",
                "ages.covered: 3 -> 1",
                "ages.repeated: 3 -> 1",
            ]
        );
    }

    #[test]
    fn grids_rise() {
        for parameter in PARAMETERS {
            assert!(parameter.grid().is_sorted_by(|a, b| a < b), "{parameter:?}");
        }
    }
}
