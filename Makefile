# Needs only Python 3.11+, make and a package registry. Everything lands in .venv; delete it to start again.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
PIP = .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps
LOCKS = requirements/core.lock requirements/spark.lock requirements/bigdl.lock requirements/serve.lock
EXTRAS = dev torch images keras tensorflow tpcds
DEV_LOCKS = $(EXTRAS:%=requirements/%.lock)
PYTEST = .venv/bin/python -m pytest --durations=15
export PYTHONWARNINGS ?=

.PHONY: demo test unit lint docs dist examples mutants clean
.DELETE_ON_ERROR:

demo: .venv/run.done
	.venv/bin/sparkcast demo --out demo

# The slow ones start clusters and check that nothing outlives them: one at a time.
test: lint unit
	$(PYTEST) -m slow

unit: .venv/dev.done
	$(PYTEST) --doctest-modules -m "not slow" --numprocesses auto --dist worksteal

lint: .venv/dev.done
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

docs: .venv/dev.done
	.venv/bin/mkdocs build --strict --quiet

# The source archive and the wheel, in dist/.
dist: .venv/dev.done
	.venv/bin/python -m build --no-isolation --outdir dist .

# The papers in small, on this machine: see examples/README.md for how long it takes. Refreshes examples/*/results.
examples: .venv/dev.done
	.venv/bin/python examples/run_papers.py

# Which small wrong changes the tests notice: see CONTRIBUTING.md. Takes about a quarter of an hour.
mutants: .venv/dev.done
	.venv/bin/python benchmarks/mutants.py

clean:
	rm -rf .venv demo dist site papers.results .mutants .pytest_cache .mypy_cache .ruff_cache

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "sparkcast needs Python 3.11 or newer; set PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/run.done: .venv/bin/python $(LOCKS) pyproject.toml
	$(PIP) $(LOCKS:%=-r %)
	$(PIP) --editable .
	@touch $@

.venv/dev.done: .venv/run.done $(DEV_LOCKS)
	$(PIP) $(DEV_LOCKS:%=-r %)
	@touch $@
