"""Run the suite: see the package's docstring."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from benchmarks import (
    calls,
    compile_time,
    convolution,
    eager,
    ecosystem,
    gpu,
    kernels,
    launches,
    mapping,
    memory,
    models,
    out_of_process,
    products,
    reporting,
    roofline,
    startup,
    threads,
    training,
    untouched,
    writes,
)
from benchmarks.measured import ROOT, Measured, conditions
from benchmarks.result import Result, Wrong

GROUPS = {"kernels": kernels, "convolution": convolution, "calls": calls, "eager": eager,
          "mapping": mapping, "memory": memory, "training": training, "startup": startup,
          "compile_time": compile_time, "untouched": untouched, "writes": writes}
BY_NAME = {"ecosystem": ecosystem, "gpu": gpu, "launches": launches, "models": models,
           "out_of_process": out_of_process, "products": products, "roofline": roofline,
           "threads": threads}
"""Groups that need a GPU, a C compiler, libraries of their own, much time or an idle machine: they
run where they are named."""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, *BY_NAME, []], default=[])
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "benchmarks")
    parser.add_argument("--update-docs", action="store_true",
                        help="publish: write benchmarks/results/, and from it the pages")
    parser.add_argument("--render", action="store_true",
                        help="measure nothing: write the pages from benchmarks/results/")
    arguments = parser.parse_args()
    if arguments.render:
        reporting.update_docs(ROOT)
        return
    published = {(): "suite", **{(name,): name for name in BY_NAME}}.get(tuple(arguments.groups))
    if arguments.update_docs and published is None:
        parser.error("--update-docs publishes all rows: name no groups with it, or "
                     f"one of {', '.join(BY_NAME)}")
    load = os.getloadavg()[0]
    results: list[Result] = []
    for name in arguments.groups or GROUPS:
        print(f"{name} ...", flush=True)
        try:
            results += (GROUPS | BY_NAME)[name].run()
        except Wrong as wrong:
            results.append(Result(name, name, "", None, None, note=str(wrong)))
    measured = Measured(conditions(load), results)
    print(reporting.markdown(measured))
    for path in reporting.write(measured, arguments.out):
        print(path)
    if arguments.update_docs:
        assert published is not None
        reporting.publish(measured, published, ROOT)


if __name__ == "__main__":
    main()
