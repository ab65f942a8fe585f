# One set of build flags everywhere, so that the compile cache is shared between the
# product, its tests and the local control plane.
export GOFLAGS := -buildvcs=false -trimpath
export CGO_ENABLED := 0
# Tests stay on this machine: no question to the address of a cloud's instance metadata.
export AWS_EC2_METADATA_DISABLED := true

GO   ?= go
BIN  := $(CURDIR)/bin
CLUSTER_DIR ?= $(CURDIR)/.demo/cluster
PACKAGES = ./...
comma := ,
# Packages that do not pull in client-go, Helm or the AWS SDK: small enough for -race.
RACE_PACKAGES = ./internal/dag/... ./pkg/bench/... ./pkg/config/... ./pkg/plan/... ./pkg/resource/... ./pkg/sim/... ./pkg/state

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: build cluster-build ## The whole job on the local control plane: plan, apply, run, destroy
	@scripts/demo.sh

.PHONY: quickstart
quickstart: build ## One minute without a control plane: a scenario against the simulator
	@scripts/quickstart.sh

.PHONY: build
build: ## Build bin/mifbench
	$(GO) build -o $(BIN)/mifbench ./cmd/mifbench

.PHONY: cluster-build
cluster-build: ## Build bin/localcluster (about 1,000 CPU seconds the first time)
	$(GO) -C test/localcluster build -ldflags '-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2' -o $(BIN)/localcluster .

.PHONY: helm-build
helm-build: ## Build bin/helm, the command line of the module that the Helm driver uses
	$(GO) build -o $(BIN)/helm helm.sh/helm/v3/cmd/helm

.PHONY: kubectl-build
kubectl-build: ## Build bin/kubectl of the local control plane's version
	$(GO) -C test/localcluster build -ldflags '-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2' -o $(BIN)/kubectl k8s.io/kubernetes/cmd/kubectl

.PHONY: cluster-up
cluster-up: build cluster-build ## Start a local control plane and print its kubeconfig
	$(BIN)/localcluster up --dir $(CLUSTER_DIR) --engine $(BIN)/mifbench

.PHONY: cluster-down
cluster-down: ## Stop it and remove every trace
	$(BIN)/localcluster down --dir $(CLUSTER_DIR)

.PHONY: test
test: ## All tests; the control plane is built while the unit tests run
	$(MAKE) -j2 test-unit cluster-build
	$(MAKE) test-cluster

.PHONY: test-unit
test-unit: ## Tests that need no control plane
	$(GO) test -short $(PACKAGES)

.PHONY: test-cluster
test-cluster: build helm-build kubectl-build ## Tests on a real API server
	MIFBENCH_REQUIRE_CLUSTER=1 MIFBENCH_REQUIRE_HELM=1 MIFBENCH_REQUIRE_KUBECTL=1 $(GO) test -count=1 -p 1 -timeout 40m ./internal/clustertest/... ./pkg/deploy/... ./test/e2e/... ./test/provision/... ./test/real/...
	$(GO) -C test/localcluster test ./...

.PHONY: eppcheck
eppcheck: ## The endpoint picker's checks against the scheduler that they follow (300 CPU seconds the first time)
	$(GO) test -count=1 ./pkg/check -run TestDrawPickerCases -picker-cases $(BIN)/picker-cases.json
	$(GO) -C test/eppcheck test -vet=off -v -run 'TestDrawn|TestCases|TestGenerated' . -cases $(BIN)/picker-cases.json

.PHONY: e2e-real
e2e-real: build cluster-build ## The published stack on the real istiod, Envoy and endpoint picker (root; 1,000 CPU seconds the first time)
	test/real/build.sh $(BIN)/real
	cd test/real && MIFBENCH_REAL=$(BIN)/real MIFBENCH_REQUIRE_CLUSTER=1 ./enter.sh $(BIN)/real/real.test -test.run TestRealParts -test.v -test.timeout 20m

.PHONY: test-race
test-race: ## The small packages under the race detector
	CGO_ENABLED=1 $(GO) test -race -short $(RACE_PACKAGES)

.PHONY: test-tokenizers
test-tokenizers: ## Tokens and prompts against Hugging Face's own library (MB=32 PROMPTS=10000 for all)
	test/tokenizers/run.sh $(or $(MB),4) $(or $(PROMPTS),100)

.PHONY: test-tokenizers-ci
test-tokenizers-ci: ## The same for three kinds of tokenizer and little text: some minutes
	TOKENIZERS="deepseek_v3 llama2 qwen3" TIMEOUT=20m test/tokenizers/run.sh 1 20

.PHONY: golden
golden: ## Rewrite the golden files; read the diff before you commit it
	$(GO) test -short $(PACKAGES) -update

.PHONY: fuzz
fuzz: ## Each fuzz target for a minute
	scripts/fuzz.sh 60s

.PHONY: bench-client
bench-client: ## What a token costs: ours, a reader that only counts lines, net/http with encoding/json
	MIFBENCH_HEAVY=1 MIFBENCH_COST=$(or $(LOADS),1000x20ms$(comma)10800x164ms) MIFBENCH_ROUNDS=$(ROUNDS) $(GO) test -count=1 -timeout 30m -run '^TestCost$$' ./pkg/bench/
	$(GO) test -run '^$$' -bench Token -benchmem ./pkg/bench/client/

.PHONY: bench-accuracy
bench-accuracy: ## Timestamp errors, times by construction, memory, at the full loads (a quiet machine, 5 minutes)
	MIFBENCH_HEAVY=1 $(GO) test -count=1 -v -timeout 30m -run 'Accuracy|GapErrors|Stopped|Construction|Memory' ./pkg/bench/

.PHONY: bench-peers
bench-peers: build ## Other load generators against the same stamping server (first time: downloads 4 GB)
	test/peers/run.sh $(PEERS)

.PHONY: bench
bench: ## Benchmarks of the product's own code
	$(GO) test -run '^$$' -bench . -benchmem $(RACE_PACKAGES)

.PHONY: bench-provision
bench-provision: build cluster-build helm-build kubectl-build ## mifbench beside helm and kubectl: time and API requests (ROUNDS=3)
	MIFBENCH_REQUIRE_CLUSTER=1 MIFBENCH_BENCH_PROVISION=$(or $(ROUNDS),3) $(GO) test -v -count=1 -timeout 60m -run TestBenchProvision ./test/provision/

.PHONY: generate
generate: build ## Rewrite the generated reference pages
	scripts/generate.sh

.PHONY: lint
lint: $(BIN)/golangci-lint ## Linters
	$(BIN)/golangci-lint run --allow-parallel-runners ./...

$(BIN)/golangci-lint: tools/go.mod
	$(GO) -C tools build -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: tidy
tidy: ## go.mod files are tidy
	$(GO) mod tidy -diff
	$(GO) -C test/localcluster mod tidy -diff

.PHONY: check
check: ## Everything that CI runs; every step runs, then the failed ones are named
	@scripts/check.sh

.PHONY: clean
clean: ## Remove what was built
	rm -rf $(BIN) .demo
