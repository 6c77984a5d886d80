# Targets explain themselves: `make help` shows those with ##, which a newcomer needs, `make help-series` those with ##>.
.DEFAULT_GOAL := help
SHELL := /bin/bash
GO ?= go
# Compiler, linker and linter with less garbage collection: a sixth less time for half a gigabyte more of memory.
FASTGO := GOGC=400 $(GO)
BIN := bin/lockstorm
TOOL := $(GO) tool -modfile=tools/go.mod
DEMO_OUT ?= lockstorm-runs/demo-$(shell date +%Y%m%d-%H%M%S)
# Servers that .ci/servers took out of an image.
export PATH := $(CURDIR)/bin/servers:$(PATH)
# What the tests run with; make test PKG=./checker narrows it.
PKG ?= ./...
# make test RACE=-race adds the race detector, which needs a C compiler and doubles the time; make ci does.
RACE ?=
# Tests of runs wait for much of their time: one package more than there are processors is tested at once.
ATONCE ?= $(shell expr $$(nproc) + 1)
# The packages that take longest begin, so that none of them runs alone at the end.
SLOWEST := ./harness/internal/contract ./adapters ./backends/sql ./internal/cli ./backends/redislibs ./workloads ./internal/suites/gate ./harness ./backends/redis ./backends/nats
TESTFLAGS ?= $(RACE) -shuffle=on -p $(ATONCE)

.PHONY: help
help: ## show this help
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "make help-series lists the rest: series of many seeds, containers, images, tidying"

.PHONY: help-series
help-series: ##> the targets that take long, or that only a release or a certain change needs
	@awk -F':.*##> ' '/^[a-z-]+:.*##> /{printf "  %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/lockstorm
	@mkdir -p bin
	$(FASTGO) build -ldflags "-s -w" -o $(BIN) ./cmd/lockstorm

.PHONY: demo
demo: ## pause the holder of a Redis lock and look at what is lost (installs nothing; builds lockstorm with Redis alone)
	@if command -v redis-server >/dev/null; then echo "demo: redis-server is on PATH: using it"; \
	else echo "demo: no redis-server on PATH: using the embedded one"; fi
	@mkdir -p bin; echo "demo: building lockstorm with Redis alone (make build builds all of it)"
	@CGO_ENABLED=0 $(FASTGO) build -gcflags='all=-l -dwarf=false' -ldflags "-s -w" -o bin/lockstorm-demo ./cmd/demo # nothing inlined, no C: a third less to compile
	@bin/lockstorm-demo run --backend redis-fenced --nemesis client-pause --workload counter --ttl 1s --clients 3 --time 7s --seed 1 --out $(DEMO_OUT); \
	code=$$?; if [ $$code -ne 1 ]; then echo "demo: expected the violation (exit code 1), got $$code"; exit 1; fi; \
	echo "demo: exit code 1, as it must be: this lock lets two clients in when its holder is paused."; \
	echo "demo: open $(abspath $(DEMO_OUT))/report.html"

.PHONY: servers
servers: ## get the servers that the tests need (Debian packages, else out of a Docker image)
	@./.ci/servers

.PHONY: test
test: servers ## run the tests (RACE=-race with the race detector, as make ci does)
	@$(FASTGO) build $(RACE) $(PKG) # first: runs are not timed beside a compiler
	@mkdir -p bin; : >bin/examples.log; pid=; \
	$(if $(filter ./...,$(PKG)),(cd examples/ownlock && $(GO) test -timeout 5m ./...) >bin/examples.log 2>&1 & pid=$$!;) \
	echo "$(GO) test $(TESTFLAGS) $(PKG)"; code=0; \
	GORACE="atexit_sleep_ms=0 $$GORACE" $(GO) test $(TESTFLAGS) -timeout 15m $(if $(filter ./...,$(PKG)),$(SLOWEST)) $(PKG) || code=$$?; \
	{ [ -z "$$pid" ] || wait $$pid; } || code=1; cat bin/examples.log; exit $$code # a client with the race detector would end a second later
	$(if $(filter ./...,$(PKG)),@if ./.ci/browser; then $(MAKE) --no-print-directory browser; else [ -z "$$CI" ]; fi)

# What judges, without servers: with the race detector its tests have a tenth of their random records.
JUDGE := ./checker/... ./internal/proof ./internal/operations/... ./internal/tests/hunt/... ./internal/tests/damage
.PHONY: judge
judge: ##> tests of what judges, with all their random records, without the race detector (make test has them, too)
	$(GO) test -shuffle=on -timeout 15m $(JUDGE)

