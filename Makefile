# Everything a person types in this repository. Needs Python >= 3.11, make and a package index.
PYTHON ?= python3
BIN = .venv/bin

.PHONY: help demo test peers lab build release clean

help:           ## say what there is
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*##/\t/'

.venv/ready: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=/path/to/python")'
	$(PYTHON) -m venv .venv
	@echo "Installing what pyproject.toml names, once: a minute or two."
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	touch $@

demo: .venv/ready  ## build, release, grade a made-up class and show what came of it
	$(BIN)/python -m grader build --no-gate
	$(BIN)/python -m grader release
	$(BIN)/python -m grader demo

test: .venv/ready  ## lint, types and all tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m pytest

peers: .venv/ready  ## compare the reference with PyTorch (a download of its own)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[peers]'
	$(BIN)/python -m pytest peers -n 0

lab: .venv/ready   ## open JupyterLab on your own copies of the labs and notebooks, in work/
	mkdir -p work/notebooks
	for lab in release/*; do [ -e "work/$${lab#release/}" ] || cp -R "$$lab" work; done
	for text in notebooks/*.ipynb; do [ -e "work/$$text" ] || cp "$$text" work/notebooks; done
	cd work && PATH="$(CURDIR)/$(BIN):$$PATH" jupyter lab  # terminals begin there, and find attnlab

build: .venv/ready   ## make source/, notebooks/ and the visible cases from course/
	$(BIN)/python -m grader build

release: .venv/ready ## make release/ from source/
	$(BIN)/python -m grader release

clean:          ## remove what was made here and is not in git
	rm -rf .venv demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
