"""Run all tests that the onnx library has for backends; write what they gave into docs/onnx.md.

    python tools/onnx_table.py [--check]

With `--check` nothing is run: it says whether the page lists the operators that there are.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.onnx.suite import cases, outcome, reason  # noqa: E402

import graphwright as gw  # noqa: E402

PAGE = ROOT / "docs" / "onnx.md"
BEGIN, END = "<!-- written by tools/onnx_table.py -->", "<!-- end of what is written -->"
KINDS = ("node", "pytorch-converted", "pytorch-operator", "simple")


def operators() -> list[str]:
    """Domains with the operators that are computed, a line each."""
    from graphwright.onnx.importing.ops import load_all
    from graphwright.onnx.importing.opsets import entered

    load_all()
    lines = []
    for domain in sorted({domain for domain, _ in entered()}):
        names = sorted(name for found, name in entered() if found == domain)
        lines.append(f"- {domain or 'ai.onnx'} ({len(names)}): {', '.join(names)}")
    return lines


def lacking() -> list[str]:
    """Operators of the library's schemas that are not computed."""
    import onnx.defs

    from graphwright.onnx.importing.opsets import entered

    known = {(schema.domain, schema.name) for schema in onnx.defs.get_all_schemas()}
    return [f"{domain or 'ai.onnx'}.{name}" for domain, name in sorted(known - entered())]


def measured() -> Iterator[str]:
    """The tables: how many pass of each kind, and what does not, with the reason."""
    import onnx

    newest = onnx.defs.onnx_opset_version()
    yield f"Of onnx {onnx.__version__}, operator set {newest}, so many tests pass:"
    yield ""
    yield "| tests | there are | eager | compiled |"
    yield "| --- | --- | --- | --- |"
    failed: dict[str, str] = {}
    for kind in KINDS:
        counts = Counter[bool]()
        for case in cases(kind):
            for compiled in (False, True):
                text = outcome(case, compiled)
                counts[compiled] += text is None
                if text is not None:
                    failed[case.name] = reason(case) or text.splitlines()[0]
        yield f"| {kind} | {len(cases(kind))} | {counts[False]} | {counts[True]} |"
    yield ""
    yield "| does not pass | why |"
    yield "| --- | --- |"
    by_reason: dict[str, list[str]] = {}
    for name, why in failed.items():
        by_reason.setdefault(why, []).append(name.removeprefix("test_"))
    for why, names in sorted(by_reason.items()):
        yield f"| {', '.join(sorted(names))} | {why.replace('|', '/')} |"


def listed() -> list[str]:
    """The operators, those that are there and those that are not."""
    return ["Operators:", "", *operators(), "", f"Not there: {', '.join(lacking())}."]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.check:
        if "\n".join(listed()) in PAGE.read_text():
            return 0
        print("docs/onnx.md lists other operators than there are: run `make onnx`")
        return 1
    with gw.no_grad():
        text = "\n".join([*measured(), "", *listed()])
    pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    found = f"{BEGIN}\n\n{text}\n\n{END}"
    PAGE.write_text(pattern.sub(lambda _: found, PAGE.read_text()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
