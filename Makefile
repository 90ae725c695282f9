# `make test` is all that CI runs. It installs what is missing, then checks everything.

# One build cache for all clones and runs; cargo itself rebuilds what changed.
export CARGO_TARGET_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/skillgauge/target
export CARGO_TERM_COLOR ?= never

.PHONY: test setup format lint unit generate build dist deny bench measure-build live fuzz clean

test: setup format lint unit

setup:
	@scripts/install-needs

format:
	cargo fmt --all --check

lint:
	cargo clippy --workspace --all-targets --locked -- -D warnings

# Drift of generated files is a test too (crates/dev/tests/project.rs, crates/format/src/schema_tests.rs). All failures are
# shown at once: a run takes minutes.
unit:
	cargo test --workspace --locked --no-fail-fast

# Writes docs/rules.md, docs/cli.md and schemas/ anew from the code.
generate:
	UPDATE_SCHEMAS=1 cargo test --quiet -p skillgauge-format --lib schema_tests
	cargo run --quiet -p skillgauge-dev

build:
	cargo build --release --locked -p skillgauge

# The binary to ship: small, and slow to build.
dist:
	cargo build --profile dist --locked -p skillgauge

# Licences, advisories and sources of the dependencies (deny.toml); installs cargo-deny. Needs the network, so it's no part of `test`.
deny:
	@cargo deny --version >/dev/null 2>&1 || cargo install --quiet --locked cargo-deny
	cargo deny --locked check

# Measures beside the public skills-ref validator, the skill-creator's aggregate_benchmark.py and run_eval.py (its folder
# in SKILLGAUGE_SKILL_CREATOR), a plain shell loop, the local pool and full agent runs, and writes docs/performance.md.
bench: build
	cargo build --release --locked -p skillgauge-bench -p skillgauge-testkit
	for what in validate aggregate check fleet web run probe choose decide; do \
	  "$(CARGO_TARGET_DIR)/release/skillgauge-bench" $$what --write || exit 1; \
	done

# Builds twice from nothing (`release` and `dist`) and writes the section of docs/performance.md. Takes many minutes.
measure-build:
	@scripts/measure-build --write

# A real language model (1.5 billion parameters, 1.1 GB, from package registries) judges, compares, analyses, improves and drafts
# through `openai:`, and live/results.md says how well. Takes about half an hour on two cores.
live:
	@scripts/live

# Each fuzz target for a minute; installs cargo-fuzz.
fuzz:
	@scripts/fuzz 60

clean:
	cargo clean
