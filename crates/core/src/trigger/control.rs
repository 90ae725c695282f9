//! The positive control: a query that must trigger.
//!
//! It names the skill and asks for it to be loaded, in words that fit agents with a tool for skills and agents that read the
//! file. It neither begins with the skill's name after `/` nor has `$` before it: both would put the skill into the prompt
//! without the model's doing, and prove nothing.

/// The query that must make an agent load the skill.
pub fn control_query(skill: &str) -> String {
    format!(
        "Use the skill \"{skill}\" now: load its instructions, with your tool for skills if you have one and otherwise by \
         reading its SKILL.md completely. Then say in one sentence what the skill is for, and do nothing else."
    )
}

#[cfg(test)]
mod tests {
    use super::control_query;

    #[test]
    fn the_control_names_the_skill_without_the_signs_that_load_it_by_themselves() {
        let query = control_query("csv-report");
        assert!(query.contains("\"csv-report\""), "{query}");
        assert!(!query.starts_with('/') && !query.contains("$csv-report"), "{query}");
    }
}