# Pages of eight kinds of runs, and of runs of 100,000 and of a million events.
PAGES := $(CURDIR)/bin/pages
.PHONY: pages
pages:
	@rm -rf $(PAGES); mkdir -p $(PAGES)
	$(GO) test -count=1 ./reports -run TestWritePages -pages $(PAGES)

.PHONY: browser
browser: pages ## try the report in headless Chromium (Debian's package), and read the recipes of docs/campaigns
	@./.ci/browser
	cd tools && PAGES=$(PAGES) $(GO) test -count=1 -timeout 5m ./page ./recipes ./github

.PHONY: picture
picture: build ##> make README's picture: the first screen of the report of make demo's run
	@./.ci/browser; rm -rf bin/picture; mkdir -p docs/images
	@$(BIN) run --backend redis-fenced --nemesis client-pause --workload counter --ttl 1s --clients 3 --time 10s --seed 1 --out bin/picture >/dev/null; [ $$? -eq 1 ]
	chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --virtual-time-budget=2000 --window-size=1280,800 --screenshot=$(CURDIR)/docs/images/report.png file://$(CURDIR)/bin/picture/report.html 2>/dev/null

.PHONY: fast
fast: servers ## run the fast suite: the promised commands against real servers
	$(GO) test -tags series -count=1 -timeout 15m -parallel 12 -skip '^Test(Series|Containers)' ./internal/tests/e2e

GATE_OUT ?= lockstorm-runs/gate-$(shell date +%Y%m%d-%H%M%S)

.PHONY: gate
gate: build servers ## preset ci: lockstorm's own gate, with a page of what came of it
	$(BIN) suite ci --out $(GATE_OUT)

STEADY_RUNS ?= 50

.PHONY: steady
steady: servers ##> the gate STEADY_RUNS (50) times in a row, every second time beside four spinning loops
	set -o pipefail; STEADY_RUNS=$(STEADY_RUNS) $(GO) test -tags series -count=1 -timeout 180m -run TestSeriesSteady -v ./internal/tests/e2e | grep --line-buffered -v '^=== '

MATRIX_SEEDS ?= 3

.PHONY: busy
busy: servers ##> locks that are right beside four spinning loops, 140 runs in 25 minutes: none is said to be wrong
	set -o pipefail; $(GO) test -tags series -count=1 -timeout 60m -parallel 2 -run TestSeriesBusyHost ./internal/tests/e2e -v | grep -v '^=== '

BUSY_OUT ?= lockstorm-runs/busy-$(shell date +%Y%m%d-%H%M%S)

.PHONY: busy-stores
busy-stores: servers ##> likewise, locks of all stores, each under faults that do it no harm or under chaos: BUSY_RUNS (30) runs from BUSY_SEED (1) on
	set -o pipefail; BUSY_OUT=$(abspath $(BUSY_OUT)) $(GO) test -tags series -count=1 -timeout 60m -parallel 2 -run TestSeriesBusyStores ./internal/tests/e2e -v | grep --line-buffered -v '^=== '

KILLS ?= 10

.PHONY: kills
kills: servers ##> kill -9 of lockstorm, KILLS (10) times each with PostgreSQL, MariaDB, ZooKeeper and etcd: nothing is left
	set -o pipefail; KILLS=$(KILLS) $(GO) test -tags series -count=1 -timeout 60m -parallel 2 -run TestStoresAreGoneAfterKill ./internal/tests/e2e -v | grep -v '^=== '

.PHONY: matrix
matrix: build servers ##> every backend under every fault, MATRIX_SEEDS seeds; writes docs/matrix.md (2 hours)
	$(BIN) suite full --seeds $(MATRIX_SEEDS) --out lockstorm-runs/matrix --resume; code=$$?; [ $$code -le 2 ] || [ $$code -eq 5 ]
	$(GO) test ./docs/tables -run TestSuites -matrix $(CURDIR)/lockstorm-runs/matrix

CHOOSE_OUT ?= lockstorm-runs/choose

.PHONY: choosing
choosing: build servers ##> locks of every store compared, CHOOSE_SEEDS (5) seeds; writes docs/choosing.md (a quarter of an hour)
	$(BIN) suite examples/choose.yaml --seeds $(or $(CHOOSE_SEEDS),5) --out $(CHOOSE_OUT) --resume
	$(GO) test -count=1 ./docs/tables -run TestSuites -choosing $(abspath $(CHOOSE_OUT))

