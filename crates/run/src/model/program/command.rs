//! Any program as a model: the smallest contract there is.
//!
//! `command:PROGRAM ARGUMENTS` is split as a shell would split it, without a shell. For each call the program
//! - starts in the folder that skillgauge works in, so that `command:python3 judge.py` finds its file, with a small
//!   environment: `PATH`, `HOME`, the language, the proxies, and the variables that the user has named for it;
//! - reads the whole prompt as text from stdin: the system text, what the user says, and for a structured answer its JSON
//!   Schema;
//! - finds the same as data in the JSON file that `SKILLGAUGE_REQUEST` names (see [`CommandRequest`]);
//! - writes its answer to stdout, as plain text, or as one JSON object `{"format": "model-answer", "text": ..}` that may
//!   also have `model`, `cost_usd`, `stop_reason` and `usage` (`input_tokens`, `output_tokens`, `cache_read_tokens`,
//!   `cache_write_tokens`);
//! - ends with 0. Code 75 means "try again later"; any other code is final. What it says on stderr becomes the message.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skillgauge_format::transcript::{Stop, Usage};

use crate::model::ask::wire::{Call, Calling, Fault, Reply, Wire};
use crate::model::error::{Chance, ModelError, Phase};
use crate::model::program::{Invocation, ProgramEnd, Runner, last_words};
use crate::model::response::AnswerFormat;

/// The variable that names the file with the request.
pub(in crate::model) const REQUEST_VARIABLE: &str = "SKILLGAUGE_REQUEST";

/// The exit code for "try again later" (EX_TEMPFAIL).
const TRY_LATER: i32 = 75;

#[derive(Debug)]
pub(in crate::model) struct CommandModel {
    pub(in crate::model) program: PathBuf,
    pub(in crate::model) arguments: Vec<String>,
    pub(in crate::model) folder: PathBuf,
    pub(in crate::model) runner: Runner,
}

/// The request as a program finds it in a file.
#[derive(Debug, Serialize)]
struct CommandRequest<'r> {
    format: &'static str,
    version: Version,
    purpose: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<&'r str>,
    /// All parts, those that ask for JSON and for a repair included.
    user: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema_name: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'r Value>,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Version {
    major: u32,
    minor: u32,
}

/// An answer with more than its text.
#[derive(Debug, Deserialize)]
struct RichAnswer {
    text: String,
    model: Option<String>,
    stop_reason: Option<String>,
    cost_usd: Option<f64>,
    usage: Option<RichUsage>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RichUsage {
    #[serde(rename = "input_tokens")]
    input: u64,
    #[serde(rename = "output_tokens")]
    output: u64,
    #[serde(rename = "cache_read_tokens")]
    cache_read: u64,
    #[serde(rename = "cache_write_tokens")]
    cache_write: u64,
}

impl CommandModel {
    /// Reads a command line. A program with a slash is looked for from the folder, one without in `PATH`.
    pub(in crate::model) fn parse(
        line: &str,
        folder: &Path,
        runner: Runner,
    ) -> Result<Self, ModelError> {
        let mut words = shlex::split(line).unwrap_or_default().into_iter();
        let Some(program) = words.next() else {
            let detail = "not a command line; is a quote missing?".to_owned();
            return Err(ModelError::Setting { setting: format!("`command:{line}`"), detail });
        };
        let program =
            if program.contains('/') { folder.join(program) } else { PathBuf::from(program) };
        Ok(Self { program, arguments: words.collect(), folder: folder.to_owned(), runner })
    }
}

impl Wire for CommandModel {
    fn formats(&self) -> &'static [AnswerFormat] {
        &[AnswerFormat::PlainText]
    }

    fn call<'c>(&'c self, call: &'c Call<'c>) -> Calling<'c> {
        Box::pin(async move {
            let workshop = self.runner.workshop()?;
            let request = CommandRequest::new(call);
            let text = serde_json::to_string_pretty(&request).unwrap_or_default();
            let file = workshop.write("request.json", &text)?;
            let prompt = call.system().map(str::to_owned).into_iter().chain(call.user_parts());
            let invocation = Invocation {
                program: &self.program,
                folder: Some(&self.folder),
                arguments: self.arguments.clone(),
                variables: vec![(REQUEST_VARIABLE, file.display().to_string())],
                stdin: prompt.collect::<Vec<_>>().join("\n\n"),
                limit: call.request.timeout,
            };
            let finished = self.runner.run(&workshop, invocation).await?;
            reply(&self.program, &finished, call)
        })
    }

    fn cost(&self, _: &Usage, _: Option<&str>) -> Option<f64> {
        None
    }
}

