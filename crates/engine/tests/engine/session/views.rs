//! Looking at a session without a touch.

use secateur::session::Operation;
use secateur_formats::Wire;

use super::messages::{turn, user};
use super::setup::{engine, open, set};

#[tokio::test]
async fn a_view_foresees_what_opening_does_and_does_nothing() {
    let values = "compaction.prune_at = [\"session-start\"]\nwatermark = { protect = 300, minimum = 100 }";
    let engine = set(engine().await, values);
    for wire in Wire::ALL {
        let mut session = open(&engine, "opencode", wire).await;
        session.append([user(wire, "Look at all files.")]).await.unwrap();
        for number in 0..6 {
            session.append(turn(wire, number, 3_000)).await.unwrap();
        }
        let id = session.id().to_owned();
        drop(session);
        let before = engine.session_row(&id).await.unwrap();

        let view = engine.view(&id).await.unwrap();
        let (plan, memory) = view.plan(engine.now());
        let window = view.live_messages();
        let foreseen: Vec<_> = plan.cuts.iter().filter_map(|cut| window.locate(cut.part)).collect();
        assert!(!foreseen.is_empty(), "{wire}: {plan:?}");
        let verdict = view.profile().policy.verdict(window.outline(), &memory, &plan, plan.cuts[0].part);
        assert_eq!(verdict, secateur::Verdict::Cut(plan.cuts[0]), "{wire}");
        assert_eq!(engine.session_row(&id).await.unwrap(), before, "{wire}");

        engine.open(&id).await.unwrap();
        let done = engine.operations(&id, 0, 9).await.unwrap();
        let [done] = &done[..] else { panic!("{wire}: {done:?}") };
        let Operation::Prune { cuts, .. } = serde_json::from_str(&done.data).unwrap() else {
            panic!("{wire}: {}", done.kind)
        };
        let mut cut: Vec<_> = cuts.iter().map(|(seq, cut)| (*seq, cut.part)).collect();
        cut.sort_unstable();
        assert_eq!(cut, foreseen, "{wire}");
    }
}