DEFAULTS_OUT ?= lockstorm-runs/defaults

.PHONY: defaults
defaults: build servers ##> the locks with known flaws, each under the fault that shows its flaw, 10 seeds: 8 must find it; writes docs/defaults.md (10 minutes)
	$(BIN) suite examples/defaults.yaml --out $(DEFAULTS_OUT) --resume; code=$$?; [ $$code -eq 0 ] || [ $$code -eq 2 ] || [ $$code -eq 5 ]
	$(GO) test -count=1 ./docs/tables -run TestSuites -defaults $(abspath $(DEFAULTS_OUT))

.PHONY: release
release: ##> dist/: static binaries of VERSION (default: the newest of CHANGELOG.md), checksums, image, bill of materials, a file GOPROXY
	@./.ci/release

.PHONY: image
image: ##> an image of lockstorm itself: a static binary, run as an unprivileged user
	@rm -rf bin/image && mkdir -p bin/image/runs bin/image/tmp
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/image/lockstorm ./cmd/lockstorm
	docker build -q -f compose/images/lockstorm/Dockerfile -t localhost/lockstorm bin/image
	@docker image inspect -f 'image: localhost/lockstorm, {{.Size}} bytes' localhost/lockstorm

.PHONY: images
images: ##> the base image that container tests are built on: here, pulled, or made with debootstrap
	@./.ci/images

.PHONY: containers
containers: images ##> the provider container: every kind of fault, kill -9, Ctrl-C, and what cannot be (CONTAINER_KILLS=4)
	$(GO) test -tags series -count=1 -timeout 15m -parallel 4 -run '^TestContainers' ./internal/tests/e2e

.PHONY: containers-track
containers-track: images ##> every published failure with CONTAINER_SEEDS (5) seeds in containers; writes docs/containers.md
	$(GO) test -tags series -count=1 -timeout 60m -parallel 3 -run TestSeriesContainersTrack ./internal/tests/e2e

.PHONY: image-versions
image-versions: ##> the published failures on Redis 6 to 8, Valkey and etcd 3.4 and 3.5 in containers, VERSION_SEEDS (2) seeds; writes docs/versions.md
	images=$$(./.ci/versions) && IMAGES="$$images" $(GO) test -tags series -count=1 -timeout 90m -parallel 3 -run TestSeriesImageVersions ./internal/tests/e2e

.PHONY: soak
soak: servers ##> 200 runs over all pairs of backend and fault, against the table of docs/backends.md
	set -o pipefail; $(GO) test -tags series -count=1 -timeout 90m -parallel 3 -run TestSeriesSoak -v ./internal/tests/e2e | grep -v '^=== '

.PHONY: damage
damage: servers ##> 40,000 damaged records: a failing one never passes, a passing one never fails
	DAMAGE_N=$${DAMAGE_N:-40000} $(GO) test -count=1 -timeout 60m -run TestDamage -v ./internal/tests/damage

.PHONY: campaign
campaign: servers ##> a campaign of 80 runs on four workers, with 20 kills of workers and 5 of the queue; then 10,000 naps on 200 workers (10 minutes)
	set -o pipefail; $(GO) test -tags series -count=1 -timeout 20m -run TestSeriesCampaign -v ./internal/tests/e2e | grep -v '^=== '
	set -o pipefail; $(GO) test -tags series -count=1 -timeout 20m -run TestSeriesLoad -v ./internal/campaign | grep -v '^=== '

.PHONY: exports
exports: servers ##> 50 runs, EXPORT_SEEDS (2) seeds of 25 lines from EXPORT_SEED (1) on, exported and read back: the same verdicts (3 minutes)
	set -o pipefail; $(GO) test -tags series -count=1 -timeout 30m -parallel 4 -run TestSeriesExports -v ./internal/tests/e2e | grep -v '^=== '

.PHONY: explore-bench
explore-bench: servers ##> the guided and the random search for published failures: EXPLORE_FOR (3m), EXPLORE_SEEDS (3), EXPLORE_ONLY=REGEXP; it goes on where it was stopped
	set -o pipefail; $(GO) test -tags series -count=1 -timeout 12h -run TestSeriesExplore -v ./internal/tests/e2e | grep --line-buffered -v '^=== '

.PHONY: planted
planted: servers ##> searches of locks with planted bugs, which must find each, and of the same locks without them: PLANTED_FOR (3m) each at most
	set -o pipefail; $(GO) test -tags series -count=1 -timeout 180m -p 2 -parallel 2 -run TestSeriesPlanted -v ./internal/tests/planted ./backends/redis ./backends/redislibs ./backends/zookeeper ./backends/sql | grep --line-buffered -v '^=== '

