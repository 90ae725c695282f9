//! What the documents tell a reader to type can be typed: every command and every flag exists.

use skillgauge_dev::project_root;

/// Languages of code blocks that hold commands.
const SHELLS: [&str; 4] = ["sh", "bash", "console", "yaml"];

/// A call of skillgauge in a document.
#[derive(Debug, PartialEq)]
struct Call {
    line: usize,
    command: String,
    /// The word after it: for a command of commands, which one.
    action: Option<String>,
    flags: Vec<String>,
}

/// The calls in code blocks of a shell and in inline code.
fn calls(page: &str) -> Vec<Call> {
    let mut found = Vec::new();
    let mut fence: Option<bool> = None;
    let mut lines = page.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            fence = match fence {
                None => Some(SHELLS.contains(&language.trim())),
                Some(_) => None,
            };
            continue;
        }
        let mut text = line.to_owned();
        while text.ends_with('\\') {
            text.pop();
            text.push_str(lines.next().map(|(_, next)| next).unwrap_or_default());
        }
        let pieces: Vec<&str> = match fence {
            Some(true) => vec![&text],
            Some(false) => Vec::new(),
            None => text.split('`').skip(1).step_by(2).collect(),
        };
        found.extend(pieces.into_iter().flat_map(|piece| calls_in(piece, number + 1)));
    }
    found
}

fn calls_in(code: &str, line: usize) -> Vec<Call> {
    let mut found: Vec<Call> = Vec::new();
    let mut words = code.split_whitespace().peekable();
    let mut open = false;
    while let Some(word) = words.next() {
        let word = word.trim_matches(['\'', '"', '(', ')', ',']);
        if word == "skillgauge" {
            let is_command = |next: &&&str| next.starts_with(|c: char| c.is_ascii_lowercase());
            open = words.peek().as_ref().is_some_and(is_command);
            if let Some(command) =
                words.next_if(|next| next.starts_with(|c: char| c.is_ascii_lowercase()))
            {
                let command = command.trim_matches(['\'', '"', ',', ';']).to_owned();
                let action = words.peek().map(|next| (*next).to_owned());
                found.push(Call { line, command, action, flags: Vec::new() });
            }
        } else if ["|", "||", "&&", ">", ">>", ";", "#"].contains(&word) {
            open = false;
        } else if let Some(call) = found.last_mut().filter(|_| open && word.starts_with("--")) {
            let flag = word.trim_start_matches('-').split('=').next().unwrap_or_default();
            call.flags.push(flag.trim_end_matches([';', '\'']).to_owned());
        }
    }
    found
}

/// What is wrong with a call, if anything is.
fn mistake(call: &Call, tree: &clap::Command) -> Option<String> {
    let Some(mut command) = tree.find_subcommand(&call.command) else {
        return Some(format!("there is no command `{}`", call.command));
    };
    if let Some(action) = &call.action {
        match command.find_subcommand(action) {
            Some(found) => command = found,
            None if command.is_subcommand_required_set() => {
                return Some(format!("`{}` has no command `{action}`", call.command));
            }
            None => {}
        }
    }
    let has = |flag: &String| {
        let known = command.get_arguments().chain(tree.get_arguments());
        flag == "help" || known.into_iter().any(|argument| argument.get_long() == Some(flag))
    };
    let unknown = call.flags.iter().find(|flag| !has(flag))?;
    Some(format!("`{}` has no flag `--{unknown}`", call.command))
}

#[test]
fn every_command_and_flag_in_the_documents_exists() {
    let root = project_root();
    let mut pages: Vec<_> = ["docs", "docs/design", "."]
        .iter()
        .flat_map(|folder| fs_err::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    let tree = skillgauge::command();
    let (mut mistakes, mut seen) = (Vec::new(), 0);
    for page in pages {
        let text = fs_err::read_to_string(&page).unwrap();
        for call in calls(&text) {
            seen += 1;
            if let Some(mistake) = mistake(&call, &tree) {
                mistakes.push(format!(
                    "{}:{}: {mistake}",
                    page.file_name().unwrap().display(),
                    call.line
                ));
            }
        }
    }
    assert!(seen > 50, "only {seen} calls were found in the documents");
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// A flag that stands alone in inline code, such as `--jobs 3`.
fn lone_flags(page: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (number, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let pieces = line.split('`').skip(1).step_by(2).filter(|_| !is_code);
        for flag in pieces.filter_map(|piece| piece.strip_prefix("--")) {
            let end = flag.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            let flag = &flag[..end.unwrap_or(flag.len())];
            // `---` begins and ends frontmatter.
            if flag.starts_with(|c: char| c.is_ascii_lowercase()) {
                found.push((number + 1, flag.to_owned()));
            }
        }
    }
    found
}

fn has_flag(command: &clap::Command, flag: &str) -> bool {
    command.get_arguments().any(|argument| argument.get_long() == Some(flag))
        || command.get_subcommands().any(|inner| has_flag(inner, flag))
}

#[test]
fn every_flag_that_stands_alone_in_a_document_is_one_of_some_command() {
    let root = project_root();
    let tree = skillgauge::command();
    let mut unknown = Vec::new();
    let mut seen = 0;
    for folder in ["docs", "."] {
        for entry in fs_err::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            // That page names the flags of other tools.
            if path.extension().is_none_or(|it| it != "md") || path.ends_with("migrating.md") {
                continue;
            }
            for (line, flag) in lone_flags(&fs_err::read_to_string(&path).unwrap()) {
                seen += 1;
                if !has_flag(&tree, &flag) {
                    let name = path.file_name().unwrap().display();
                    unknown.push(format!("{name}:{line}: `--{flag}`"));
                }
            }
        }
    }
    assert!(seen > 50, "only {seen} flags were found");
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

#[test]
fn calls_are_found_in_inline_code_and_in_blocks_of_a_shell() {
    let page = "Say `skillgauge run X --jobs 3`, or `--help`.\n\n```sh\nFOO=1 skillgauge merge a \\\n  --out=b | cat --number\n```\n\n\
                ```text\nskillgauge is --nothing\n```\n`skillgauge COMMAND --x` `skillgauge`\n";
    let call = |line, (command, action): (&str, &str), flags: &[&str]| Call {
        line,
        command: command.to_owned(),
        action: Some(action.to_owned()),
        flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
    };
    assert_eq!(calls(page), [call(1, ("run", "X"), &["jobs"]), call(4, ("merge", "a"), &["out"])]);
}

#[test]
fn a_flag_that_does_not_exist_is_a_mistake() {
    let tree = skillgauge::command();
    let check = |text: &str| calls_in(text, 1).iter().find_map(|call| mistake(call, &tree));
    assert_eq!(check("skillgauge validate . --strict --color never"), None);
    assert!(check("skillgauge validate . --no-such-flag").is_some());
    assert!(check("skillgauge no-such-command").is_some());
    assert_eq!(check("skillgauge fleet worker URL --slots 8"), None);
    assert!(check("skillgauge fleet worker URL --replicas 3").is_some());
    assert!(check("skillgauge fleet no-such-command URL").is_some());
}
