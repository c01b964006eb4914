# The front door. `make help` lists what there is.

CARGO ?= cargo
TARGET := x86_64-unknown-linux-gnu
BINARY := target/triptime
FUZZ_SECONDS ?= 30
RUN ?= runs/$(shell date -u +%Y%m%dT%H%M%SZ)-qualify.triptime
# What `triptime --version` says of its source.
COMMIT = $(shell git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null || echo unknown)
# No path of this machine is in the binary: where it is built makes no difference.
REMAP := "--remap-path-prefix=$(CURDIR)=/triptime", "--remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=/cargo"
REMAPPED := target.$(TARGET).rustflags=[$(REMAP)]

.PHONY: help build package qualify test check bench simulate fuzz clean

help: ## This list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

build: ## The release binary, at target/triptime
	@scripts/need.sh build
	@echo "building $(BINARY): about 3 minutes, the first time"
	@TRIPTIME_COMMIT=$(COMMIT) $(CARGO) build --quiet --release --locked -p triptime-cli --config '$(REMAPPED)'
	@install -m 755 target/$(TARGET)/release/triptime $(BINARY)

package: build ## A Debian package and an RPM of the binary, each with its SHA-256, in target/package
	@scripts/need.sh package
	@scripts/package.sh

# A verdict is the answer, also when it is "fail": only a run that reached none is an error.
qualify: build ## Install what is missing, build, run the main job, print verdict and report
	@mkdir -p $(dir $(RUN))
	@status=0; $(BINARY) qualify --out $(RUN) || status=$$?; \
	if [ $$status -le 3 ] && [ $$status -ne 2 ] && [ -e $(RUN:.triptime=.html) ]; then \
		echo "report: $(RUN:.triptime=.html)"; \
	else \
		exit $$status; \
	fi

test: ## Install what is missing, build, run every test, list the skipped ones
	@scripts/need.sh test
	@TRIPTIME_CARGO_CONFIG='$(REMAPPED)' TRIPTIME_COMMIT=$(COMMIT) scripts/test.sh

check: ## Formatting and lints
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

bench: build ## Benchmarks, and side-by-side runs against peers
	$(CARGO) bench -p triptime-bench --config '$(REMAPPED)'
	bench/peers/wakeup.py
	bench/peers/pcap.py

simulate: ## Statements of the statistics against simulated truth, into docs/statistics.md (RUNS=1000 for a night)
	SIMULATE=$${RUNS:-100} $(CARGO) test --locked -p triptime-stats --test simulation

fuzz: ## FUZZ_SECONDS (30) of each fuzz target (needs nightly Rust and cargo-fuzz)
	cd fuzz && for target in $$(cargo +nightly fuzz list); do \
		cargo +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

clean: ## Remove what was built
	$(CARGO) clean
