# MobileObjects: every task of the project. `make` alone lists them.
# Each target first installs the Debian packages that it needs and that are missing, and names them; a machine that has them needs neither root nor network.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test test-on-disk install bench checklist fuzz simulate worlds core-worlds large-model outside-package soak soak-server sanitize sanitize-address sanitize-thread coverage docs format words classes clean ready ready-to-test

export PATH := $(shell .ci/find-swift 2>/dev/null):$(PATH)

# Further arguments of the programs that are run: make demo ARGS="--backend my.db --model my.mbo.json", make test ARGS="--filter Pending".
ARGS ?=

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' | while IFS='|' read -r name text; do \
	    printf '  make %-18s %s\n' "$$name" "$$text"; done

# Optimized for size and without inlining across modules, the demonstration takes as long, and its build a sixth less: the first is less work, the second
# lets a module be compiled next to those that it uses. `make bench` builds without these options, from nothing.
DEMO_BUILD := --use-integrated-swift-driver -Xswiftc -Osize -Xswiftc -disable-cmo

demo: ready ## build in release mode and show a whole offline-first application at work
	@swift build -c release --product mobile --quiet $(DEMO_BUILD)
	@.build/release/mobile demo $(ARGS)

# The build of the tests takes half of the processor time with one process of the compiler for each module: several read the module's other files again, and
# one more writes the interface, which has its own price in tests, where macros declare them. The index of symbols is for editors; SwiftPM needs it to look
# for tests of XCTest, but not its part about system libraries. Stack traces need lines and no types. The integrated driver starts fewer processes, and keeps
# both processors at work. A build without these options begins from nothing.
TEST_BUILD := --use-integrated-swift-driver $(addprefix -Xswiftc ,-whole-module-optimization -num-threads 2 -no-emit-module-separately-wmo -gline-tables-only \
    -index-ignore-system-modules -index-ignore-clang-modules -Xfrontend -index-ignore-stdlib)

# The number of tests that run at a time. Without it all begin at once, and hundreds of servers and databases are open together.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 12

# The beginning of the names of files for the events of the last run of all tests: see .ci/test.
EVENTS ?=

test: ready-to-test ## run all tests, those of the server twice: with its state in PostgreSQL and in SQLite
ifeq ($(ARGS),)
	@.ci/phase 'build of the tests' swift build --build-tests $(TEST_BUILD)
	@.ci/phase 'tests' .ci/test $(EVENTS)
else
	.ci/in-memory swift test --disable-xctest $(TEST_BUILD) $(ARGS)
endif

# README.md, "Working on it", shows what files in memory hide.
test-on-disk: ready-to-test ## run the tests of core, store, objects and vault with their files on a disk, where fsync waits for it
	@swift build --build-tests $(TEST_BUILD)
	@mkdir -p .build/files && TMPDIR=$$(mktemp -d "$$PWD/.build/files/tests.XXXXXX") && export TMPDIR TESTS_ON_DISK=1 && trap 'rm -rf "$$TMPDIR"' EXIT \
	    && case $$(stat -f -c %T "$$TMPDIR") in tmpfs|ramfs) echo "$$TMPDIR is in memory, too: build on a disk"; exit 1 ;; esac \
	    && swift test --skip-build --disable-xctest --filter '^(MobileCore|MobileStore|MobileObjects|MobileVault)Tests\.' $(ARGS)

