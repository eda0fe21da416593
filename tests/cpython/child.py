"""Runs one module of CPython's own test suite in this process, plainly or captured.

    python child.py MODULE REPORT [--captured] [--only SUBSTRING ...] [--skip SUBSTRING ...]

REPORT is written line by line, so that it also tells where a crash happened: JSON lists
["begin", test], ["end", test, outcome] and at the end ["frames", {...}].
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import json
import sys
import unittest
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, TextIO


class Outcomes(unittest.TestResult):
    """Writes what became of each test."""

    def __init__(self, report: TextIO) -> None:
        super().__init__()
        self.report = report
        self.outcome = "ok"

    def write(self, *entry: object) -> None:
        """One line of the report."""
        self.report.write(json.dumps(entry) + "\n")
        self.report.flush()

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.outcome = "ok"
        self.write("begin", str(test.id()))

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        self.write("end", str(test.id()), self.outcome)

    def _failed(self, kind: str, test: Any, error: Any) -> None:
        self.outcome = kind
        print(f"{kind}: {test}\n{self._exc_info_to_string(error, test)}", file=sys.stderr)
        if not isinstance(test, unittest.TestCase):
            self.write("end", str(test), kind)

    def addFailure(self, test: Any, err: Any) -> None:
        self._failed("failure", test, err)

    def addError(self, test: Any, err: Any) -> None:
        self._failed("error", test, err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._failed("failure", test, err)

    def addSkip(self, test: Any, reason: str) -> None:
        self.outcome = "skipped"

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self.outcome = "expected failure"

    def addUnexpectedSuccess(self, test: Any) -> None:
        self.outcome = "unexpected success"


def flat(suite: Any) -> Iterator[Any]:
    """The tests of a suite."""
    if isinstance(suite, unittest.TestSuite):
        for member in suite:
            yield from flat(member)
    else:
        yield suite


def load(name: str, wanted: Callable[[str], bool]) -> unittest.TestSuite:
    """Import a module of the test suite; its tests."""
    module = importlib.import_module(f"test.{name}")
    everything = unittest.defaultTestLoader.loadTestsFromModule(module)
    return unittest.TestSuite([test for test in flat(everything) if wanted(str(test.id()))])


def captured(function: Callable[..., Any], *args: Any) -> dict[str, Any]:
    """Call a function with every frame under it captured; what was."""
    from graphwright.capture import _eval_frame
    from graphwright.capture.frame.frontend import Frontend
    from graphwright.capture.frame.record import CaptureRecord, Location

    class Counts(CaptureRecord, frozen=False):
        """Counts what happened and keeps nothing alive."""

        def add(self, record: Any) -> None:
            self.counts[type(record).__name__] += 1
            if type(record).__name__ == "BreakRecord" and not record.fallback:
                breaks[record.code] += 1

        def skip(self, location: Location, reason: str) -> None:
            self.counts["skipped"] += 1
            reasons[reason.partition(":")[0][:40]] += 1
            if reason.startswith("GB0021"):
                print(f"{location}: {reason}", file=sys.stderr)

    class Quiet(Frontend):
        """Does not warn, which tests of warnings would notice."""

        def limit_reached(self, function: Any, code: Any, slots: Any, entries: Any) -> None:
            reasons["limit of versions"] += 1

    def run_graph(module: Any, examples: Any) -> Callable[..., Any]:
        return module  # type: ignore[no-any-return]

    reasons: Counter[str] = Counter()
    breaks: Counter[str] = Counter()
    record = Counts()
    frontend = Quiet(run_graph, record=record, everywhere=True)
    offered, replaced = _eval_frame.frame_counts()
    _eval_frame.run_hooked(frontend, function, *args)
    offered_then, replaced_then = _eval_frame.frame_counts()
    return {
        "eligible": offered_then - offered,
        "translated": replaced_then - replaced,
        "entries": record.counts["FrameRecord"],
        "skipped": dict(reasons.most_common()),
        "breaks": dict(breaks.most_common()),
    }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("report")
    parser.add_argument("--captured", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--skip", nargs="*", default=[])
    options = parser.parse_args()
    sys.argv = [sys.executable]
    faulthandler.enable()

    def wanted(test: str) -> bool:
        chosen = not options.only or any(part in test for part in options.only)
        return chosen and not any(part in test for part in options.skip)

    with open(options.report, "w") as report:
        result = Outcomes(report)
        tests = load(options.module, wanted)
        if options.captured:
            result.write("frames", captured(tests.run, result))
        else:
            tests.run(result)
            result.write("frames", {})


if __name__ == "__main__":
    main()
