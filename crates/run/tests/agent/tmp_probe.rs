//! Throwaway.
use serde_json::json;
use skillgauge_testkit::server::{Reply, Rule, Script, Server, ToolResult};
use crate::bench::{Bench, KEY};

fn model(tool: &str, key: &str) -> Script {
    Script::new()
        .rule(Rule::reply(Reply::tool(tool, json!({key: "csv-report"}))).prompt("report").context("csv-report").tool_result(ToolResult::Absent).offers(tool).named("trigger"))
        .rule(Rule::reply(Reply::text("Done.")).named("end"))
}

fn show(server: &Server, run: &skillgauge_run::agent::AgentRun) {
    eprintln!("{:?} {:?} loaded={:?} notes={:?}\nstderr {}", run.outcome(), run.reason(), run.transcript.end.skills_loaded, run.notes, run.stderr);
    eprintln!("errors {:?} final {:?} timing {:?}", run.transcript.end.errors, run.transcript.end.final_text, run.timing);
    for r in server.requests() {
        let v = r.view();
        let names: Vec<String> = v.context.match_indices("<name>").map(|(at, _)| v.context[at + 6..].split('<').next().unwrap().to_owned()).collect();
        eprintln!("{} {} {:?} {:?} skills {:?} prompt {:?}", r.method, r.path, r.answered_by, r.status, names, v.prompt.chars().take(160).collect::<String>());
    }
}

#[test]
fn gemini() {
    for project in ["", "[agents.gemini]\narguments = [\"--output-format\", \"stream-json\", \"--yolo\", \"--skip-trust\", [\"-m\", \"{model}\"], \"--prompt={prompt}\"]\n", "[agents.gemini]\nprompt = \"stdin\"\narguments = [\"--output-format\", \"stream-json\", \"--yolo\", \"--skip-trust\", [\"-m\", \"{model}\"]]\n"] {
        let server = Server::start(model("activate_skill", "name")).unwrap();
        let bench = Bench::new().with("GEMINI_API_KEY", KEY).with("GOOGLE_GEMINI_BASE_URL", &server.url()).with_project(project);
        fs_err::os::unix::fs::symlink("/tmp/exp/npm/bin/gemini", bench.path("bin/gemini")).unwrap();
        let mut task = bench.task("gemini", "--help Make a \"report\" of @sales.csv\nand a second line");
        task.model = Some("gemini-2.5-pro".into());
        let run = bench.run(&task);
        show(&server, &run);
    }
}

#[test]
fn opencode() {
    for skills in [true, false] {
        let server = Server::start(model("skill", "name")).unwrap();
        let project = format!("[agents.opencode]\nneeds = []\nprompt=\"stdin\"\narguments = [\"run\", \"--format\", \"json\", [\"-m\", \"{{model}}\"]]\n[agents.opencode.environment]\nOPENCODE_CONFIG_CONTENT = '{{\"autoupdate\":false,\"share\":\"disabled\",\"provider\":{{\"fake\":{{\"npm\":\"@ai-sdk/openai-compatible\",\"name\":\"Fake\",\"options\":{{\"baseURL\":\"{}\",\"apiKey\":\"dummy\"}},\"models\":{{\"fake-model\":{{\"name\":\"Fake\",\"limit\":{{\"context\":200000,\"output\":8000}}}}}}}}}},\"model\":\"{{model}}\",\"small_model\":\"{{model}}\"}}'\n", server.url_v1());
        let bench = Bench::new().with_project(&project);
        fs_err::os::unix::fs::symlink("/tmp/exp/npm/bin/opencode", bench.path("bin/opencode")).unwrap();
        let rg = "/root/.cache/skillgauge/npm/codex-0.166.0/lib/node_modules/@openai/codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/codex-path/rg";
        fs_err::os::unix::fs::symlink(rg, bench.path("bin/rg")).unwrap();
        let mut task = bench.task("opencode", "--help Make a \"report\" of sales.csv\nand a second line");
        task.model = Some("fake/fake-model".into());
        if !skills { task.skills.clear(); }
        let run = bench.run(&task);
        show(&server, &run);
    }
}
