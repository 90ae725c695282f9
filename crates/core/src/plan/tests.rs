use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn plan(cases: usize, runs: u32) -> Plan {
    let cases: Vec<String> = (0..cases).map(|number| format!("case-{number}")).collect();
    Plan::new(&cases, &[Configuration::WithSkill, Configuration::WithoutSkill], runs)
}

#[test]
fn first_runs_come_first_and_configurations_take_turns() {
    let ids: Vec<String> = plan(2, 2).runs().iter().map(ToString::to_string).collect();
    assert_eq!(
        ids,
        [
            "eval-case-0/without_skill/run-1",
            "eval-case-0/with_skill/run-1",
            "eval-case-1/with_skill/run-1",
            "eval-case-1/without_skill/run-1",
            "eval-case-0/with_skill/run-2",
            "eval-case-0/without_skill/run-2",
            "eval-case-1/without_skill/run-2",
            "eval-case-1/with_skill/run-2",
        ]
    );
}

#[test]
fn a_run_id_is_read_back_from_its_text_and_nothing_else_is() {
    let id: RunId = "eval-a-b/old_skill/run-12".parse().unwrap();
    assert_eq!(id.to_string(), "eval-a-b/old_skill/run-12");
    assert_eq!(id.folder(), PathBuf::from("eval-a-b/old_skill/run-12"));
    for bad in ["", "eval-a", "eval-a/with_skill/run-0", "eval-a/with_skill/run-1/x", "a/b/run-1"] {
        assert!(bad.parse::<RunId>().is_err(), "{bad}");
    }
}

#[test]
fn a_shard_is_a_number_of_a_number() {
    assert_eq!("3/16".parse::<Shard>().unwrap().to_string(), "3/16");
    for bad in ["", "3", "0/4", "5/4", "a/b", "-1/2", "1/0"] {
        assert!(bad.parse::<Shard>().is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn shards_are_the_plan_and_keep_pairs_together(cases in 1..7_usize, runs in 1..5_u32, count in 1..9_u32) {
        let plan = plan(cases, runs);
        let mut seen = BTreeSet::new();
        for index in 1..=count {
            let part = plan.shard(Shard { index, count });
            for id in part.runs() {
                prop_assert!(seen.insert(id.clone()));
                let pairs = part.runs().iter().filter(|other| other.case == id.case && other.number == id.number);
                prop_assert_eq!(pairs.count(), 2);
            }
        }
        let all: BTreeSet<RunId> = plan.runs().iter().cloned().collect();
        prop_assert_eq!(seen, all);
    }
}