.PHONY: track-record
track-record: servers ##> every published failure with 20 seeds; writes docs/track-record.md
	$(GO) test -tags series -count=1 -timeout 60m -parallel 3 -run TestSeriesTrackRecord ./internal/tests/e2e

.PHONY: ensembles
ensembles: servers ##> what is said of the locks on ZooKeeper and etcd, with 20 seeds; writes docs/ensembles.md
	$(GO) test -tags series -count=1 -timeout 180m -parallel 4 -run TestSeriesEnsembles ./internal/tests/e2e

.PHONY: claims
claims: build servers ##> the claims of the articles, about 160 runs; writes docs/measured/claims.json, docs/claims.md and its pictures
	rm -rf lockstorm-runs/claims
	$(BIN) claims --run --out lockstorm-runs/claims; code=$$?; [ $$code -eq 0 ] || [ $$code -eq 5 ]
	$(BIN) claims --from lockstorm-runs/claims --keep docs/measured/claims.json >/dev/null
	$(MAKE) docs

.PHONY: databases
databases: servers ##> what is said of the locks on MariaDB and PostgreSQL, with 20 seeds; writes docs/databases.md
	$(GO) test -tags series -count=1 -timeout 180m -parallel 6 -run TestSeriesDatabases ./internal/tests/e2e

.PHONY: libraries
libraries: servers ##> every library, option and discipline under faults with LIB_SEEDS (10) seeds; LIB_ONLY=REGEXP of names and LIB_FAULT=REGEXP of faults narrow it; writes docs/libraries-measured.md
	$(GO) test -tags series -count=1 -timeout 180m -parallel 6 -run TestSeriesLibraries ./internal/tests/e2e

.PHONY: adapters
adapters: servers ##> the libraries of other languages likewise (LIB_SEEDS, LIB_ONLY, LIB_FAULT; LIB_RESUME=1 goes on); writes docs/adapters-measured.md
	$(GO) test -tags series -count=1 -timeout 240m -parallel 6 -run TestSeriesAdapters ./internal/tests/e2e

.PHONY: versions
versions: servers ##> the libraries of adapters in the releases that can be had (LIB_SEEDS, LIB_ONLY, LIB_FAULT, LIB_RESUME as above); writes docs/releases.md. LIB=MODULE: instead, the cases of a Go library over its last releases
	$(if $(LIB),,./.ci/trixie bin/trixie)
	set -o pipefail; LIB=$(LIB) $(GO) test -tags series -count=1 -timeout 240m -parallel 6 -run $(if $(LIB),TestSeriesVersions,TestSeriesReleases) -v ./internal/tests/e2e | grep -v '^=== '

.PHONY: adapter-libraries
adapter-libraries: servers ##> planted bugs in adapters, and the controls of each language under faults (CONTROL_SEEDS): 20 minutes
	set -o pipefail; $(GO) test -tags series -count=1 -timeout 60m -v -run 'TestPlanted|TestKazoo|TestCollector|TestControlsConform' ./adapters | grep -v '^=== '
	set -o pipefail; $(GO) test -tags series -count=1 -timeout 60m -parallel 6 -v -run TestReference ./adapters | grep -v '^=== '

MUTANT_SEEDS ?= 20

.PHONY: mutants
mutants: servers ##> the mutants of a Redis library and its control with MUTANT_SEEDS (20) seeds: each bug is found, and none where there is none
	MUTANT_SEEDS=$(MUTANT_SEEDS) $(GO) test -count=1 -timeout 120m -run 'TestMutants|TestControl' ./backends/redislibs

HUNT_N ?= 600000
HUNT_SEED ?= 1000001

.PHONY: hunt
hunt: ##> 200,000 random histories a lock model against brute force and Porcupine, then HUNT_N simulated services and their bugs
	LOCKSTORM_HISTORIES=200000 $(GO) test -count=1 -timeout 60m -run 'AgainstBruteForce|AgainstPorcupine' -v ./checker/...
	cd internal/tests/hunt && HUNT_N=$(HUNT_N) HUNT_SEED=$(HUNT_SEED) $(GO) test -count=1 -timeout 10h -run TestHunt -v .

HUNT_FORGED ?= 20000

