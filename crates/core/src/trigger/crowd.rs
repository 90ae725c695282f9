//! Made-up neighbours: what a machine with many skills looks like to the one under test.
//!
//! The names and descriptions are plausible, of the usual length, and always the same: two measurements in a crowd of the
//! same size can be compared. A crowd of 40 is the beginning of a crowd of 60.

/// A skill that nobody wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeUpSkill {
    pub name: String,
    pub description: String,
}

impl MadeUpSkill {
    pub fn skill_md(&self) -> String {
        let Self { name, description } = self;
        format!(
            "---\nname: {name}\ndescription: {description}\n---\n\n# {name}\n\nAsk what the {name} task is about, do it step by step, and \
             say what was done.\n"
        )
    }
}

/// What is worked on, and the words that go with it.
const SUBJECTS: [(&str, &str, &str); 16] = [
    ("changelog", "release notes and changelogs", "a list of commits or pull requests"),
    ("invoice", "invoices and receipts", "a folder of scanned bills"),
    ("sql", "SQL queries and schemas", "a slow query or a database dump"),
    ("docker", "container images and compose files", "a Dockerfile that is too large"),
    ("contract", "contracts and legal terms", "a draft agreement"),
    ("podcast", "audio recordings and show notes", "a transcript of an episode"),
    ("terraform", "infrastructure code and its plans", "a module that drifted"),
    ("survey", "survey answers and questionnaires", "a table of free-text answers"),
    ("slides", "slide decks and speaker notes", "an outline of a talk"),
    ("calendar", "meetings, agendas and minutes", "a week of appointments"),
    ("translation", "translated texts and glossaries", "a file of interface strings"),
    ("logs", "server logs and traces", "an incident that nobody understands"),
    ("recipe", "recipes, menus and shopping lists", "what is left in the kitchen"),
    ("accessibility", "accessible pages and contrast", "a page that a screen reader cannot read"),
    ("payroll", "time sheets and payslips", "a month of working hours"),
    ("maps", "places, routes and coordinates", "a list of addresses"),
];

/// What is done with it.
const DEEDS: [(&str, &str, &str); 8] = [
    ("writer", "Writes and rewrites", "asks to draft, rephrase or complete one"),
    ("reviewer", "Reviews and corrects", "wants a second pair of eyes or a list of mistakes"),
    ("converter", "Converts and reformats", "needs the same content in another format"),
    ("summary", "Summarises and compares", "has too much to read and wants the essence"),
    ("planner", "Plans and schedules work on", "asks what to do first and how long it takes"),
    (
        "audit",
        "Audits and measures",
        "asks whether something is complete, consistent or out of date",
    ),
    ("importer", "Imports and cleans up", "brings data from elsewhere that does not fit"),
    ("archive", "Files, labels and finds again", "looks for an old one or wants order"),
];

/// So many skills, as far as there are different ones, without those of the given names.
pub fn made_up(count: usize, taken: &[&str]) -> Vec<MadeUpSkill> {
    // Deeds change slowest: the first sixteen are about sixteen subjects.
    let all = DEEDS.iter().flat_map(|deed| SUBJECTS.iter().map(move |subject| (subject, deed)));
    let numbered = (0..).flat_map(|round: u32| all.clone().map(move |pair| (round, pair)));
    let skills = numbered.map(|(round, ((subject, about, input), (deed, does, when)))| {
        let number = if round == 0 { String::new() } else { format!("-{}", round + 1) };
        MadeUpSkill {
            name: format!("{subject}-{deed}{number}"),
            description: format!(
                "{does} {about}. Use when the user {when}, for example with {input}, even if {about} are not named."
            ),
        }
    });
    skills.filter(|skill| !taken.contains(&skill.name.as_str())).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::Document;

    #[test]
    fn a_crowd_is_always_the_same_and_a_smaller_one_is_its_beginning() {
        let sixty = made_up(60, &[]);
        assert_eq!(made_up(40, &[]), sixty[..40]);
        assert_eq!(sixty[0].name, "changelog-writer");
        assert!(!made_up(60, &["changelog-writer"]).contains(&sixty[0]));
    }

    #[test]
    fn any_number_of_neighbours_has_names_of_its_own() {
        let mut names: Vec<String> =
            made_up(400, &[]).into_iter().map(|skill| skill.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 400);
    }

    #[test]
    fn a_made_up_skill_reads_as_one() {
        for skill in made_up(128, &[]) {
            let document = Document::from_bytes(skill.skill_md().as_bytes());
            let description = document.entry("description").unwrap();
            assert_eq!(description.value.scalar_text(), Some(skill.description.as_str()));
            let length = skill.description.chars().count();
            assert!((100..400).contains(&length), "{length}: {}", skill.description);
        }
    }
}
