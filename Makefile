# Targets explain themselves: make help.
.DEFAULT_GOAL := help
SHELL := /bin/bash
GO ?= go
BIN := bin/lockstorm
TOOL := $(GO) tool -modfile=tools/go.mod
DEMO_OUT ?= lockstorm-runs/demo-$(shell date +%Y%m%d-%H%M%S)
# Servers that .ci/servers took out of an image.
export PATH := $(CURDIR)/bin/servers:$(PATH)
# What the tests run with; make test PKG=./checker narrows it.
PKG ?= ./...
# The race detector needs a C compiler.
RACE := $(shell command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race)
TESTFLAGS ?= $(RACE) -shuffle=on

.PHONY: help
help: ## show this help
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/lockstorm
	@mkdir -p bin
	$(GO) build -o $(BIN) ./cmd/lockstorm

.PHONY: demo
demo: build ## pause the holder of a Redis lock and look at what is lost (installs nothing)
	@if command -v redis-server >/dev/null; then echo "demo: redis-server is on PATH: using it"; \
	else echo "demo: no redis-server on PATH: using the embedded one"; fi
	@$(BIN) run --backend redis-fenced --nemesis client-pause --workload counter --ttl 1s --clients 3 --time 10s --seed 1 --out $(DEMO_OUT); \
	code=$$?; if [ $$code -ne 1 ]; then echo "demo: expected the violation (exit code 1), got $$code"; exit 1; fi; \
	echo "demo: exit code 1, as it must be: this lock lets two clients in when its holder is paused."; \
	echo "demo: open $(abspath $(DEMO_OUT))/report.html"

.PHONY: servers
servers: ## get the servers that the tests need (Debian packages, else out of a Docker image)
	@./.ci/servers

.PHONY: test
test: servers ## run the tests (with the race detector where there is a C compiler)
	@$(if $(RACE),true,echo "test: no C compiler, so no race detector")
	$(GO) test $(TESTFLAGS) -timeout 15m $(PKG)
	cd examples/ownlock && $(GO) test -timeout 5m ./...

.PHONY: fast
fast: servers ## run the fast suite: the promised commands against real servers
	$(GO) test -tags fast -count=1 -timeout 12m -parallel 6 ./e2e

.PHONY: lint
lint: ## gofumpt and golangci-lint, pinned in tools/go.mod
	@out=$$($(TOOL) gofumpt -l .); if [ -n "$$out" ]; then echo "gofumpt would change:"; echo "$$out"; exit 1; fi
	$(TOOL) golangci-lint run

.PHONY: fmt
fmt: ## format with gofumpt
	$(TOOL) gofumpt -w .

.PHONY: vet
vet:
	$(GO) vet ./...
	$(GO) vet -tags fast ./e2e

.PHONY: tidy
tidy: ## check that go mod tidy leaves no difference
	$(GO) mod tidy -diff

.PHONY: bench
bench: servers ## benchmarks: ratios in one run
	$(GO) test -run '^$$' -bench . -benchtime 1s ./history ./checker ./harness

.PHONY: ci
ci: ## everything that must hold before a change lands
	$(MAKE) tidy vet build lint
	$(MAKE) test
	$(MAKE) fast

.PHONY: clean
clean: ## remove what was built and every run
	rm -rf bin lockstorm-runs
