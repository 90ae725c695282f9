// `make live`: has a real language model judge, compare, analyse, improve and draft, and writes what came of it to results.md.
//
//   node live.mjs SKILLGAUGE CACHE [FEW]
//
// The judge is measured on planted answers (planted.json): good ones and bad ones, with what is true of each. FEW limits how many
// of the pairs are used, to try the script itself. Nothing here asserts how well the model does: it reports.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const [program, cache, fewText] = process.argv.slice(2);
// Commands run in a folder of their own.
const skillgauge = path.resolve(program);
const here = path.dirname(fileURLToPath(import.meta.url));
const planted = JSON.parse(fs.readFileSync(path.join(here, "planted.json"), "utf8")).slice(0, Number(fewText || Infinity));
const work = fs.mkdtempSync(path.join(os.tmpdir(), "skillgauge-live-"));
const results = { steps: [] };

const put = (file, text) => {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
};
const read = (file) => JSON.parse(fs.readFileSync(file, "utf8"));
const at = (...parts) => path.join(work, ...parts);

// The engine is a package of the cache, so the server runs beside it.
async function startModel() {
  const server = path.join(cache, "engine", "server.mjs");
  fs.copyFileSync(path.join(here, "server.mjs"), server);
  const port = at("port");
  const child = spawn(process.execPath, [server, path.join(cache, "model.gguf"), port], { stdio: ["ignore", "inherit", "inherit"] });
  process.on("exit", () => child.kill("SIGKILL"));
  for (let waited = 0; !fs.existsSync(port); waited += 1) {
    if (child.exitCode !== null || waited > 1200) throw new Error("the model was not loaded");
    await new Promise((done) => setTimeout(done, 250));
  }
  return { child, url: `http://127.0.0.1:${fs.readFileSync(port, "utf8")}/v1` };
}

let environment = process.env;

// What the model has computed so far, in seconds of one core: unlike the time that passed, it's the same on a busy machine.
const cores = async () => (await (await fetch(`${environment.OPENAI_BASE_URL}/cpu`)).json()).seconds;

// One command as a user would type it; what it says goes to the terminal, too.
function step(name, args, { isFine = [0, 1], told } = {}) {
  const began = Date.now();
  const ended = spawnSync(skillgauge, args, { cwd: work, env: environment, encoding: "utf8", maxBuffer: 1 << 28 });
  if (ended.error) throw ended.error;
  const seconds = (Date.now() - began) / 1000;
  const line = `$ skillgauge ${args.join(" ")}`;
  console.log(`\n${line}\n${ended.stdout}${ended.stderr}[exit ${ended.status}, ${seconds.toFixed(0)} s]`);
  const result = told?.exec(ended.stdout + ended.stderr)?.[0].trim() ?? "";
  results.steps.push({ name, line, status: ended.status, seconds, result, worked: isFine.includes(ended.status) });
  return ended;
}

const MODEL = ["--judge", "openai:local"];
const IMPROVER = ["--improver", "openai:local"];

function plantAnswers() {
  const evals = planted.map((item, place) => ({ id: place + 1, prompt: item.prompt, expectations: item.expectations }));
  const iteration = at("planted-workspace", "iteration-1");
  put(path.join(iteration, "suite.json"), JSON.stringify({ skill_name: "planted", evals }));
  const labels = [];
  planted.forEach((item, place) => {
    for (const [arm, files, truth] of [["with_skill", item.good, item.expectations.map(() => true)], ["without_skill", item.bad, item.bad_truth]]) {
      const run = `eval-${place + 1}/${arm}/run-1`;
      for (const [name, text] of Object.entries(files)) put(path.join(iteration, run, "outputs", name), text);
      item.expectations.forEach((expectation, number) => labels.push({ run, expectation, passed: truth[number] }));
    }
  });
  put(at("labels.json"), JSON.stringify({ labels }));
  return iteration;
}

async function judge() {
  const iteration = plantAnswers();
  const before = await cores();
  step("judge", ["grade", iteration, ...MODEL, "--jobs", "1"], { isFine: [0, 1, 3] });
  const gradings = planted.flatMap((_, place) => ["with_skill", "without_skill"].map((arm) => path.join(iteration, `eval-${place + 1}`, arm, "run-1", "grading.json")));
  const there = gradings.filter((file) => fs.existsSync(file)).map(read);
  const verdicts = there.flatMap((grading) => grading.expectations ?? []);
  const passes = verdicts.filter((verdict) => verdict.passed || verdict.voided);
  results.judge = {
    asked: 2 * planted.reduce((sum, item) => sum + item.expectations.length, 0),
    verdicts: verdicts.length,
    passes: passes.length,
    voided: verdicts.filter((verdict) => verdict.voided).length,
    seconds: results.steps.at(-1).seconds / gradings.length,
    cores: ((await cores()) - before) / gradings.length,
  };
  const told = step("calibrate", ["calibrate", iteration, "--labels", at("labels.json"), "--format", "json"], { isFine: [0, 1, 3] });
  if (told.stdout.trim()) results.calibration = JSON.parse(told.stdout).calibrations[0];
}

