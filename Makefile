# Mezzotint's commands; `make` alone lists them. All use .venv, which is created on first use.
# PYTHON=/path/to/python3 chooses the interpreter for .venv; V=1 shows pip's output.

VENV := .venv
BIN := $(VENV)/bin
# Idle workers take tests from the others.
PYTEST := $(BIN)/pytest --numprocesses logical --maxprocesses 4 --dist worksteal
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input $(if $(V),,-q)
INSTALLED := $(VENV)/installed
PYTHONS := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)

# Python must not find kernels/ in the current folder: that is also the name of a package that diffusers looks for.
export PYTHONSAFEPATH := 1
# Without bytecode every process that a test starts would recompile all of Mezzotint.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup run generate app test test-slow coverage check fix starter bench kernels gpu-check docs screenshots translations package package-check clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

run: $(INSTALLED)/base ## set up and generate a first image with the bundled model
	@$(BIN)/mezzotint generate "a red house by the sea at dusk" -o out/

generate: $(INSTALLED)/base ## generate an image: make generate PROMPT="a blue boat" [ARGS="--seed 7 --steps 30"]
	@[ -n "$$PROMPT" ] || { echo 'make generate needs words: make generate PROMPT="a red house by the sea"' >&2; exit 2; }
	@$(BIN)/mezzotint generate "$$PROMPT" $(ARGS)

app: $(INSTALLED)/app ## open the window
	@$(BIN)/mezzotint app $(ARGS)

test: $(INSTALLED)/test ## run the tests: make test [ARGS="tests/engine -k size"]
	@$(PYTEST) $(ARGS)

test-slow: $(INSTALLED)/test ## run the slow tests, and more examples of property tests: make test-slow [SAMPLE=0.2] [ARGS=...]
	@$(PYTEST) -m "slow or hypothesis" --hypothesis-profile thorough --sample $(or $(SAMPLE),1) $(ARGS)

coverage: $(INSTALLED)/test ## require 100 % line and branch coverage of the modules in bench/full_coverage.txt by their own tests
	@$(BIN)/python bench/full_coverage.py $(ARGS)

