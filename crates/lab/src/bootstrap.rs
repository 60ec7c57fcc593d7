//! The bootstrap: how sure a share of costs is that a few dozen sessions gave.
//!
//! Sessions differ more from one another than calls within a session do. So sessions are what is drawn again, with
//! replacement, and the interval is what the middle 95 % of such draws gave. The same seed draws the same sessions: a
//! report can be made again, and all policies of one report are judged by the same draws.

/// How often sessions are drawn.
pub const ROUNDS: usize = 1_000;

/// Where the draws begin, so that they are the same each time.
pub const SEED: u64 = 7;

/// The 95 % interval of `100 * sum(a) / sum(b)` over sessions with costs `(a, b)`.
///
/// Draws whose base is zero say nothing and are left out; if there are no others, both ends are NaN.
///
/// ```
/// let sessions = [(50.0, 100.0), (90.0, 100.0), (160.0, 200.0)];
/// let (low, high) = secateur_lab::bootstrap::interval(&sessions, 1000, 7);
/// assert!(50.0 <= low && low < 75.0 && 75.0 < high && high <= 90.0);
/// ```
pub fn interval(pairs: &[(f64, f64)], rounds: usize, seed: u64) -> (f64, f64) {
    let mut random = SplitMix64(seed);
    let mut shares: Vec<f64> =
        (0..rounds).filter_map(|_| share((0..pairs.len()).map(|_| random.pick(pairs)))).collect();
    shares.sort_by(f64::total_cmp);
    let Some(last) = shares.len().checked_sub(1) else { return (f64::NAN, f64::NAN) };
    // Rounded outwards: few draws make the interval wider, not narrower.
    let (low, high) = ((last as f64 * 0.025).floor(), (last as f64 * 0.975).ceil());
    (shares[low as usize], shares[high as usize])
}

/// The 95 % interval of `100 * sum(a - b) / sum(base)`: how much more one policy costs than another, in points of what
/// the sessions cost without any.
///
/// The sessions of one draw are the same for both policies. A difference may be sure though both shares are not.
pub fn difference(a: &[f64], b: &[f64], base: &[f64], rounds: usize, seed: u64) -> (f64, f64) {
    let pairs: Vec<(f64, f64)> = a.iter().zip(b).zip(base).map(|((a, b), &base)| (a - b, base)).collect();
    interval(&pairs, rounds, seed)
}

/// The share of all sessions together, in percent.
fn share(pairs: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (a, b) = pairs.fold((0.0, 0.0), |(a, b), pair| (a + pair.0, b + pair.1));
    (b != 0.0).then_some(100.0 * a / b)
}

/// A small generator of random numbers (splitmix64).
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// One of some sessions, each as likely as the others.
    fn pick(&mut self, pairs: &[(f64, f64)]) -> (f64, f64) {
        let place = (u128::from(self.next()) * pairs.len() as u128) >> 64;
        pairs[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sessions of very different sizes, with shares between 20 and 120 percent.
    fn sessions(random: &mut SplitMix64) -> Vec<(f64, f64)> {
        let count = 1 + random.next() % 40;
        let session = |_| {
            let base = 10f64.powf(3.0 + (random.next() % 1000) as f64 / 250.0);
            (base * (0.2 + (random.next() % 1000) as f64 / 1000.0), base)
        };
        (0..count).map(session).collect()
    }

    #[test]
    fn the_interval_contains_the_estimate() {
        let mut random = SplitMix64(1);
        for seed in 0..300 {
            let pairs = sessions(&mut random);
            let estimate = share(pairs.iter().copied()).unwrap();
            let (low, high) = interval(&pairs, 400, seed);
            assert!(
                low <= estimate + 1e-9 && estimate <= high + 1e-9,
                "{low} {estimate} {high} of {pairs:?}"
            );
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_interval_and_another_seed_another() {
        let pairs: Vec<(f64, f64)> = (1..30).map(|n| (f64::from(n % 7), f64::from(n))).collect();
        assert_eq!(interval(&pairs, 500, 3), interval(&pairs, 500, 3));
        assert_ne!(interval(&pairs, 500, 3), interval(&pairs, 500, 4));
    }

    #[test]
    fn one_session_is_its_own_interval() {
        assert_eq!(interval(&[(3.0, 4.0)], 100, 9), (75.0, 75.0));
        assert_eq!(difference(&[5.0], &[4.0], &[10.0], 100, 9), (10.0, 10.0));
    }

    #[test]
    fn without_a_base_there_is_no_share() {
        for pairs in [&[][..], &[(1.0, 0.0)], &[(0.0, 0.0), (2.0, 0.0)]] {
            let (low, high) = interval(pairs, 100, 9);
            assert!(low.is_nan() && high.is_nan());
        }
        assert!(interval(&[(1.0, 2.0)], 0, 9).0.is_nan());
        assert!(difference(&[1.0], &[1.0], &[], 100, 9).0.is_nan());
        // Some draws have a base here, and those agree.
        assert_eq!(interval(&[(0.0, 0.0), (1.0, 2.0)], 100, 9), (50.0, 50.0));
    }

    #[test]
    fn a_difference_is_surer_than_the_shares_it_is_taken_of() {
        let mut random = SplitMix64(5);
        let pairs: Vec<(f64, f64)> = (0..30).flat_map(|_| sessions(&mut random)).take(40).collect();
        let (a, base): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let b: Vec<f64> = a.iter().zip(&base).map(|(a, base)| a - 0.05 * base).collect();
        let (low, high) = difference(&a, &b, &base, 1000, 2);
        assert!((low - 5.0).abs() < 1e-6 && (high - 5.0).abs() < 1e-6, "{low} {high}");
        let (low, high) = interval(&pairs, 1000, 2);
        assert!(high - low > 1.0, "{low} {high}");
        assert_eq!(difference(&a, &a, &base, 100, 2), (0.0, 0.0));
    }

    #[test]
    fn more_sessions_make_the_interval_narrower() {
        let width = |count: u32| {
            let pairs: Vec<(f64, f64)> = (0..count).map(|n| (f64::from(n % 5), 5.0)).collect();
            let (low, high) = interval(&pairs, 1000, 1);
            high - low
        };
        assert!(width(10) > width(100) && width(100) > width(1000));
    }
}
