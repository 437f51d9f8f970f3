# Every target sets up what it needs in .venv, from nothing but Python 3.11 or later and the package registry.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
PICTURE ?= minnesota.png

KERNELS = tests/kernels tests/algorithms

.PHONY: help demo test test-all test-kernels test-others test-networkx test-browser test-tensors test-lowest test-gpu fuzz fuzz-reals lint docs bench clean

help:
	@echo 'make demo    answer five questions about the roads of Minnesota, and draw $(PICTURE)'
	@echo 'make test    the tests that find most, in minutes'
	@echo 'make test-all  all tests, those marked slow too'
	@echo 'make test-networkx  the tests of NetworkX itself, with its functions run here; it counts those that really were'
	@echo 'make test-browser  the site, and its pages in Chromium, which is installed if that is allowed and there is none'
	@echo 'make test-tensors  the tests of PyTorch and JAX, which are installed for them'
	@echo 'make test-lowest  all tests with the lowest versions that pyproject.toml declares (Python 3.11 or 3.12)'
	@echo 'make test-gpu  the tests that need a GPU and CuPy (pip install ".[cu13]" into $(VENV))'
	@echo 'make fuzz    a million closures of generated algebras against an oracle; FUZZ="--count … --seed … --minutes …"'
	@echo 'make fuzz-reals  closures and equations of 100,000 real matrices against inverses of more digits; FUZZ as above'
	@echo 'make lint    ruff and mypy'
	@echo 'make docs    the site, with the course and the reference, into build/site'
	@echo 'make bench   measure against other libraries, and write its tables of docs/site/benchmarks.md'
	@echo 'make clean   remove what these commands made'
	@echo 'PYTHON=…     the Python to use, 3.11 or later'

demo: $(VENV)/has-plot
	$(BIN)/semiring demo --plot $(PICTURE)

test: $(VENV)/has-test
	$(BIN)/python -m pytest -n auto -m 'not slow' --hypothesis-profile few

# Two runs, because compiled kernels stay in the memory of the processes that test them.
test-all: test-kernels test-others

test-kernels: $(VENV)/has-test
	$(BIN)/python -m pytest -n auto $(KERNELS)

test-others: $(VENV)/has-test
	$(BIN)/python -m pytest -n auto $(KERNELS:%=--ignore=%)

test-networkx: $(VENV)/has-test
	$(BIN)/python tests/networkx_suite.py

test-browser: docs $(VENV)/has-browser
	browser=$$($(BIN)/python tests/browser/find.py) && \
	  SEMIRING_BROWSER="$$browser" $(BIN)/python -m pytest tests/browser

test-tensors: $(VENV)/has-tensors
	$(BIN)/python -m pytest -n auto tests/test_torch.py tests/tensors tests/test_jax.py \
	  tests/operands/test_device.py tests/test_doctests.py \
	  -k 'torch or jax or gradients or device'

test-lowest: $(LOWEST)/has-test
	$(LOWEST)/bin/python -m pytest -n auto

test-gpu: $(VENV)/has-test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto tests/gpu

FUZZ ?=

fuzz: $(VENV)/has-test
	$(BIN)/python tests/fuzz/closures.py $(FUZZ)

fuzz-reals: $(VENV)/has-test
	$(BIN)/python tests/fuzz/reals.py $(FUZZ)

# Type checkers do not follow the mapping of an editable install, so mypy gets the tree as it is installed.
lint: $(VENV)/has-lint
	$(BIN)/ruff check .
	rm -rf build/typed && mkdir -p build/typed
	cp -R semiring build/typed/semiring
	cp -R algorithms kernels build/typed/semiring/
	cd build/typed && ../../$(BIN)/mypy --config-file ../../pyproject.toml -p semiring
	cd build/typed && ../../$(BIN)/mypy --config-file ../../pyproject.toml ../../tests/typed.py

docs: $(VENV)/has-docs
	$(BIN)/python docs/site/build.py

bench: $(VENV)/has-bench
	$(BIN)/python docs/benchmarks/cpu.py --write
	$(BIN)/python docs/benchmarks/boolean.py --write
	$(BIN)/python docs/benchmarks/sparse_matrices.py --write

clean:
	rm -rf $(VENV) $(LOWEST) build dist *.egg-info minnesota.png .pytest_cache .hypothesis .ruff_cache .mypy_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each extra of pyproject.toml.
$(VENV)/has-%: pyproject.toml | $(BIN)/pip
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

$(LOWEST)/has-test: pyproject.toml tests/lowest.py | $(LOWEST)/bin/pip
	'$(PYTHON)' tests/lowest.py > $(LOWEST)/requirements.txt
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --requirement $(LOWEST)/requirements.txt --editable .
	@touch $@

# One version of PyTorch, whose build for the CPU is enough and is fetched once; users may have any from 2.4 on.
$(VENV)/has-tensors: pyproject.toml | $(BIN)/pip
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test,torch,jax]' torch==2.13.0
	@touch $@

$(BIN)/pip $(LOWEST)/bin/pip: %/bin/pip:
	@command -v '$(PYTHON)' >/dev/null || { \
	  echo "'$(PYTHON)' was not found; name a Python 3.11 or later, as in: make PYTHON=python3.12 test" >&2; exit 1; }
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$$('$(PYTHON)' --version) is too old; name a Python 3.11 or later, as in: make PYTHON=python3.12 test" >&2; exit 1; }
	@'$(PYTHON)' -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$$('$(PYTHON)' --version) cannot make environments; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	'$(PYTHON)' -m venv $*