impl<'r> CommandRequest<'r> {
    fn new(call: &'r Call<'r>) -> Self {
        let schema = call.schema();
        Self {
            format: "model-request",
            version: Version { major: 1, minor: 0 },
            purpose: call.request.purpose.as_str(),
            system: call.system(),
            user: call.user_parts(),
            schema_name: schema.map(skillgauge_format::AnswerSchema::name),
            schema: schema.map(skillgauge_format::AnswerSchema::value),
            max_output_tokens: call.request.max_output_tokens,
            temperature: call.temperature(),
        }
    }
}

fn reply(program: &Path, finished: &ProgramEnd, call: &Call<'_>) -> Result<Reply, Fault> {
    let status = finished.exit.status.unwrap_or_default();
    let program = program.display().to_string();
    let failed = |message: String, chance| ModelError::Program {
        program: program.clone(),
        exit: Some(status),
        message,
        chance,
    };
    if let Some(Stop::Timeout | Stop::Silence) = status.stop {
        return Err(ModelError::timeout(Phase::Program, call.request.timeout).into());
    }
    let chance = match status.code {
        Some(0) => {
            return answer(&String::from_utf8_lossy(&finished.stdout))
                .map_err(|message| failed(message, Chance::Final).into());
        }
        Some(TRY_LATER) => Chance::MayPass,
        Some(_) | None => Chance::Final,
    };
    Err(failed(last_words(&finished.exit.stderr), chance).into())
}

fn answer(stdout: &str) -> Result<Reply, String> {
    let text = stdout.trim();
    if text.is_empty() {
        return Err("it ended well without an answer on stdout".to_owned());
    }
    let rich =
        serde_json::from_str::<Value>(text).ok().filter(|value| value["format"] == "model-answer");
    let Some(rich) = rich else { return Ok(Reply { text: text.to_owned(), ..Reply::default() }) };
    let rich: RichAnswer = serde_json::from_value(rich)
        .map_err(|error| format!("its model-answer cannot be read: {error}"))?;
    Ok(Reply {
        text: rich.text,
        model: rich.model,
        stop_reason: rich.stop_reason,
        cost_usd: rich.cost_usd.filter(|cost| cost.is_finite() && *cost >= 0.0),
        usage: rich.usage.map(|usage| Usage {
            input_tokens: usage.input,
            output_tokens: usage.output,
            cache_read_tokens: usage.cache_read,
            cache_write_tokens: usage.cache_write,
            requests: Some(1),
            ..Usage::default()
        }),
        ..Reply::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::secret::Environment;
    use crate::process::Guard;

    fn parse(line: &str) -> Result<CommandModel, ModelError> {
        let environment = Environment::default();
        let runner = Runner::new(&Guard::new("/guard"), Path::new("/tmp"), &environment, &[]);
        CommandModel::parse(line, Path::new("/project"), runner)
    }

    #[test]
    fn a_command_line_is_split_as_a_shell_would_and_without_one() {
        let model = parse("llm -m 'my model' \"$HOME\"").unwrap();
        assert_eq!(model.program, Path::new("llm"));
        assert_eq!(model.arguments, ["-m", "my model", "$HOME"]);
        assert_eq!(parse("./judge.sh").unwrap().program, Path::new("/project/judge.sh"));
        assert_eq!(parse("/bin/judge").unwrap().program, Path::new("/bin/judge"));
        for bad in ["", "'", "judge 'x"] {
            assert!(matches!(parse(bad), Err(ModelError::Setting { .. })), "{bad}");
        }
    }

    #[test]
    fn an_answer_is_text_or_says_more() {
        assert_eq!(answer(" four \n").unwrap().text, "four");
        assert_eq!(answer("{\"score\": 4}").unwrap().text, "{\"score\": 4}");
        let rich = answer(
            r#"{"format": "model-answer", "text": "four", "model": "m", "cost_usd": 0.5, "usage": {"input_tokens": 3}}"#,
        )
        .unwrap();
        assert_eq!(
            (rich.text.as_str(), rich.model.as_deref(), rich.cost_usd),
            ("four", Some("m"), Some(0.5))
        );
        assert_eq!(rich.usage.unwrap().input_tokens, 3);
        assert!(answer("\n").is_err() && answer(r#"{"format": "model-answer"}"#).is_err());
    }
}
