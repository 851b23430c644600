# Everything a person types. `make` alone lists the targets.
#
# Variables:
#   CONFIGURATION=debug|release   what `make build` and `make demo` build (default: release)
#   SUITES="BytesTests QUICTests" which test targets `make test` runs (default: all, and the checks)
#   VERBOSE=1                     `make test` prints the log of each suite
#   BUILD=no                      `make test` takes what is built already
#   OLDER=FILE                    a program that an older version's `make release` linked, for `make check-packages`,
#                                 `make check-wire` and `make check-upgrades` (default for these two: that of `make previous`)
#   NEWER=FILE                    the program that these and `make check-suites` check (default: that of `make release`)
#   PARTS="outside sanitize"      which parts `make release-check` runs (default: those that have not passed yet)

CONFIGURATION ?= release
SWIFT_BUILD := $(if $(filter debug,$(CONFIGURATION)),./scripts/debug-build.sh,swift build --configuration $(CONFIGURATION))
SUITES ?=
VERBOSE ?=
PARTS ?=
RELEASE := .venv-release/bin/python3 -B scripts/release
RELEASED := $(or $(NEWER),.build-release/link/runar)
PREVIOUS := $(or $(OLDER),.build-release/previous/link/runar)
GATE := python3 -B scripts/gate
FORMATTED := Package.swift Sources Tests Benchmarks/Sources Examples

export SUITES VERBOSE PARTS BUILD

.DEFAULT_GOAL := help
.PHONY: help release size previous reproducible check-packages check-wire check-upgrades check-suites demo test test-long release-check build format lint api-description documentation soak lab library outside sanitize
.PHONY: attacks fuzz check-ngtcp2-1x check-posix-udp bench bench-long clean dependencies

help: ## List the targets.
	@echo "Runar: private networks of your own devices. Targets:"
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: build ## Install what is missing, build, and show the main job with real node processes.
	@"$$(swift build --configuration $(CONFIGURATION) --show-bin-path)/runar" demo

test: ## Install what is missing, lint, build once, and run every test, the demo and the other checks.
	@$(GATE) test

test-long: ## Run the tests that need long real time, which `make test` skips, and a soak of a minute.
	@RUNAR_LONG=1 LIMIT_SECONDS=5400 $(GATE) long

release-check: ## Before a release: its packages, work with the previous release, librunar, attacks, a package outside, sanitizers, a soak of five minutes, a round of the bench.
	@$(GATE) release-check

release: ## Make all files of a release of the last commit in dist/: packages, archives, image, documentation, bill.
	@./scripts/install-dependencies.sh release
	@./scripts/python-env.sh release
	@$(RELEASE)

