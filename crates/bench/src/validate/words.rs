//! The word lists of the corpus.
//!
//! Invariant: no word means something to YAML, and none is a trigger hint, except in the lists of code.
//! The order is part of the generator: another order is another corpus.

/// First words of a skill's name, and the domain that its text speaks about.
pub(crate) const DOMAINS: [&str; 40] = [
    "api", "audio", "aws", "backup", "billing", "browser", "calendar", "chart", "cloud", "code",
    "csv", "data", "database", "deploy", "design", "docker", "docx", "email", "finance", "git",
    "graph", "image", "invoice", "kubernetes", "legal", "log", "markdown", "metrics", "pdf",
    "postgres", "project", "python", "react", "release", "research", "security", "slides", "sql",
    "terraform", "video",
];
/// Second words of a name; one plugin uses each of them at most once, which makes its names unique.
pub(crate) const TASKS: [&str; 24] = [
    "review", "builder", "analyzer", "migration", "helper", "report", "testing", "conversion",
    "audit", "planner", "generator", "debugging", "optimizer", "extraction", "workflow", "linter",
    "monitoring", "onboarding", "cleanup", "search", "publisher", "refactoring", "summary",
    "validator",
];
pub(crate) const VERBS: [&str; 28] = [
    "check", "read", "write", "collect", "compare", "convert", "create", "describe", "extract",
    "find", "format", "generate", "group", "inspect", "list", "load", "merge", "normalise", "open",
    "parse", "prepare", "rename", "replace", "review", "sort", "split", "store", "summarise",
];
pub(crate) const ADJECTIVES: [&str; 24] = [
    "current", "empty", "existing", "external", "final", "first", "generated", "internal", "large",
    "local", "missing", "new", "next", "old", "optional", "pending", "previous", "remote",
    "required", "shared", "stale", "temporary", "unexpected", "valid",
];
pub(crate) const NOUNS: [&str; 40] = [
    "account", "answer", "argument", "artifact", "branch", "change", "column", "command", "config",
    "customer", "dashboard", "dependency", "directory", "document", "endpoint", "error message",
    "event", "field", "file", "folder", "header", "input", "item", "job", "message", "module",
    "output", "page", "parameter", "query", "record", "report", "request", "response", "result",
    "schema", "section", "service", "table", "template",
];
pub(crate) const CLAUSES: [&str; 16] = [
    "before you continue", "if the user asks for it", "unless the file says otherwise",
    "as soon as the tests pass", "without changing the original", "and keep a copy of the old one",
    "even when the list is long", "so that nothing is lost", "and say what you did",
    "one at a time", "in the order in which they appear", "because the defaults are not safe",
    "with the options from the table above", "and stop at the first failure",
    "until the output is stable", "for every environment",
];
/// What follows some sentences, with characters outside ASCII.
pub(crate) const ASIDES: [&str; 8] = [
    " — this is the common case", " (see the table)", " → then repeat", " ✅", ", i.e. \"as is\"",
    " — don't guess", " (≥ 2 items)", " … and so on",
];
pub(crate) const CODE: [&str; 14] = [
    "--dry-run", "config.toml", "output.json", "npm run build", "git diff --stat", "SELECT 1",
    "user_id", "None", "requirements.txt", "--format json", "python3 -m venv", "src/index.ts",
    "make test", "README",
];
pub(crate) const CJK: [&str; 6] = [
    "处理数据并生成报告", "读取文件，检查格式", "ユーザーの質問に答える", "将结果写入表格", "文書を変換して保存する", "当用户提到报表时使用",
];
pub(crate) const COMMANDS: [&str; 12] = [
    "git status --short", "python scripts/run.py --input data.csv --output out.json",
    "npm install --no-audit", "cargo build --release", "ls -la output/",
    "jq '.items[] | .name' result.json", "curl -s https://api.example.com/v1/items",
    "docker compose up -d", "cat <<'EOF' > notes.md", "export TOKEN=\"$(cat token.txt)\"",
    "# prepare the folder", "for f in *.json; do echo \"$f\"; done",
];
pub(crate) const SOURCE: [&str; 12] = [
    "import json", "from pathlib import Path", "def main(path: str) -> int:",
    "    data = json.loads(Path(path).read_text())", "    for item in data[\"items\"]:",
    "        if not item.get(\"name\"):", "            continue",
    "        print(item[\"name\"], item.get(\"value\", 0))", "    return 0", "",
    "if __name__ == \"__main__\":", "    raise SystemExit(main(\"input.json\"))",
];
pub(crate) const JSON: [&str; 8] = [
    "{", "  \"name\": \"example\",", "  \"version\": 2,", "  \"items\": [",
    "    {\"id\": 1, \"value\": \"one\"},", "    {\"id\": 2, \"value\": \"two\"}", "  ]", "}",
];
