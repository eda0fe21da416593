"""Run the suite: see the package's docstring."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks import (
    calls,
    compile_time,
    convolution,
    eager,
    ecosystem,
    kernels,
    mapping,
    memory,
    reporting,
    startup,
    training,
    untouched,
    writes,
)
from benchmarks.result import Result, Wrong

GROUPS = {"kernels": kernels, "convolution": convolution, "calls": calls, "eager": eager,
          "mapping": mapping, "memory": memory, "training": training, "startup": startup,
          "compile_time": compile_time, "untouched": untouched, "writes": writes}
BY_NAME = {"ecosystem": ecosystem}
"""Groups that take minutes and need libraries of their own: they run only where named."""
ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, *BY_NAME, []], default=[])
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "benchmarks")
    parser.add_argument("--update-docs", action="store_true",
                        help="write the tables of README.md and docs/benchmarks.md")
    arguments = parser.parse_args()
    if arguments.update_docs and arguments.groups:
        parser.error("--update-docs writes all rows: name no groups with it")
    results: list[Result] = []
    for name in arguments.groups or GROUPS:
        print(f"{name} ...", flush=True)
        try:
            results += (GROUPS | BY_NAME)[name].run()
        except Wrong as wrong:
            results.append(Result(name, name, "", None, None, note=str(wrong)))
    print(reporting.markdown(results))
    for path in reporting.write(results, arguments.out):
        print(path)
    if arguments.update_docs:
        reporting.update_docs(results, ROOT)


if __name__ == "__main__":
    main()
