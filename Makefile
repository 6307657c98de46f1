# make book   builds the book,   make test   tests everything,   make help   the rest.
# Settings: PYTHON=python3.12 (to create .venv), JOBS=4 (processes side by side),
# CHAPTER=book/.../name.ipynb (for the targets about one chapter).

PYTHON ?= python3
CHAPTER ?=
PORT ?= 8000
MUTANTS ?= --sample 12
PY := .venv/bin/python
export JOBS

.DEFAULT_GOAL := help
.PHONY: help env book test test-core test-pages test-notebook chapter \
        serve lab lab-sources run-twice pdf audit mutants lint format strip live lock \
        upgrade wheel clean distclean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

env:  ## create or repair .venv from requirements.txt
	@command -v "$(PYTHON)" >/dev/null 2>&1 || { \
	  echo "There is no '$(PYTHON)'. Install Python 3.11 or newer, or name it:"; \
	  echo "  make book PYTHON=/path/to/python3.11"; exit 1; }
	@"$(PYTHON)" tools/environment.py

book: env  ## execute all notebooks and build the book, strictly, from a clean start
	@$(PY) tools/build_book.py build

test: env  ## test the core, every notebook and the built pages
	@$(PY) tools/run_tests.py

test-core: env  ## test the core only, quickly
	@$(PY) -m pytest -q -n auto --ignore=tests/book

test-pages: env  ## test the built pages in a browser
	@$(PY) tools/build_book.py refresh
	@$(PY) -m pytest -q -n auto tests/book

test-notebook: env  ## run the notebook CHAPTER=book/... as a test
	@test -f "$(CHAPTER)" || { echo "Say which: make $@ CHAPTER=book/part1_estimators/02_wrls.ipynb"; exit 1; }
	@$(PY) -m pytest -q --nbmake "$(CHAPTER)"

run-twice: env  ## run the notebook CHAPTER=book/... with every cell twice, and again
	@test -f "$(CHAPTER)" || { echo "Say which: make $@ CHAPTER=book/part5_use/own_loop.ipynb"; exit 1; }
	@$(PY) tools/run_twice.py "$(CHAPTER)"

chapter: env  ## build the one page CHAPTER=book/... (fast, not strict)
	@test -f "$(CHAPTER)" || { echo "Say which: make $@ CHAPTER=book/part1_estimators/02_wrls.ipynb"; exit 1; }
	@$(PY) tools/build_book.py chapter "$(CHAPTER)"

serve: env  ## show the built book on localhost, PORT=8000
	@$(PY) tools/build_book.py serve --port $(PORT)

lab: env  ## open the chapters in JupyterLab, as plain notebooks (your changes stay)
	@$(PY) tools/open_lab.py

lab-sources: env  ## for authors: open the sources of the chapters in JupyterLab
	@$(PY) -m jupyterlab --notebook-dir=book

pdf: env  ## print the built book into _build/wsbnb.pdf, and pack it as a zip
	@$(PY) tools/build_book.py refresh
	@$(PY) tools/make_pdf.py
	@$(PY) tools/make_pdf.py --zip

lint: env  ## check style of code and notebooks
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

format: strip  ## format code and notebooks
	@$(PY) tools/part_glue.py || true
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

strip: env  ## remove outputs from the notebooks
	@find book -name '*.ipynb' -not -path '*/.ipynb_checkpoints/*' -exec $(PY) -m nbstripout {} +

live: env  ## compile the kernels for the pages again, after a kernel has changed
	@$(PY) tools/sphinx_live.py

lock: env  ## write requirements.txt again, keeping the pinned versions
	@$(PY) tools/lock.py

upgrade: env  ## write requirements.txt again with the newest versions
	@$(PY) tools/lock.py --upgrade

audit: env  ## ask a public database for known flaws in the locked packages
	@$(PY) tools/audit.py

mutants: env  ## break the code on purpose: a sample, or all with MUTANTS=--full
	@$(PY) tools/mutants.py $(MUTANTS)

wheel: env  ## build the package into dist/
	@$(PY) -m build --no-isolation

clean:  ## remove the built book and all caches
	rm -rf _build build dist .wsbnb_cache .pytest_cache .ruff_cache .hypothesis *.egg-info
	find book tests tools wsbnb -name __pycache__ -prune -exec rm -rf {} +
	find book -name .ipynb_checkpoints -prune -exec rm -rf {} +

distclean: clean  ## the same, and remove .venv
	rm -rf .venv
