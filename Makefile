# Everything a fresh machine needs is Python, a C++ compiler and make: each target makes its own virtual environment and takes
# CMake and Ninja from the Python package index. A target builds again only when sources changed.

PYTHON ?= python3
PYTEST_ARGS ?= -n 2 --dist worksteal
BENCH_ARGS ?= peers --suite contree --depth 3

BUILD_TOOLS := "scikit-build-core>=0.10" "nanobind>=2.2" cmake ninja
PIP := -m pip --disable-pip-version-check --quiet

SOURCES := CMakeLists.txt $(wildcard core/*.cpp core/*.hpp core/*.h core/*/*.cpp core/*/*.hpp core/*/*.h) \
	$(shell find src/provetree -name '*.py' -o -name '*.pyi' -o -name py.typed -o -name '*.json' -o -name '*.txt' -o -name '*.css' -o -name '*.js' -o -name '*.html' 2>/dev/null)

.PHONY: help demo test docs lint format sanitize bench clean
.SECONDARY:

help:
	@echo "make demo      compare with CART on new rows, choose and prove a tree, write a report (a minute or two)"
	@echo "make test      run all tests               (PYTEST_ARGS='-k tree' for some, PYTHON=python3.10 for another Python)"
	@echo "make docs      build the documentation into build/docs; warnings are errors"
	@echo "make lint      ruff, mypy, clang-format, line widths, layers of imports and includes"
	@echo "make format    rewrite the sources in the project's format"
	@echo "make sanitize  run the tests against a core with AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make bench     measure beside other solvers (BENCH_ARGS='limits' for other benchmarks)"
	@echo "make clean     remove environments and builds"

# ---------------------------------------------------------------- environments

# Each use has an environment of its own for each version of Python, for instance .venv-test-3.11.
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
ifeq ($(VERSION),)
$(error PYTHON=$(PYTHON) cannot be run: name a Python of at least 3.10)
endif
environment = .venv-$(1)-$(VERSION)
use = $(firstword $(subst -, ,$*))

# The tools that build the package; kept apart from the package so that a change of sources does not touch them.
.venv-%/tools.stamp: pyproject.toml
	@test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$* || { \
	  echo "$(PYTHON) -m venv failed: Python's venv module is needed (on Debian and Ubuntu: python3-venv)." >&2; exit 1; }
	@echo "== preparing .venv-$*"
	@.venv-$*/bin/python $(PIP) install --upgrade pip $(BUILD_TOOLS)
	@touch $@

# What is installed on top of the package's own dependencies, by environment.
EXTRAS_demo := [cli,plot]
EXTRAS_docs := [docs]
PACKAGES_demo := pandas
EXTRAS_test := [test]
EXTRAS_bench := [bench]
EXTRAS_sanitize := [test]
CONFIG_sanitize := -C cmake.define.PROVETREE_SANITIZE=ON -C cmake.build-type=RelWithDebInfo

# Each environment has a build folder of its own, so that only what changed is compiled again. The package is built with
# the tools of the environment; what it depends on comes afterwards, each with the tools it asks for.
.venv-%/package.stamp: .venv-%/tools.stamp $(SOURCES)
	@echo "== building provetree into .venv-$*"
	@PATH="$(CURDIR)/.venv-$*/bin:$$PATH" .venv-$*/bin/python $(PIP) install --no-build-isolation --no-deps \
	  -C build-dir=build/$* $(CONFIG_$(use)) .
	@.venv-$*/bin/python $(PIP) install "provetree$(EXTRAS_$(use))" $(PACKAGES_$(use))
	@touch $@

.venv-lint-%/lint.stamp: .venv-lint-%/tools.stamp
	@.venv-lint-$*/bin/python $(PIP) install "ruff>=0.6" "mypy>=1.10" "clang-format>=18" "import-linter>=2.1" numpy matplotlib nanobind click rich
	@touch $@

# ---------------------------------------------------------------- what they are for

demo: $(call environment,demo)/package.stamp
	@$(<D)/bin/python examples/demo.py

test: $(call environment,test)/package.stamp
	@$(<D)/bin/python -m pytest $(PYTEST_ARGS)

docs: $(call environment,docs)/package.stamp
	@$(<D)/bin/python -m sphinx -W --keep-going -q -b html docs build/docs
	@echo "The documentation is in build/docs/index.html"

CORE_FILES = $(wildcard core/*.cpp core/*.hpp core/*.h core/*/*.cpp core/*/*.hpp core/*/*.h)

lint: $(call environment,lint)/lint.stamp
	$(<D)/bin/ruff check .
	$(<D)/bin/ruff format --check .
	$(<D)/bin/mypy
	PYTHONPATH=src $(<D)/bin/lint-imports --no-cache
	$(<D)/bin/python tools/check_includes.py
	$(<D)/bin/python tools/check_line_widths.py
	$(if $(CORE_FILES),$(<D)/bin/clang-format --dry-run -Werror $(CORE_FILES))

format: $(call environment,lint)/lint.stamp
	$(<D)/bin/ruff check --fix .
	$(<D)/bin/ruff format .
	$(if $(CORE_FILES),$(<D)/bin/clang-format -i $(CORE_FILES))

# Python itself is not instrumented, so the sanitizer's runtime is loaded first; libstdc++ beside it, so that exceptions
# of the core are seen. Python's own memory at exit is no leak of the core.
CXX ?= c++
SANITIZE_TESTS ?= tests
# What the sanitizers print must not be captured: they end the process.
SANITIZE_ARGS ?= -m "not slow and not fuzz" --capture=sys
sanitize: $(call environment,sanitize)/package.stamp
	@LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  $(<D)/bin/python -m pytest -p no:cacheprovider $(SANITIZE_ARGS) $(SANITIZE_TESTS) $(PYTEST_ARGS)

bench: $(call environment,bench)/package.stamp
	@$(<D)/bin/provetree bench $(BENCH_ARGS)

clean:
	rm -rf build docs/gallery $(foreach use,demo docs test lint bench sanitize,.venv-$(use) .venv-$(use)-*)
