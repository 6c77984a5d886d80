# What takes long, or what only a certain change needs, has no target of its own: make series RUN=NAME. make help has the names.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
GO ?= go
# Compiler, linker and linter with less garbage collection: a sixth less time for half a gigabyte more of memory.
FASTGO := GOGC=400 $(GO)
# Without debugging information compilers work an eighth less; with other flags they would compile the libraries again.
export GOFLAGS := $(filter-out -gcflags=%,$(shell $(GO) env GOFLAGS)) -gcflags=all=-dwarf=false
TOOL := $(GO) tool -modfile=tools/go.mod
DEMO_OUT ?= lockstorm-runs/demo-$(shell date +%Y%m%d-%H%M%S)
GATE_OUT ?= lockstorm-runs/gate-$(shell date +%Y%m%d-%H%M%S)
PAGES := $(CURDIR)/bin/pages
# make test PKG=./checker narrows it. RACE=-race needs a C compiler, and doubles the time. make lint has what go vet would say.
PKG ?= ./...
# What starts processes takes longest, and begins.
FIRST := $(addprefix ./,$(sort $(dir $(shell git grep -l 'func TestMain\>' -- '*_test.go' ':!examples' ':!tools'))))
# Tests of runs wait for much of their time: so many packages are tested at once.
TESTFLAGS ?= $(RACE) -shuffle=on -vet=off -p $(shell expr $$(nproc) $(if $(RACE),+ 1,\* 2))
# Files of tests are in memory where there is plenty of it: a disk that has just removed thousands is slow to make the next.
FILES := $(shell [ $$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1) -gt 8000000 ] 2>/dev/null && echo /dev/shm)
# The packages that have the tests of RUN, a regular expression as go test -run has it.
IN ?= $(addprefix ./,$(sort $(dir $(shell git grep -lE 'func ($(firstword $(subst /, ,$(RUN))))' -- '*_test.go'))))

.PHONY: help build build-servers demo servers test judge pages browser fast gate series docs lint fmt tidy release image images \
	containers beside hunt judge-mutants explore-bench bench bench-against ci clean
help: ## show this help
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-13s %s\n", $$1, $$2}' Makefile
	@echo "RUN of make series: $$(git grep -ohE 'func TestSeries[A-Za-z]+' -- '*_test.go' | sort -u | cut -d' ' -f2 | xargs)"
build: ## build bin/lockstorm
	$(FASTGO) build -ldflags "-s -w" -o bin/lockstorm ./cmd/lockstorm
build-servers: ## build bin/lockstorm-servers, which containers and the embedded etcd and NATS need
	$(FASTGO) build -ldflags "-s -w" -o bin/lockstorm-servers ./cmd/lockstorm-servers
demo: ## pause the holder of a Redis lock and look at what is lost (installs nothing; builds lockstorm with Redis alone)
	@echo "demo: $$(command -v redis-server >/dev/null && echo redis-server is on PATH: using it || \
		echo no redis-server on PATH: using the embedded one)"
	@echo "demo: building lockstorm with Redis alone (make build builds all of it)"
	@CGO_ENABLED=0 $(FASTGO) build -gcflags='all=-l -dwarf=false' -ldflags "-s -w" -o bin/lockstorm-demo ./cmd/demo # a third faster
	@bin/lockstorm-demo run --backend redis-fenced --nemesis client-pause --workload counter --ttl 1s --clients 3 --time 7s \
		--seed 1 --out $(DEMO_OUT); code=$$?; \
	[ $$code -eq 1 ] || { echo "demo: expected the violation (exit code 1), got $$code"; exit 1; }
	@echo "demo: exit code 1, as it must be: this lock lets two clients in when its holder is paused."
	@echo "demo: open $(abspath $(DEMO_OUT))/report.html"
servers: ; @./.ci/servers ## get the servers that the tests need (Debian packages)
test: servers ## run the tests (RACE=-race with the race detector, as make ci does)
	@$(FASTGO) build $(RACE) $(PKG) # first: runs are not timed beside a compiler
	@$(if $(FILES),echo "test: files of tests are in $(FILES)"; export TMPDIR=$$(mktemp -d $(FILES)/test.XXXX); \
		trap 'rm -rf "$$TMPDIR"' EXIT;) mkdir -p bin; : >bin/beside.log; pid=; \
	$(if $(filter ./...,$(PKG)),make --no-print-directory beside >bin/beside.log 2>&1 & pid=$$!;) \
	echo "$(GO) test $(TESTFLAGS) $(PKG)"; code=0; export GORACE="atexit_sleep_ms=0 $$GORACE"; \
	$(GO) test $(TESTFLAGS) -timeout 30m $(if $(filter ./...,$(PKG)),$(FIRST)) $(PKG) || code=$$?; \
	wait $$pid || code=1; cat bin/beside.log; exit $$code # a racing client would end a second later
beside: # what make test tries beside the packages: the user's example, and pages in a browser
	@cd examples/ownlock && $(GO) test -timeout 5m ./...
	@if ./.ci/browser; then $(MAKE) --no-print-directory browser; else [ -z "$$CI" ]; fi
