//! Random sequences of init, snapshot, restore and grading: history and folders always agree.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Action {
    Init,
    Snapshot,
    Edit(usize, u8),
    Remove(usize),
    Restore(u64),
    Grade(u64, u64, u8),
    RecordScores,
}

const EDITED: [&str; 4] = ["SKILL.md", "a.md", "sub/b.md", "sub"];

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        1 => Just(Action::Init),
        3 => Just(Action::Snapshot),
        4 => (0..EDITED.len(), 0..3_u8).prop_map(|(file, text)| Action::Edit(file, text)),
        2 => (1..EDITED.len()).prop_map(Action::Remove),
        3 => (0..6_u64).prop_map(Action::Restore),
        2 => (0..6_u64, 1..4_u64, 1..=5_u8).prop_map(|(v, run, score)| Action::Grade(v, run, score)),
        1 => Just(Action::RecordScores),
    ]
}

#[derive(Default)]
struct Model {
    versions: Vec<BTreeMap<PathBuf, Vec<u8>>>,
    current: usize,
}

impl Model {
    fn store(&mut self, present: &BTreeMap<PathBuf, Vec<u8>>) {
        if self.versions.get(self.current) == Some(present) {
            return;
        }
        let known = self.versions.iter().rposition(|version| version == present);
        self.current = known.unwrap_or(self.versions.len());
        if known.is_none() {
            self.versions.push(present.clone());
        }
    }
}

fn perform(place: &Place, model: &mut Model, action: &Action) {
    let store = place.store();
    match *action {
        Action::Init => {
            with(&store, VersionStore::init).unwrap();
            if model.versions.is_empty() {
                model.store(&files(&place.skill()));
            }
        }
        Action::Snapshot => {
            with(&store, |store, stamp| store.snapshot(None, stamp)).unwrap();
            model.store(&files(&place.skill()));
        }
        Action::Edit(file, text) => {
            // A folder gives way to a file of its name and the other way round.
            let path = place.skill().join(EDITED[file]);
            let _ = fs_err::remove_dir_all(&path);
            let parent = path.parent().unwrap();
            if parent.is_file() {
                fs_err::remove_file(parent).unwrap();
            }
            place.write(EDITED[file], &format!("text {text}"));
        }
        Action::Remove(file) => {
            let _ = fs_err::remove_file(place.skill().join(EDITED[file]));
        }
        Action::Restore(version) => {
            let present = files(&place.skill());
            let result = restore(place, version);
            let index = usize::try_from(version).unwrap();
            if let Some(wanted) = model.versions.get(index).cloned() {
                model.store(&present);
                model.current = index;
                result.unwrap();
                assert_eq!(files(&place.skill()), wanted);
            } else {
                result.unwrap_err();
                assert_eq!(files(&place.skill()), present);
            }
        }
        Action::Grade(version, run, points) => place.grade(version, run, points),
        Action::RecordScores => {
            let result = record_scores(place);
            assert_eq!(result.is_ok(), !model.versions.is_empty());
        }
    }
}

fn check(place: &Place, model: &Model) {
    let store = place.store();
    let names = fs_err::read_dir(place.workspace()).into_iter().flatten().flatten();
    let mut folders: Vec<_> = names.map(|entry| entry.file_name().into_string().unwrap()).collect();
    folders.retain(|name| !["grading", "history.json", ".lock"].contains(&name.as_str()));
    folders.sort_by_key(|name| name.parse::<VersionNumber>().unwrap());
    let expected: Vec<_> = (0..model.versions.len()).map(|number| format!("v{number}")).collect();
    assert_eq!(folders, expected);
    if model.versions.is_empty() {
        return;
    }
    let history = store.history(PROGRAM).unwrap();
    assert_eq!(history.current_version, model.current as u64);
    assert_eq!(history.versions.len(), model.versions.len());
    for (version, wanted) in history.versions.iter().zip(&model.versions) {
        let number = VersionNumber(version.version);
        assert_eq!(files(&store.folder(number)), *wanted, "{number}");
        store.verified(&history, number).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn history_and_folders_always_agree(actions in prop::collection::vec(action(), 1..25)) {
        let (place, mut model) = (Place::new(), Model::default());
        for action in &actions {
            perform(&place, &mut model, action);
            check(&place, &model);
        }
    }
}
