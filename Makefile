# Every target sets up what it needs in .venv first: a fresh clone, Python and make suffice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test kernels test-oldest test-newest lint bench bench-compare bench-workers docs experiments dist clean

demo: $(VENV)/installed
	$(BIN)/infosieve demo

# Kernels are compiled while what only tests and linters need is installed and the linters run:
# else each process of tests would compile its own.
test: $(VENV)/installed
	$(MAKE) --jobs=2 --output-sync=target kernels lint
	$(BIN)/python -m pytest -n auto

kernels: $(VENV)/installed
	$(BIN)/python tests/compile_kernels.py

# Both ends of what is supported, each in an environment of its own. What old versions of others
# call deprecated in their newer dependencies is not ours to mend.
test-oldest: PYTHON = python3.11
test-oldest:
	$(MAKE) .venv-oldest/pip VENV=.venv-oldest PYTHON=$(PYTHON)
	echo "*" > .venv-oldest/.gitignore
	.venv-oldest/bin/python -m pip install --quiet --editable . --group dev \
	  --constraint tests/oldest.txt
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-oldest/numba \
	  .venv-oldest/bin/python -m pytest -n auto -W ignore::DeprecationWarning

test-newest: PYTHON = python3.13
test-newest:
	$(MAKE) .venv-newest/pip VENV=.venv-newest PYTHON=$(PYTHON)
	echo "*" > .venv-newest/.gitignore
	.venv-newest/bin/python -m pip install --quiet --editable . --group dev \
	  --upgrade --upgrade-strategy eager
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-newest/numba \
	  .venv-newest/bin/python -m pytest -n auto

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python docs/docstrings.py

# ARGS="--workers --gpu --keep FOLDER" runs more, and copies the results of before.
bench: $(VENV)/installed-experiments $(if $(findstring --workers,$(ARGS)),$(VENV)/installed-dev)
	$(BIN)/python benchmarks/all.py $(ARGS)

# make bench-compare OLD=FOLDER [NEW=benchmarks] [ARGS="--relative"]: two files, or two folders
bench-compare: NEW ?= benchmarks
bench-compare:
	$(if $(OLD),,$(error OLD must name a JSON file of benchmarks/, or a folder of such files))
	$(PYTHON) benchmarks/compare.py $(ARGS) $(OLD) $(NEW)

bench-workers: $(VENV)/installed-bench $(VENV)/installed-dev
	$(BIN)/python benchmarks/workers.py

# Verleysen, Rossi and François (2009) again, the guide's pictures and the estimators anew (minutes;
# DATA=DIR has wine.csv), and all pages of results from what was kept. experiments/README.md names those that take longer.
experiments: $(VENV)/installed-experiments
	$(BIN)/python experiments/chapter.py $(if $(DATA),--data $(DATA))
	$(BIN)/python experiments/guide.py
	$(BIN)/python experiments/estimators.py
	$(BIN)/python experiments/categories.py --show
	$(BIN)/python experiments/calibration.py --show
	$(BIN)/python experiments/levels.py --show
	$(BIN)/python experiments/weak.py --show
	$(BIN)/python experiments/shapes.py --show
	$(BIN)/python experiments/left_out.py --show
	$(BIN)/python experiments/conditional.py --show
	$(BIN)/python experiments/quality.py --show
	$(BIN)/python experiments/clustering.py --show
	$(BIN)/python experiments/cluster_number.py --show
	$(BIN)/python experiments/tecator.py --show
	$(BIN)/python experiments/write_docs.py
	$(BIN)/python experiments/before_after.py --show
	$(BIN)/python experiments/many_samples.py --show
	$(BIN)/python experiments/missing.py --show
	$(BIN)/python experiments/together.py --show
	$(BIN)/python experiments/relatives.py --show
	$(BIN)/python experiments/alternatives.py --show
	$(BIN)/python experiments/stability.py --show
	$(BIN)/python experiments/relevant.py --show
	$(BIN)/python experiments/readme.py

docs: $(VENV)/installed-docs
	$(BIN)/sphinx-build -a -W --keep-going -d build/doctrees docs build/docs

# The same bytes from the same tree, anywhere.
dist: $(VENV)/installed-dev
	rm -rf dist
	$(BIN)/python -m hatchling build

$(VENV)/pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	touch $@

$(VENV)/installed: $(VENV)/pip pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

$(VENV)/installed-bench: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group bench
	touch $@

$(VENV)/installed-experiments: $(VENV)/installed-bench
	$(BIN)/python -m pip install --quiet --group experiments
	touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

clean:
	rm -rf docs/api docs/gallery
	rm -rf $(VENV) .venv-oldest .venv-newest build dist
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
