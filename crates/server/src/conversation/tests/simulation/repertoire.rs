//! Which faults a simulation plays.

/// Which faults are played.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repertoire {
    /// Stored values are damaged.
    pub damages: bool,
    /// The store checks bodies when it reads them, as the real ones must.
    pub checks_bodies: bool,
    /// The clock of the store goes back, so that leases of dead processes end far in the future.
    pub store_clock_goes_back: bool,
    /// Clients of two tenants send the same texts.
    pub tenants_share_texts: bool,
    /// The provider binds thinking, but does not know the headers that ask for a remedy.
    pub gateways: bool,
}

impl Repertoire {
    /// The same with what the environment adds or takes away, separated by commas, to see what is found then.
    pub(super) fn with_environment(mut self) -> Self {
        let names = std::env::var("SECATEUR_SIMULATION_FAULTS").unwrap_or_default();
        for name in names.split(',').filter(|name| !name.is_empty()) {
            match name {
                "unchecked-bodies" => self.checks_bodies = false,
                "no-gateways" => self.gateways = false,
                other => {
                    panic!(
                        "SECATEUR_SIMULATION_FAULTS: {other:?} is neither unchecked-bodies nor no-gateways"
                    )
                }
            }
        }
        self
    }
}

/// What every run plays.
pub(super) const ALL: Repertoire = Repertoire {
    damages: true,
    checks_bodies: true,
    store_clock_goes_back: true,
    tenants_share_texts: true,
    gateways: true,
};
