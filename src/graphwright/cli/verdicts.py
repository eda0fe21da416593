"""`bench --compare`: two results, and for each number whether it differs beyond its spread."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphwright.cli.bench_process import OWN
from graphwright.cli.errors import FAILED, UserError
from graphwright.cli.output import say, say_table
from graphwright.report.measure import format_seconds

LEAST = 0.05
"""Relative differences up to this are none, however small the spreads are."""
NUMBERS = {"call_s": "call", "first_cold_s": "first call, cold", "first_warm_s":
           "first call, warm", "peak_bytes": "peak memory"}
NONE = "no difference beyond the spread"
HEADERS = ["case", "what", "old", "new", "new / old", "verdict"]


def read_results(path: Path) -> dict[str, Any]:
    """What `bench --json OUT` wrote.

    Raises:
        UserError: the file cannot be read, or is something else.
    """
    way_out = "give a file that graphwright bench --json OUT wrote"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}", way_out) from None
    except ValueError:
        raise UserError(f"{path} is no JSON document", way_out) from None
    if not isinstance(document, dict) or document.get("format") != 1 or "cases" not in document:
        raise UserError(f"{path} is no result of graphwright bench", way_out)
    return document


def verdict(old: dict[str, Any], new: dict[str, Any]) -> str:
    """"better" or "worse", if the medians differ by more than both spreads together, and by more
    than `LEAST`; else `NONE`."""
    spreads = sum(high - low for low, high in (old["between"], new["between"]))
    change = new["median"] - old["median"]
    if abs(change) <= max(spreads, LEAST * old["median"]):
        return NONE
    return "worse" if change > 0 else "better"


def verdicts(old: dict[str, Any], new: dict[str, Any]) -> Iterator[list[str]]:
    """A row for each number that both results have with a spread; one sample has none."""
    for case, found in new["cases"].items():
        before = old["cases"].get(case, {})
        for key, what in NUMBERS.items():
            a, b = before.get(key), found.get(key)
            if a and b and min(a["samples"], b["samples"]) > 1:
                shown = format_seconds if key.endswith("_s") else format_bytes
                yield [case, what, shown(a["median"]), shown(b["median"]),
                       f"{b['median'] / a['median']:.2f}", verdict(a, b)]


def format_bytes(number: float) -> str:
    """In MiB."""
    return f"{number / 2**20:.1f} MiB"


def compare_runs(old: dict[str, Any], new: dict[str, Any]) -> None:
    """Print the verdicts.

    Raises:
        UserError: a number of graphwright's own became worse.
    """
    for key in ("target", "machine", "versions"):
        if old.get(key) != new[key]:
            say(f"not the same {key}: {old.get(key)}, now {new[key]}")
    rows = list(verdicts(old, new))
    say_table(HEADERS, rows)
    worse = [f"{row[1]} of {row[0]}" for row in rows if row[0] in OWN and row[-1] == "worse"]
    if worse:
        raise UserError(f"worse than before: {'; '.join(worse)}",
                        "measure again if the machine was busy", FAILED)