# The core alone, for programs in C and C++: it takes a C compiler, and no Swift.
PREFIX ?= /usr/local
DESTDIR ?=
CORE := CSupport/MobileCore
# A machine with the Swift toolchain alone has its clang.
ifeq ($(origin CC),default)
CC := $(shell command -v cc || echo clang)
endif
CORE_OBJECTS := $(patsubst $(CORE)/%.c,.build/core/%.o,$(wildcard $(CORE)/*/*.c))

.build/core/%.o: $(CORE)/%.c
	@mkdir -p $(@D)
	$(CC) -std=c17 -O2 -DNDEBUG -fPIC -MMD -MP $(CFLAGS) -I$(CORE) -I$(CORE)/include -c $< -o $@

.build/core/libMobileCore.a: $(CORE_OBJECTS)
	rm -f $@
	$(AR) rcs $@ $^

# Trees of jansson, for programs that use them: a library of its own, built where jansson is.
TREES := CSupport/MobileCoreTrees
HAS_JANSSON := $(shell pkg-config --exists 'jansson >= 2.14' 2>/dev/null && echo yes)

.build/core/trees/%.o: $(TREES)/%.c
	@mkdir -p $(@D)
	$(CC) -std=c17 -O2 -DNDEBUG -fPIC -MMD -MP $(CFLAGS) -I$(CORE)/include -I$(TREES)/include $$(pkg-config --cflags jansson) -c $< -o $@

.build/core/libMobileCoreTrees.a: .build/core/trees/mc_message_tree.o
	rm -f $@
	$(AR) rcs $@ $^

-include $(CORE_OBJECTS:.o=.d) .build/core/trees/mc_message_tree.d

install: .build/core/libMobileCore.a $(if $(HAS_JANSSON),.build/core/libMobileCoreTrees.a) ## install the C core, and its trees where jansson is, as static libraries with headers and .pc files (PREFIX, default /usr/local; DESTDIR)
	install -d '$(DESTDIR)$(PREFIX)/include/MobileCore' '$(DESTDIR)$(PREFIX)/lib/pkgconfig'
	install -m 644 $(CORE)/include/*.h '$(DESTDIR)$(PREFIX)/include/MobileCore'
	install -m 644 $< '$(DESTDIR)$(PREFIX)/lib'
	version=$$(sed -n 's/^#define MC_VERSION "\(.*\)"/\1/p' $(CORE)/include/mc_version.h); \
	describe() { printf '%s\n' 'prefix=$(PREFIX)' "includedir=\$${prefix}/include/$$1" 'libdir=$${prefix}/lib' '' "Name: $$1" "Description: $$2" "Version: $$version" \
	    "Requires: $$3" 'Cflags: -I$${includedir}' "Libs: -L\$${libdir} -l$$1$$4" > "$(DESTDIR)$(PREFIX)/lib/pkgconfig/$$1.pc"; }; \
	describe MobileCore 'data in and out of SQLite: pool, import, export, pages, large values, JSON' 'sqlite3 zlib' ' -pthread'; \
	if [ -z '$(HAS_JANSSON)' ]; then echo 'jansson 2.14 or later is not installed: MobileCoreTrees is left out'; exit 0; fi; \
	install -d '$(DESTDIR)$(PREFIX)/include/MobileCoreTrees'; \
	install -m 644 $(TREES)/include/*.h '$(DESTDIR)$(PREFIX)/include/MobileCoreTrees'; \
	install -m 644 .build/core/libMobileCoreTrees.a '$(DESTDIR)$(PREFIX)/lib'; \
	describe MobileCoreTrees 'JSON messages of MobileCore as trees of jansson' 'MobileCore jansson >= 2.14' ''

bench: ready-to-test ## measure everything against its reference, in release mode
	@swift build -c release --product Benchmarks --quiet
	@.build/release/Benchmarks $(ARGS)

# The events of the run are joined with the ids at the beginning of the names of tests. A run with failures is joined as well, then make fails.
checklist: ready-to-test ## run all tests and list the rows of the object API and of the protocols that they prove
	@mkdir -p .build && rm -f .build/test-events.jsonl
	swift build --build-tests --quiet $(TEST_BUILD)
	swift test --skip-build --disable-xctest --event-stream-output-path .build/test-events.jsonl --event-stream-version 0 > .build/test-output.txt 2>&1 \
	    || { tail -n 20 .build/test-output.txt; echo 'the test run failed; rows that it proved:'; }
	@.build/debug/checklist --rows Tests/Conformance/Requirements --events .build/test-events.jsonl --json .build/checklist.json

# Seconds for all fuzz targets together; each gets an equal part.
FUZZ_SECONDS ?= 1200
# A short run is over before optimized targets are built: FUZZ_CONFIGURATION=debug.
FUZZ_CONFIGURATION ?= release
fuzz: ready-to-test ## run the libFuzzer targets of the C parsers and of the server (FUZZ_SECONDS together, default 1200)
	@FUZZ_CONFIGURATION=$(FUZZ_CONFIGURATION) Tests/CoreFuzz/run $(FUZZ_SECONDS)

# More than 5,000 cuts. Each is replayed from the record of a load, opened and checked.
simulate: ready ## cut the power after every single change of a recorded load, and check the database
	POWER_CUT_STEP=1 swift test --disable-xctest $(TEST_BUILD) --filter PowerCutTests $(ARGS)

# Type checking of 75,000 generated lines takes about a minute.
large-model: ready ## generate the classes of a model with 200 objects, and compile them
	swift build --build-tests --quiet $(TEST_BUILD)
	LARGE_MODEL=1 swift test --skip-build --disable-xctest --filter LargeModelTests $(ARGS)

outside-package: ready ## build and run an application in a package of its own, which sees only the public interface
	swift build --build-tests --quiet $(TEST_BUILD)
	OUTSIDE_PACKAGE=1 swift test --skip-build --disable-xctest --filter 'HookTests|DependentTests' $(ARGS)

soak: ready-to-test ## long variants of tests: 200 killed writers, every allocation failing, thousands of random sequences, a minute of mixed load under the thread sanitizer, other page and cache sizes
	swift build --build-tests --quiet $(TEST_BUILD)
	RANDOM_SEQUENCES=25 RANDOM_FIRST=$$(date +%s) swift test --skip-build --disable-xctest --filter '^MobileObjectsTests\.Random'
	KILL_ROUNDS=200 FAULT_STEP=1 swift test --skip-build --disable-xctest --filter 'KilledWriterTests|FaultTests|ImportFaultsTests'
	for sizes in '1024 10' '4096 10' '65536 10' '65536 200'; do \
	    CORE_PAGE_SIZE=$${sizes% *} CORE_CACHE_PAGES=$${sizes#* } swift test --skip-build --disable-xctest --filter '^(MobileCoreTests|MobileStoreTests)\.'; done
	SOAK_SECONDS=60 TSAN_OPTIONS=halt_on_error=1 \
	    swift test --disable-xctest --scratch-path .build/thread --sanitize=thread --filter MixedLoadTests

# Settings are in the environment, and `Tests/Worlds/README.md` and `Tests/DatabaseWorlds/README.md` have them. In memory, because worlds make many small files.
worlds: ready ## run random worlds of devices, server and back end (SEED, WORLDS, default 1000 from seed 0); what fails is shrunk (ARGS: files to run again)
	@swift build -c release --product run-worlds --quiet $(DEMO_BUILD)
	@[ "$(MODE)" != processes ] && ! grep -qs '"stores": *"processes"' $(ARGS) /dev/null || swift build -c release --product mobile --quiet $(DEMO_BUILD)
	@.ci/in-memory .build/release/run-worlds $(ARGS)

# C alone, under the address and undefined behaviour sanitizers: `Tests/CoreWorlds/README.md` has the settings.
core-worlds: ready ## run random worlds of the C core against plain SQLite (SEED, WORLDS, STEPS, KNOWN; ARGS: files to run again)
	@.ci/in-memory Tests/CoreWorlds/run $(ARGS)

# Devices with databases of their own, in one process with the tests; the servers, nginx and PostgreSQL are processes of their own. At the end a standby that
# lacks the last commits takes over: each of its 100 devices then fetches the rows of all others.
soak-server: ready-to-test ## 10 minutes of three servers on PostgreSQL and nginx, with 1,000 devices, kills, drains, cut connections and restarts; then a standby that is promoted
	swift build --build-tests --quiet $(TEST_BUILD)
	ulimit -n 65536 2>/dev/null || true; SERVER_SOAK_SECONDS=$${SERVER_SOAK_SECONDS:-600} SERVER_SOAK_DEVICES=$${SERVER_SOAK_DEVICES:-1000} \
	    swift test --skip-build --disable-xctest --filter SeveralServersTests
	SERVER_SOAK_DEVICES=100 swift test --skip-build --disable-xctest --filter PromotedStandbyTests

sanitize: sanitize-address sanitize-thread ## run all tests under ASan with UBSan, then under TSan

# Swift keeps references in tagged words, which the leak checker reports as leaks; the fuzz targets check the C core for leaks.
sanitize-address: ready-to-test ## run all tests under the address and undefined behaviour sanitizers
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	    swift test --disable-xctest --scratch-path .build/address --sanitize=address -Xcc -fsanitize=undefined $(ARGS)

sanitize-thread: ready-to-test ## run all tests under the thread sanitizer
	TSAN_OPTIONS=halt_on_error=1 \
	    swift test --disable-xctest --scratch-path .build/thread --sanitize=thread $(ARGS)

# SwiftPM itself measures Swift alone.
coverage: ready-to-test ## run all tests and show the part of each module that they reach, and the branches of the core that they do not take, with reasons
	FAULT_STEP=1 swift test --disable-xctest --scratch-path .build/coverage --enable-code-coverage \
	    -Xcc -fprofile-instr-generate -Xcc -fcoverage-mapping -Xcc -fprofile-update=atomic $(ARGS)
	@.ci/coverage .build/coverage

# A folder of generated classes: its model, and the folder. Tests compare them.
classes: ready ## write the generated classes of the samples and of the benchmarks, which are in the repository
	@swift build --product mobile --quiet $(TEST_BUILD)
	@while read -r model folder; do .build/debug/mobile generate "$$model" --output "$$folder" --clean; done <<< "$$CLASSES"
define CLASSES
Sources/SampleCRM/crm.mbo.json Sources/SampleCRM/Generated
Sources/Samples/FirstApplication/Sources/Shop/records.mbo.json Sources/Samples/Generated
Benchmarks/Benchmarks/benchmark.mbo.json Benchmarks/Benchmarks/Generated
endef
export CLASSES

docs: ready ## build the documentation of all modules into .build/docs
	@.ci/docs $(TEST_BUILD)

format: ## format Swift and C in place
	@.ci/install-missing-packages clang-format=command:clang-format
	swift format format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks
	@git ls-files -co --exclude-standard -- '*.c' '*.h' | xargs -r clang-format -i

words: ## list words and phrases in comments, articles and messages for which there is a better one, and fail if there is one (ARGS: files or folders)
	@.ci/install-missing-packages python3=command:python3
	@.ci/words $(ARGS)

clean: ## remove everything that was built
	rm -rf .build

ready:
	@.ci/install-missing-packages

# Tests start servers of PostgreSQL themselves; building needs its library only.
ready-to-test: ready
	@command -v initdb >/dev/null || .ci/install-missing-packages 'postgresql=file:/usr/lib/postgresql/*/bin/initdb'
	@test -x /usr/sbin/nginx || command -v nginx >/dev/null || .ci/install-missing-packages nginx-light=file:/usr/sbin/nginx