judge: ## tests of what judges, with all their random records (make test has a tenth of them)
	LOCKSTORM_RANDOM=all $(GO) test -shuffle=on -timeout 30m ./checker/... ./internal/{proof,operations/...,tests/{hunt/...,damage}}
pages:
	@rm -rf $(PAGES); mkdir -p $(PAGES)
	PAGES=$(PAGES) $(GO) test -count=1 ./reports -run TestWritePages
browser: pages ## try the report in headless Chromium (Debian's package), and read the recipes of docs/campaigns
	@./.ci/browser && cd tools && PAGES=$(PAGES) $(GO) test -count=1 -timeout 10m ./page ./recipes ./github
fast: servers ## run the fast suite: the promised commands against real servers
	$(GO) test -tags series -count=1 -timeout 30m -parallel 12 -skip '^Test(Series|Containers)' ./internal/tests/e2e
gate: build build-servers servers ## preset ci: lockstorm's own gate, with a page of what came of it
	bin/lockstorm suite ci --out $(GATE_OUT)
series: servers ## RUN=NAME: tests that take long, or another number of random records; PARALLEL (4), IN=PACKAGE
	$(GO) test -tags series -count=1 -timeout 12h -p 2 -parallel $(or $(PARALLEL),4) -run '$(RUN)' -v $(if $(RUN),$(IN),RUN=?) | \
		grep --line-buffered -v '^=== '
docs: ## write what is made of the catalogue, of measured data and of examples/ownlock anew: pages of docs/, and compose/
	$(GO) test ./history ./internal/docs/tables ./internal/docs/extending ./compose -run Stale -rewrite
lint: ## golangci-lint, also of the format (gofumpt), pinned in tools/go.mod
	@GOGC=400 $(TOOL) golangci-lint fmt --diff || { echo "lint: if files are listed above, make fmt formats them"; exit 1; }
	GOGC=400 $(TOOL) golangci-lint run
fmt: ; $(TOOL) golangci-lint fmt ## format with gofumpt
tidy: ; @./.ci/tidy ## check that go mod tidy leaves no difference (docs/adr/0007 names the one that is allowed)
release: ; @./.ci/release ## dist/: static binaries of VERSION (default: the newest of CHANGELOG.md), image, a file GOPROXY
image: ## an image of lockstorm itself: a static binary, run as an unprivileged user
	@rm -rf bin/image && mkdir -p bin/image/runs bin/image/tmp
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/image/ ./cmd/lockstorm ./cmd/lockstorm-servers
	docker build -q -f compose/images/lockstorm/Dockerfile -t localhost/lockstorm bin/image
	@docker image inspect -f 'image: localhost/lockstorm, {{.Size}} bytes' localhost/lockstorm
images: ; @./.ci/images ## the base image that container tests are built on: here, pulled, or made with debootstrap
containers: images ## the provider container: every kind of fault, kill -9, Ctrl-C, and what cannot be (CONTAINER_KILLS=4)
	$(GO) test -tags series -count=1 -timeout 30m -parallel 4 -run '^TestContainers' ./internal/tests/e2e
hunt: ## 200,000 random histories a lock model, then HUNT_N (600,000) simulated services from seed HUNT_SEED on
	LOCKSTORM_HISTORIES=200000 $(GO) test -count=1 -timeout 60m -run 'AgainstBruteForce|AgainstPorcupine' -v ./checker/...
	HUNT_N=$${HUNT_N:-600000} HUNT_SEED=$${HUNT_SEED:-1000001} $(GO) test -count=1 -timeout 9h -run TestHunt -v ./internal/tests/hunt
judge-mutants: ; @$(MAKE) -s series RUN=TestJudgeMutants ## JUDGE_MUTANTS (60) small changes to the judge: tests must notice each
explore-bench: ; @$(MAKE) -s series RUN=TestSeriesExplore ## searches for published failures: EXPLORE_FOR, _SEEDS, _ONLY=REGEXP
bench: build servers pages ## benchmarks: ratios in one run
	@rm -rf bin/bench-run; bin/lockstorm run --backend none --clients 8 --workload counter:hold=0ms --time 40s --seed 3 \
		--out bin/bench-run >/dev/null 2>&1; [ $$? -eq 1 ]
	PAGES=$(PAGES) BENCH_RUN=$(CURDIR)/bin/bench-run $(GO) test -run TestWriteHugePage -bench . -benchtime 1s ./history ./checker \
		./internal/proof ./harness ./backends/internal/tap ./reports # with -tags series also in containers
	@./.ci/browser && cd tools && PAGES=$(PAGES) $(GO) test -run '^$$' -bench . -benchtime 3x ./page
bench-against: build ## OLD=BINARY: a million events judged by bin/lockstorm and an older one: the ratio of medians (1.05 at most)
	@[ -x "$(OLD)" ] || { echo "bench-against: OLD=path/of/binary is missing, or cannot be run"; exit 1; }
	BENCH_OLD=$(abspath $(OLD)) BENCH_NEW=$(CURDIR)/bin/lockstorm $(GO) test -run '^$$' -bench Against$$ -benchtime 1x ./checker
ci: ; @CI=$$CI ./.ci/run ## everything that must hold before a change lands (lint has go vet's analyzers, too)
clean: ; rm -rf bin dist lockstorm-runs ## remove what was built and every run