.PHONY: forged
forged: ##> HUNT_FORGED (20,000) findings and proofs are forged, of simulated runs and of those in HUNT_RECORDS: verify accepts none that is wrong
	HUNT_FORGED=$(HUNT_FORGED) HUNT_RECORDS=$(abspath $(HUNT_RECORDS)) $(GO) test -count=1 -timeout 60m -run TestForged -v ./internal/tests/hunt

JUDGE_MUTANTS ?= 60
JUDGE_SEED ?= 1

.PHONY: judge-mutants
judge-mutants: ##> JUDGE_MUTANTS (60) small changes to the judge, drawn by JUDGE_SEED (1), of lines newer than JUDGE_SINCE: its tests and 3,000 hunted histories must notice each (half an hour)
	set -o pipefail; JUDGE_MUTANTS=$(JUDGE_MUTANTS) JUDGE_SEED=$(JUDGE_SEED) $(GO) test -tags series -count=1 -timeout 10h -run TestJudgeMutants -v ./internal/tests/hunt/mutants | grep --line-buffered -v '^=== '

.PHONY: docs
docs: ## write docs/faults.md, docs/backends.md and compose/ from the catalogue, docs/extending.md from examples/ownlock
	$(GO) test ./history -run GeneratedIsNotStale -generate
	$(GO) test ./docs/tables ./internal/docs/... -run Stale -rewrite

.PHONY: lint
lint: ## golangci-lint, also of the format (gofumpt), pinned in tools/go.mod
	@GOGC=400 $(TOOL) golangci-lint fmt --diff || { echo "lint: the format is checked first; if files are listed above, make fmt formats them"; exit 1; }
	GOGC=400 $(TOOL) golangci-lint run

.PHONY: fmt
fmt: ## format with gofumpt
	$(TOOL) golangci-lint fmt

.PHONY: vet
vet: ## go vet, with the series
	$(GO) vet -tags series ./...

.PHONY: tidy
tidy: ##> check that go mod tidy leaves no difference (docs/adr/0007 names the one that is allowed)
	./.ci/tidy

.PHONY: bench
bench: build servers ## benchmarks: ratios in one run
	@rm -rf bin/bench-run; $(BIN) run --backend none --clients 8 --workload counter:hold=0ms --time 40s --seed 3 --out bin/bench-run >/dev/null 2>&1; [ $$? -eq 1 ]
	BENCH_RUN=$(CURDIR)/bin/bench-run $(GO) test -run '^$$' -bench . -benchtime 1s ./history ./checker ./internal/proof ./harness ./backends/internal/tap ./reports # with -tags series also in containers
	@$(MAKE) --no-print-directory pages && ./.ci/browser && cd tools && PAGES=$(PAGES) $(GO) test -run '^$$' -bench . -benchtime 3x ./page

.PHONY: bench-against
bench-against: build ##> OLD=BINARY: check of a million events by bin/lockstorm and by an older binary, in turn: the ratio of medians (1.05 at most)
	@[ -x "$(OLD)" ] || { echo "bench-against: OLD=path/of/binary is missing, or cannot be run"; exit 1; }
	BENCH_OLD=$(abspath $(OLD)) BENCH_NEW=$(abspath $(BIN)) $(GO) test -run '^$$' -bench '^BenchmarkAgainst$$' -benchtime 1x ./checker

# Nobody debugs what ci compiles: without debugging information that is an eighth less work. One set of flags for all
# steps, or each would compile the libraries again. Beside tests the compiler goes last.
.PHONY: ci
ci: ## everything that must hold before a change lands (lint has go vet's analyzers, too)
	@./.ci/prepare bin/prepare & \
	export GOFLAGS="$$($(GO) env GOFLAGS) -gcflags=all=-dwarf=false"; \
	step() { ./.ci/step "$$@"; }; make() { step "make $$1" $(MAKE) --no-print-directory "$$@"; }; \
	race=$$(command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race); \
	make tidy && make build && make lint && step "get servers and browser" ./.ci/await bin/prepare servers && \
	export GOFLAGS="$$GOFLAGS '-toolexec=nice -n 19'" && GOGC=400 make test RACE=$$race TESTFLAGS="$$race -shuffle=on -vet=off -ldflags=-w -p $(ATONCE)" && \
	make fast && step "get images" ./.ci/await bin/prepare images && \
	{ make containers >bin/containers.log 2>&1 & containers=$$!; code=0; make gate || code=1; { [ -z "$$race" ] || make judge; } || code=1; \
	wait $$containers || code=1; cat bin/containers.log; exit $$code; } # containers wait for most of their time

.PHONY: clean
clean: ## remove what was built and every run
	rm -rf bin dist lockstorm-runs
