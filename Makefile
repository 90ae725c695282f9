# `make test` is all that CI runs. It installs what is missing, then checks everything.

# One build cache for all clones and runs; cargo itself rebuilds what changed.
export CARGO_TARGET_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/skillgauge/target
export CARGO_TERM_COLOR ?= never

.PHONY: test setup format lint unit generate build bench fuzz clean

test: setup format lint unit

setup:
	@scripts/install-needs

format:
	cargo fmt --all --check

lint:
	cargo clippy --workspace --all-targets --locked -- -D warnings

# Drift of generated files is a test too (crates/dev/tests/project.rs). All failures are told at once: a run takes minutes.
unit:
	cargo test --workspace --locked --no-fail-fast

# Writes docs/rules.md, docs/cli.md and schemas/ anew from the code.
generate:
	cargo run --quiet -p skillgauge-dev

build:
	cargo build --release --locked -p skillgauge

# Measures beside the public skills-ref validator, the skill-creator's aggregate_benchmark.py and run_eval.py (its folder
# in SKILLGAUGE_SKILL_CREATOR), a plain shell loop, the local pool and full agent runs, and writes docs/performance.md.
bench:
	cargo bench -p skillgauge --bench validate -- --write
	cargo bench -p skillgauge --bench aggregate -- --write
	cargo bench -p skillgauge --bench check -- --write
	cargo bench -p skillgauge --bench fleet -- --write
	cargo bench -p skillgauge-web --bench web -- --write
	cargo build --release -p skillgauge
	cargo bench -p skillgauge-run --bench run -- --write --guard "$(CARGO_TARGET_DIR)/release/skillgauge"
	cargo bench -p skillgauge-run --bench probe -- --write --guard "$(CARGO_TARGET_DIR)/release/skillgauge"

# Each fuzz target for a minute; installs cargo-fuzz.
fuzz:
	@scripts/fuzz 60

clean:
	cargo clean