check: $(INSTALLED)/app $(INSTALLED)/check $(INSTALLED)/kernels ## check lint, formatting, types, import contracts, machine code of the kernels
	@failed=; step() { echo "$$*"; "$(BIN)/$$@" || failed="$$failed$${failed:+, }$$*"; }; \
	step ruff check .; \
	step ruff format --check .; \
	step mypy; \
	step mypy --config-file tests/mypy.ini; \
	step lint-imports; \
	step codespell; \
	step python bench/dead_code.py; \
	step check-jsonschema -qq --builtin-schema vendor.github-workflows .github/workflows/*.yml; \
	step zizmor -q --offline .github/workflows; \
	step python -m kernel_build gates --sample 0.1; \
	[ -z "$$failed" ] || { echo "make check failed in: $$failed" >&2; exit 1; }

fix: $(INSTALLED)/check ## fix what lint can fix, and format
	@$(BIN)/ruff check --fix . ; status=$$?; $(BIN)/ruff format . && exit $$status

starter: $(INSTALLED)/base ## train the bundled models, or resume training: make starter [STEPS=20] [DEVICE=cuda] [ARGS=...]
	@$(BIN)/python -m mezzotint_starter $(if $(STEPS),--steps $(STEPS)) $(if $(DEVICE),--device $(DEVICE)) $(ARGS)

bench: $(INSTALLED)/app ## measure startup times, the engine against the bare diffusers pipeline, and the window
	@$(BIN)/python bench/startup.py
	@$(BIN)/python bench/overhead.py
	@$(BIN)/python bench/app.py

setup: $(INSTALLED)/all ## install everything that the commands above need

clean: ## remove .venv, build output and caches; images in out/ are kept
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find app bench engine kernels tests -name __pycache__ -type d -prune -exec rm -rf {} +

kernels: $(INSTALLED)/kernels ## compile the CUDA kernels into build/kernels: make kernels [ARGS="--architectures native"]
	@$(BIN)/python -m kernel_build library $(ARGS)

# Uses the system's Python, torch and CUDA compiler: nothing is installed. A stub runs in .venv.
STUB := $(filter --stub,$(ARGS))
gpu-check: $(if $(STUB),$(INSTALLED)/test) ## on a machine with a GPU: build, test, measure; ARGS="--results DIR" PART=attention, or ARGS=--stub without one
	@PYTHONPATH=engine:kernels $(if $(STUB),$(BIN)/python,$(or $(PYTHON),python3)) -m kernel_build gpu-check $(PART) $(ARGS)

docs: $(INSTALLED)/docs ## build the documentation into build/docs, offline
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -q && echo build/docs/index.html

screenshots: $(INSTALLED)/app ## take the screenshots of the window: make screenshots [ARGS="--only create --output /tmp/shots"]
	@$(BIN)/python bench/screenshots.py $(ARGS)

translations: $(INSTALLED)/app ## update and compile the translation catalogues of the window
	@$(BIN)/python bench/translations.py

package: $(if $(KIND),$(INSTALLED)/app) ## build an installer: make package KIND=wheel|deb|appimage|nsis|macos [KERNELS=WHEEL] [RUNTIME=FILE] [ARGS=...]
	@[ -n "$(KIND)" ] || { echo "make package: name what to build: make package KIND=wheel, deb, appimage, nsis or macos" >&2; exit 2; }
	@PYTHONPATH=packaging:packaging/setup $(BIN)/python -m mezzotint_package $(KIND) $(if $(KERNELS),--kernels $(KERNELS)) \
		$(if $(RUNTIME),--runtime $(RUNTIME)) $(if $(TORCH_INDEX),--torch-index $(TORCH_INDEX)) $(ARGS)

package-check: $(INSTALLED)/app ## install, update, break and remove installers in fresh systems: make package-check [ARGS="--only deb"]
	@PYTHONPATH=packaging:packaging/setup:packaging/tests $(BIN)/python -m package_check $(ARGS)

# ---- the virtual environment

# One stamp per set of packages; it is remade when the files that determine the versions are newer. Several sets are
# installed by one pip call. Bytecode is written when a module is first imported, since most never are.
$(INSTALLED)/base: SETS :=
$(INSTALLED)/app: SETS := app
$(INSTALLED)/test: SETS := app test
$(INSTALLED)/check: SETS := check
$(INSTALLED)/kernels: SETS := kernels
$(INSTALLED)/docs: SETS := docs
$(INSTALLED)/all: SETS := app test check docs kernels ray training background
COMMA := ,
EXTRAS = $(if $(SETS),[$(subst $() ,$(COMMA),$(strip $(SETS)))])

$(INSTALLED)/%: $(VENV)/made pyproject.toml constraints.txt
	@echo "Installing mezzotint$(EXTRAS) into $(VENV)" >&2
	@$(PIP) install --no-compile -c constraints.txt -e '.$(EXTRAS)' || { \
		echo "pip could not install the packages; its reason is above. Nothing else was changed: run make again to retry." >&2; \
		exit 1; }
	@$(if $(filter test,$(SETS)),$(PIP) install --no-compile --no-deps -c constraints.txt spandrel einops)
	@mkdir -p $(INSTALLED) && touch $(addprefix $(INSTALLED)/,base $(SETS)) $@

$(VENV)/made:
	@for python in $(PYTHONS); do \
		"$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null && break; \
		python=; \
	done; \
	[ -n "$$python" ] || { \
		echo "Mezzotint needs Python 3.11 to 3.14; none among: $(PYTHONS)." >&2; \
		echo "Install it (Debian and Ubuntu: sudo apt-get install python3 python3-venv; macOS: brew install python3)," >&2; \
		echo "or name one that you have: make PYTHON=/path/to/python3" >&2; \
		exit 1; }; \
	"$$python" -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$$python cannot make virtual environments; on Debian and Ubuntu:" >&2; \
		"$$python" -c 'import sys; print("    sudo apt-get install python%d.%d-venv" % sys.version_info[:2])' >&2; \
		exit 1; }; \
	echo "Setting up $(VENV): this takes some minutes, once (torch is large; V=1 shows what pip does)" >&2; \
	"$$python" -m venv $(VENV) || exit; \
	$(PIP) install --upgrade -c constraints.txt pip || echo "Going on with the pip that came with $$python, which is slower." >&2; \
	touch $@
