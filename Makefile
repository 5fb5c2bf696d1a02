# The README's two commands. Each makes its own virtual environment and installs everything it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.stamp-installed

.PHONY: demo test lint bench studio browser clean

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

studio:  ## the studio's pages, where their sources changed; without Node it says so, and all but the pages works
	$(PYTHON) tools/pages.py

browser:  ## Chromium for the tests of the pages, where it is missing and may be installed
	@test -x /usr/bin/chromium || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		&& apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends chromium; } \
		|| echo "The tests of the pages need /usr/bin/chromium (Debian: apt-get install chromium)." >&2

demo: $(STAMP) studio  ## a survey of the bundled model over the demo corpora
	$(BIN)/theodolite demo

test: $(STAMP) studio browser  ## every test, two files at a time, in the order that tests/conftest.py gives them
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder --durations 20

lint: $(STAMP)  ## ruff, mypy, the import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)  ## ratios to peers and to the machine's own limits
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) theodolite-demo build dist *.egg-info theodolite/studio/static theodolite/studio/web/node_modules