// A skill with two versions, of which one writes better notes, and a small program in the place of the agent.
function versions() {
  const skill = at("notes");
  const head = "---\nname: notes\ndescription: Writes release notes. Use when asked for release notes.\n---\n\n";
  put(path.join(skill, "SKILL.md"), `${head}Write NOTES.md.\n`);
  const evals = ["1.1.0", "2.0.0"].map((version, place) => ({
    id: place + 1,
    prompt: `Write release notes for ${version} to NOTES.md: --output became --out, YAML is read now.`,
    expectations: ["NOTES.md says what breaks before it says what is new"],
  }));
  put(path.join(skill, "evals", "evals.json"), JSON.stringify({ skill_name: "notes", evals }));
  put(path.join(skill, "evals", "triggers.json"), JSON.stringify(
    ["Write the release notes of 2.0", "What changed since 1.4? Put it in a changelog", "Summarise these commits for our users"]
      .map((query) => ({ query, should_trigger: true }))
      .concat(["Fix the failing test", "Rename this variable", "What is a commit?"].map((query) => ({ query, should_trigger: false })))));
  step("snapshot", ["snapshot", skill]);
  put(path.join(skill, "SKILL.md"), `${head}Write NOTES.md. Begin with what breaks and say what to do about it.\n`);
  step("snapshot", ["snapshot", skill]);
  put(at("agent.mjs"), `import fs from "node:fs";
import path from "node:path";
const skills = process.env.SKILLGAUGE_SKILLS ?? "";
const file = path.join(skills, "notes", "SKILL.md");
const body = skills && fs.existsSync(file) ? fs.readFileSync(file, "utf8") : "";
const breaks = "## Breaking\\n\\n- The option --output is now --out. Rename it in your scripts.\\n";
const fresh = "## New\\n\\n- Reads YAML.\\n";
fs.writeFileSync("NOTES.md", "# Release notes\\n\\n" + (/breaks/.test(body) ? breaks + "\\n" + fresh : fresh));
console.log("The notes are in NOTES.md.");
`);
  const agent = ["--agent", `command:${process.execPath} ${at("agent.mjs")}`];
  step("compare", ["compare", skill, "v0", "v1", "--run", "--runs", "1", ...agent, ...MODEL, "--jobs", "1"], { isFine: [0, 1, 3], told: /^v1 against v0.*$/m });
  step("analyse", ["analyze", skill, "v0", "v1", ...IMPROVER], { isFine: [0], told: /^the suggestions are about.*$/m });
  step("improve", ["improve", skill, "--rounds", "1", "--runs", "1", ...agent, ...MODEL, ...IMPROVER, "--jobs", "1", "--no-compare"], { told: /^(v\d+ stays|v\d+ is better|adopted).*$/m });
  step("draft a description", ["tune", skill, "--via", "estimate", "--rounds", "2", ...IMPROVER], { isFine: [0], told: /^by the estimate.*$/m });
}

const percent = (part, whole) => (whole ? `${Math.round((100 * part) / whole)} %` : "-");
const share = (estimate) => (estimate ? `${Math.round(100 * estimate.mean)} % (95%: ${Math.round(100 * estimate.low)} to ${Math.round(100 * estimate.high)} %)` : "-");

function report() {
  const { judge, calibration } = results;
  const right = calibration ? calibration.both_pass + calibration.both_fail : 0;
  const lines = [
    `Measured by \`make live\` with a model of 1.5 billion parameters on two cores of a shared machine, on ${planted.length} pairs of planted answers (live/planted.json):`,
    "",
    "| | |",
    "|---|---|",
    `| verdicts given | ${judge.verdicts} of ${judge.asked} (${percent(judge.verdicts, judge.asked)}) |`,
    `| right | ${right} of ${calibration?.labels ?? 0} |`,
    `| passes voided, because no quote proves them | ${judge.voided} of ${judge.passes} (${percent(judge.voided, judge.passes)}) |`,
    `| sensitivity: of what is right, passed | ${share(calibration?.sensitivity)} |`,
    `| specificity: of what is wrong, failed | ${share(calibration?.specificity)} |`,
    `| core seconds for each run that was judged (on two idle cores, half of it passes) | ${judge.cores.toFixed(0)} |`,
    "",
    "The same model in the other roles:",
    "",
    "| role | what came of it | exit code | seconds |",
    "|---|---|---|---|",
    ...results.steps.filter(({ name }) => !["judge", "calibrate", "snapshot"].includes(name)).map(({ name, result, status, seconds }) => `| ${name} | ${result} | ${status} | ${seconds.toFixed(0)} |`),
  ];
  return `${lines.join("\n")}\n`;
}

function write() {
  const text = report();
  console.log(`\n${text}`);
  put(path.join(here, "results.md"), text);
}

const { child, url } = await startModel();
environment = { ...process.env, OPENAI_BASE_URL: url, OPENAI_API_KEY: "local" };
try {
  await judge();
  write();
  versions();
} finally {
  child.kill("SIGKILL");
}
write();
fs.rmSync(work, { recursive: true, force: true });
const failed = results.steps.filter((step) => !step.worked);
for (const { line, status } of failed) console.error(`did not work: ${line} (exit ${status})`);
process.exitCode = failed.length > 0 ? 1 : 0;