check-packages: ## As root on Debian: use what `make release` wrote in fresh systems, in namespaces and under systemd.
	@./scripts/install-dependencies.sh packages
	@python3 -B scripts/release/package_check.py dist/runar_*.deb $(OLDER)
	@python3 -B scripts/release/library_check.py dist
	@python3 -B scripts/release/image_check.py dist/*-image.tar
	@python3 -B scripts/release/service_check.py .build-release/link/runar
	@python3 -B scripts/release/first_file.py dist/runar_*.deb

previous: ## Build the program of the previous release, which packaging/previous-release names.
	@./scripts/install-dependencies.sh release
	@python3 -B scripts/release/previous.py

check-wire: ## Let nodes of the previous release and of this one work together, in both directions.
	@./scripts/install-dependencies.sh release
	@python3 -B scripts/release/wire_check.py $(RELEASED) $(PREVIOUS)

check-upgrades: ## Open 50 homes of the previous release with this one, and go back to the previous one.
	@./scripts/install-dependencies.sh release
	@python3 -B scripts/release/upgrade_check.py $(PREVIOUS) $(RELEASED) 50

check-suites: ## Run the tests of the command against the program that `make release` linked.
	@./scripts/install-dependencies.sh test
	@./scripts/python-env.sh
	@./scripts/stage.sh "build the tests" ./scripts/debug-build.sh --product runarPackageTests
	@python3 -B scripts/release/suites_check.py $(RELEASED)

reproducible: ## Make the release once more, by another user in another folder, and compare every byte with dist/.
	@./scripts/install-dependencies.sh release
	@python3 -B scripts/release/reproducible.py

size: ## Print the largest parts of the program that `make release` linked.
	@python3 -B scripts/release size

build: dependencies ## Build the `runar` command.
	@./scripts/stage.sh "build runar ($(CONFIGURATION))" ./scripts/build-progress.sh $(SWIFT_BUILD) --product runar

format: ## Rewrite the sources in the house format.
	swift format --in-place --recursive --parallel --configuration .swift-format $(wildcard $(FORMATTED))

lint: ## Check the house format; every finding is an error.
	@./scripts/stage.sh "lint" swift format lint --strict --recursive --parallel --configuration .swift-format \
		$(wildcard $(FORMATTED))

api-description: ## Write openapi.json from the routes and types of the API, keeping its descriptions.
	@./scripts/debug-build.sh --product runarPackageTests
	@RUNAR_API_DESCRIPTION=$(abspath Sources/Apps/ConsolePages/web/openapi.json) \
		.build/debug/runarPackageTests.xctest --testing-library swift-testing --filter 'every route is described'

documentation: ## Write the reference of the public libraries to .build/documentation; a warning is an error.
	@./scripts/documentation.sh

soak: ## Let 20 processes work together for ten minutes while members leave, crash and join; every answer is checked.
	@./scripts/install-dependencies.sh build
	@./scripts/stage.sh "build Soak" swift build --configuration release --product Soak
	@"$$(swift build --configuration release --show-bin-path)/Soak" $(or $(SOAK_SECONDS),600)

lab: ## As root on Linux: nodes behind routers of all kinds and over bad lines, in full; prints tables. Takes long.
	@RUNAR_LAB=full LIMIT_SECONDS=10800 TEST_OPTIONS=--no-parallel VERBOSE=1 SUITES=LabTests $(GATE) test

sanitize: ## Run the transport suites under the address and the thread sanitizer, and the C interface under the first.
	@./scripts/sanitize.sh
	@./scripts/sanitize-c.sh

library: dependencies ## Make librunar for programs in C and Python, in .build/library.
	@./scripts/library.sh

attacks: library build ## Attack a node with independent peers and print what each attack costs it.
	@./scripts/python-env.sh
	@RUNAR_LIBRARY=.build/library/librunar.so \
		RUNAR_COMMAND="$$(swift build --configuration $(CONFIGURATION) --show-bin-path)/runar" \
		.venv/bin/python3 -B Tests/Interop/attack.py

fuzz: ## Read mutated NanoTDFs, keys, mail and cards under libFuzzer for a minute, or FUZZ_SECONDS.
	@./scripts/install-dependencies.sh build
	@./scripts/fuzz.sh $(or $(FUZZ_SECONDS),60)

outside: dependencies ## Build a package that depends on this one by URL and version.
	@./scripts/stage.sh "a package that depends on this one" ./scripts/outside-package.sh

check-ngtcp2-1x: ## On Debian 12: run the QUIC suites with ngtcp2 1.x, and let it talk to the system's 0.12.
	@./scripts/check-ngtcp2-1x.sh

check-posix-udp: ## Run the QUIC suites over the sockets that Apple systems use, on Linux.
	@./scripts/check-posix-udp.sh

bench: ## Measure next to iroh, the raw ceilings of this machine and published figures; prints three tables.
	@./Benchmarks/run.sh

bench-long: ## Run the big simulations: churn, 10 000 nodes, 36 hours of records, hostile members. Takes hours.
	@./Benchmarks/run-long.sh

clean: ## Remove what was built here.
	rm -rf .build .build-release .build-outside .build-address .build-thread .build-ngtcp2-1x .build-posix-udp .build-fuzz .venv .venv-nanotdf .venv-release .hypothesis Benchmarks/.build Benchmarks/.venv Benchmarks/.venv-identity

dependencies:
	@./scripts/install-dependencies.sh build
