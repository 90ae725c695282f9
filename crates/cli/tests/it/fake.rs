//! An agent and an improver as small shell programs, for tests of loops and routes.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt as _;

use crate::command::Project;

/// An agent that loads the first installed skill whose description has a word of the prompt that begins with `w` and a
/// digit, or that the prompt names in quotes; described in `skillgauge.toml` under `name`.
///
/// While the project has a file `wait`, it waits for a description with `w2`, and makes a file `waiting` first.
pub(crate) fn loading_agent(project: &Project, name: &str) {
    let folder = project.path().display().to_string();
    let script = format!(
        r#"#!/bin/sh
prompt=$(cat)
echo call >> '{folder}/calls'
for skill in .agents/skills/*/SKILL.md; do
  name=$(basename "$(dirname "$skill")")
  description=$(sed -n '/^description:/,/^[a-z-]*:.*$\|^---/p' "$skill" | tr -d '\r' | tr '\n' ' ')
  description=$(sed -n '/^description:/,/^---/p' "$skill" | tr -d '\r' | tr '\n' ' ')
  if [ -e '{folder}/wait' ]; then
    case "$description" in *w2*) : > '{folder}/waiting'; sleep 60;; esac
  fi
  case "$prompt" in *"\"$name\""*) found=1;; *) found=;; esac
  for word in $prompt; do
    case "$word" in
      w[0-9]*) case " $description " in *" $word "*) found=1;; esac;;
    esac
  done
  if [ -n "$found" ]; then
    echo "{{\"type\":\"skill\",\"name\":\"$name\",\"state\":\"loaded\"}}"
    break
  fi
done
echo '{{"type":"result","text":"done"}}'
"#
    );
    program(project, "agent.sh", &script);
    project.file(
        "skillgauge.toml",
        format!("[agents.{name}]\nextends = \"command\"\nprogram = \"./agent.sh\"\n"),
    );
}

/// An improver that keeps each prompt in `asked/` and gives these descriptions one after the other, then fails.
pub(crate) fn improver(project: &Project, descriptions: &[&str]) {
    let mut answers = String::new();
    for (number, description) in descriptions.iter().enumerate() {
        let answer = serde_json::json!({"reasoning": "r", "description": description});
        let _ = writeln!(answers, "  {number}) printf '%s' '{answer}';;");
    }
    let script = format!(
        "#!/bin/sh\nmkdir -p asked\ncount=$(ls asked | wc -l | tr -d ' ')\ncat > asked/$count.txt\n\
         case $count in\n{answers}  *) echo 'nothing left' >&2; exit 1;;\nesac\n"
    );
    program(project, "improver", &script);
}

fn program(project: &Project, name: &str, script: &str) {
    project.file(name, script);
    let path = project.path().join(name);
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
