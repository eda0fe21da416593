"""The part of a viewer's page that is about one captured graph.

Elements that belong together are linked by keys, which `template/page.js` follows: they begin with
`L` for a source line, `n` for a node, `k` for a kernel, `m` for a buffer. `data-k` is the
element's own key, `data-l` are those of others.
"""

from __future__ import annotations

import linecache
from collections.abc import Collection, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from html import escape
from itertools import groupby
from typing import Any

from graphwright.capture.frame.record import GraphRecord
from graphwright.face.stage_dumps import Artifacts, artifacts_of, count
from graphwright.ir.graph.printing import describe
from graphwright.report import drawing
from graphwright.report.charts import Bar, spans
from graphwright.report.page import figure, table
from graphwright.report.stages import Half, Memory, Part, Step, by_kernel, halves, passes
from graphwright.runtime.record import replace

NEAR, AROUND = 6, 2
"""Source lines at most so far from each other are shown with what is between; with so many lines
around them."""
UNCHANGED = 6
"""Longer runs of unchanged lines are left out of a diff, but for their ends."""
MOST_BARS = 120
"""The chart of memory shows so many buffers, its table all of them."""
MOST_NAMES = 12
"""So many of a kernel's nodes are named in its heading; the drawing shows all."""
ROLES = ("input", "output", "temp", "constant")

DETAILS = ASSEMBLY, PASSES, CODE, TABLES = (
    "assembly", "IR passes", "generated code", "the tables of nodes")
"""What a page can leave out to stay small."""

Line = tuple[str, int]


class GraphView:
    """One captured graph: `tabs` are the titles and contents of its panels.

    What takes time is made once, also where a page is made anew with less on it.
    """

    def __init__(self, number: int, record: GraphRecord) -> None:
        self.number = number
        self.record = record
        self.artifacts: Artifacts | None = artifacts_of(record.graph)
        self.halves: tuple[Half, ...] = () if self.artifacts is None else halves(self.artifacts)
        self.code: dict[tuple[str, int, str], str] = {}
        self.lines: dict[Line, str] = {}
        self.texts: dict[Line, str] = {}
        self.kernels: dict[str, dict[str, list[str]]] = {
            half.name: self._kernels_of(half) for half in self.halves}
        stacks = (node.meta.get("stack") for graph in self.graphs.values()
                  for node in graph.graph.nodes)
        for file, line, text in filter(None, stacks):
            self.lines.setdefault((file, line), f"L{number}_{len(self.lines)}")
            self.texts[file, line] = text

    @property
    def title(self) -> str:
        """What a tab says."""
        return f"Graph {self.number + 1}"

    @cached_property
    def graphs(self) -> dict[str, Any]:
        """Each graph that is drawn, by its name."""
        found = {"captured": self.record.graph}
        lowered = None if self.artifacts is None else self.artifacts.lowered
        if lowered is not None and lowered.origin is not None:
            found["joint"] = lowered.origin.split
        return found | {half.name: half.module for half in self.halves}

    def tabs(self, left_out: Collection[str]) -> dict[str, str]:
        """Title to markup of each panel, without some of `DETAILS`."""
        found = {"Source, graph, kernels": self.workspace(TABLES not in left_out)}
        if self.halves and PASSES not in left_out:
            found["IR passes"] = self.pass_panel
        if self.halves and CODE not in left_out:
            found["Generated code"] = self.code_panel(ASSEMBLY not in left_out)
        if self.halves:
            found["Memory plan"] = self.memory_panel
        return found

    # -- source, graph and kernels

    def workspace(self, tables: bool) -> str:
        """The three panes that are linked; `tables`: whether graphs are tables, too."""
        record = self.record
        note = ""
        if self.artifacts is None:
            note = " It was compiled by a backend of the program's own."
        elif not self.halves:
            note = " It runs as it was captured" + (
                f": {self.artifacts.note}." if self.artifacts.note else ".")
        return (
            f'<p class="where muted">Captured from {escape(record.location.file)}:'
            f"{record.location.line} in {escape(record.location.function)}: "
            f"{count(record.n_ops, 'operation')}, {count(record.n_inputs, 'input')}."
            f"{escape(note)}</p>"
            f'<div class="work">{self.source_pane()}{self.drawing_pane(tables)}'
            f'{self.kernel_pane()}</div>'
            '<p class="status" role="status" aria-live="polite">Point at a line, a node or '
            "a kernel to see what belongs to it; click, or press Enter, to select it.</p>")

    def source_pane(self) -> str:
        files: dict[str, list[int]] = {}
        for file, line in self.lines:
            files.setdefault(file, []).append(line)
        parts = []
        for file, numbers in files.items():
            parts.append(f'<div class="file">{escape(file)}</div><div class="lines">')
            for number, (first, last) in enumerate(ranges(numbers)):
                parts += ['<div class="gap">⋮</div>'] * bool(number)
                parts += [self._line(file, line) for line in range(first, last + 1)]
            parts.append("</div>")
        if not files:
            parts.append('<p class="file">No source lines are known.</p>')
        return ('<section class="pane source" aria-label="Source"><header><h3>Source</h3></header>'
                f'<div class="scroll" role="listbox" aria-label="Source lines">{"".join(parts)}'
                "</div></section>")

    def _line(self, file: str, line: int) -> str:
        text = linecache.getline(file, line).rstrip("\n")
        known = self.texts.get((file, line), "")
        if known.strip() not in text:       # the file has changed, or is none
            text = known
        key = self.lines.get((file, line))
        more = (f' data-k="{key}" data-t="{escape(f"{line}: {known.strip()}")}" role="option" '
                'aria-selected="false" tabindex="-1"' if key else ' role="presentation"')
        return (f'<div class="src"{more}><span class="no">{line}</span>'
                f"<span>{escape(text) or ' '}</span></div>")

    def drawing_pane(self, tables: bool) -> str:
        drawn = [(GRAPH_NAMES[which], picture + (rows if tables else ""))
                 for which, (picture, rows) in self.drawings.items()]
        name = f"shown{self.number}"
        options = "".join(f'<option value="{name}_{n}">{escape(title)}</option>'
                          for n, (title, _) in enumerate(drawn))
        panels = "".join(
            f'<div class="shown" id="{name}_{n}" data-shown-by="{name}" '
            f'data-title="the {escape(title)}" {"hidden" * bool(n)}>{markup}</div>'
            for n, (title, markup) in enumerate(drawn))
        return (
            '<section class="pane drawing" aria-label="Graph"><header>'
            f'<select id="{name}" data-shows aria-label="Which graph">{options}</select>'
            '<span class="tools"><button data-zoom="1.25" aria-label="Zoom in">+</button>'
            '<button data-zoom="0.8" aria-label="Zoom out">−</button>'
            '<button data-zoom="fit">Fit</button></span></header>'
            f"{panels}<footer>{drawing.legend()}</footer></section>")

    def _kernels_of(self, half: Half) -> dict[str, list[str]]:
        """The name of a node to the keys of its kernels."""
        found: dict[str, list[str]] = {}
        for place, part in enumerate(half.parts):
            for number, step in enumerate(part.steps):
                for name in step.nodes:
                    found.setdefault(name, []).append(self.kernel_key(half, place, number))
        return found

    def kernel_key(self, half: Half, part: int, step: int) -> str:
        """The key of a step."""
        return f"k{self.number}{half.name[0]}{part}_{step}"

    @cached_property
    def drawings(self) -> dict[str, tuple[str, str]]:
        """The drawing and the table of each graph, by its name."""
        return {which: self._drawing(which[0], list(module.graph.nodes),
                                     self.kernels.get(which, {}))
                for which, module in self.graphs.items()}

    def _drawing(
        self, letter: str, nodes: list[Any], kernels: dict[str, list[str]]
    ) -> tuple[str, str]:
        """The drawing and the table of a graph; the first letter of its name is in its keys."""
        drawn = drawing.boxes(nodes, describe)
        prefix = f"n{self.number}{letter}"
        attributes, badges, rows = [], [], []
        for number, (node, box) in enumerate(zip(nodes, drawn, strict=True)):
            stack = node.meta.get("stack")
            line = self.lines[stack[0], stack[1]] if stack else ""
            own = kernels.get(node.name, [])
            short = [key.rpartition("_")[2] for key in own]
            links = " ".join(filter(None, [line, *own]))
            linked = f' data-l="{links}"' if links else ""
            attributes.append(f' data-k="{prefix}{number}"{linked}')
            badges.append(f"k{short[0]}" + "+" * (len(short) > 1) if short else "")
            rows.append((
                box.name, box.target, ", ".join(nodes[n].name for n in box.inputs), box.detail,
                str(stack[1]) if stack else "",
                ", ".join(f"k{n}" for n in short)))
        svg = drawing.draw(drawn, title=f"The graph, {len(nodes)} nodes: arrow keys follow edges",
                           keys=prefix, attributes=attributes, badges=badges)
        headers = ("node", "target", "inputs", "value", "line", "kernels")
        return (f'<div class="canvas">{svg}</div>',
                "<footer><details><summary>As a table</summary>"
                f'{table(headers, rows, "texts")}</details></footer>')

    def kernel_pane(self) -> str:
        parts = []
        for half in self.halves:
            steps = sum(len(part.steps) for part in half.parts)
            when = "" if half.compiled else "; not run yet"
            parts.append(f'<div class="file" role="presentation">{half.name}: {steps} kernels '
                         f"and matrix products{when}</div>")
            parts += [self._step(half, place, number, step)
                      for place, part in enumerate(half.parts)
                      for number, step in enumerate(part.steps)]
        if not self.halves:
            parts.append('<p class="file">There are none: the graph has no native code.</p>')
        return ('<section class="pane" aria-label="Kernels"><header><h3>Kernels as loops</h3>'
                '</header><div class="scroll" role="listbox" aria-label="Kernels">'
                f'{"".join(parts)}</div></section>')

    def _step(self, half: Half, place: int, number: int, step: Step) -> str:
        names = [node.name for node in half.module.graph.nodes if node.name in step.nodes]
        names += sorted(step.nodes.difference(names))
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
        fuses = f"{count(len(names), 'node')}: {', '.join(names[:MOST_NAMES])}{more}"
        return (
            f'<div class="step" data-k="{self.kernel_key(half, place, number)}" role="option" '
            f'aria-selected="false" tabindex="-1" data-t="{escape(step.title)}">'
            f"<h4>{escape(step.title)}</h4><small>{escape(fuses)}</small>"
            f"<pre>{escape(step.loops)}</pre></div>")

    # -- the other panels

    @cached_property
    def pass_panel(self) -> str:
        """A diff for each pass."""
        assert self.artifacts is not None
        parts = ["<p class='muted'>The graph before and after each pass, in order.</p>"]
        for number, step in enumerate(passes(self.record, self.artifacts)):
            title = step.name if step.half == "graph" else f"{step.name}, {step.half}"
            if step.before == step.after:
                parts.append(f"<p class='muted'>{escape(title)}: no change</p>")
                continue
            name = f"diff{self.number}_{number}"
            lines = list(diff(step.before.splitlines(), step.after.splitlines()))
            counts = [sum(kind == wanted for kind, _ in lines) for wanted in ("add", "del")]
            choices = "".join(
                f'<label><input type="radio" name="{name}r" value="{value}" '
                f'{"checked" * (value == "both")}>{value}</label>'
                for value in ("both", "before", "after"))
            shown = "".join(
                f'<span class="{kind}">'
                + escape("\n".join(MARKS[kind] + text for _, text in run)) + "</span>"
                for kind, run in groupby(lines, lambda line: line[0]))
            parts.append(
                f"<details><summary>{escape(title)}: {counts[0]} lines added, {counts[1]} "
                f'removed</summary><fieldset class="choices" data-for="{name}" '
                f'aria-label="What to show of {escape(title)}">{choices}</fieldset>'
                f'<div class="diff" id="{name}" tabindex="0"><pre>{shown}</pre></div></details>')
        return "".join(parts)

    def code_panel(self, assembly: bool) -> str:
        """What the backend made of each part; assembly, where it is wanted, folded up."""
        parts = []
        for half in self.halves:
            for place, part in enumerate(half.parts):
                which = f", part {place + 1}" * (len(half.parts) > 1)
                for stage in part.sources:
                    if stage in ("loops", "tiles") or (stage == "asm" and not assembly):
                        continue
                    parts.append(
                        f"<details {'open' * (stage != 'asm' and half.name == 'forward')}>"
                        f"<summary>{half.name}{which}: {STAGE_NAMES.get(stage, stage)}</summary>"
                        f'<div class="code text wide" tabindex="0"><pre>'
                        f"{self._code(half, place, part, stage)}</pre></div></details>")
        return "".join(parts)

    def _code(self, half: Half, place: int, part: Part, stage: str) -> str:
        known = self.code.get((half.name, place, stage))
        if known is not None:
            return known
        keys = {step.name: self.kernel_key(half, place, number)
                for number, step in enumerate(part.steps) if step.name}
        pieces = by_kernel(stage, part.sources[stage], frozenset(keys))
        self.code[half.name, place, stage] = text = "".join(
            f'<span data-k="{keys[owner]}" data-t="{escape(owner)}" tabindex="0">{escape(code)}'
            "</span>" if owner else escape(code) for owner, code in pieces)
        return text

    @cached_property
    def memory_panel(self) -> str:
        """The buffers of each part over its steps."""
        return "".join(
            self._memory(half, place, part)
            for half in self.halves for place, part in enumerate(half.parts) if part.memory)

    def _memory(self, half: Half, place: int, part: Part) -> str:
        order = sorted(part.memory, key=lambda m: (m.kind in ("input", "constant"), m.first))
        touching: dict[str, list[str]] = {}
        for number, step in enumerate(part.steps):
            for name in step.buffers:
                touching.setdefault(name, []).append(self.kernel_key(half, place, number))
        bars = [Bar(m.name, m.first, m.last + 1, size_text(m), 0, ROLES.index(m.kind),
                    f'data-k="m{self.number}{half.name[0]}{place}_{n}" role="button" '
                    f'tabindex="-1" aria-pressed="false" data-t="{escape(m.name)}" '
                    f'data-l="{" ".join(touching[m.name])}"')
                for n, m in enumerate(order)]
        title = f"Buffers of the {half.name} graph over its steps"
        chart = spans(bars[:MOST_BARS], title=title, unit="step", legend=ROLES, whole=True,
                      headers=("buffer", "first", "end", "bytes"))
        rows = tuple((m.name, m.kind, m.shape, size_text(m), m.place, str(m.first), str(m.last))
                     for m in order)
        headers = ("buffer", "kind", "elements", "bytes", "place", "first step", "last step")
        left = len(bars) - MOST_BARS
        return (f"<p>Arena for temporaries: {escape(part.arena)}."
                + (f" {left} further buffers are in the table alone." if left > 0 else "")
                + f"</p>{figure(replace(chart, headers=headers, rows=rows))}")


GRAPH_NAMES = {
    "captured": "captured graph", "joint": "joint graph of primitives",
    "forward": "forward graph of primitives", "backward": "backward graph of primitives",
}
STAGE_NAMES = {"triton": "Triton", "llvm": "LLVM IR", "c": "C", "asm": "assembly"}
MARKS = {"add": "+ ", "del": "- ", "same": "  ", "cut": "  "}


def size_text(memory: Memory) -> str:
    """Bytes of a buffer."""
    return "symbolic" if memory.size is None else f"{memory.size:,}"


def ranges(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """First and last line of what is shown around lines."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number - runs[-1][1] <= NEAR:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return [(max(first - AROUND, 1), last + AROUND) for first, last in runs]


def diff(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Lines with a key of `MARKS`; of long runs that are the same only the ends."""
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for tag, low, high, start, end in matcher.get_opcodes():
        if tag == "equal":
            same = before[low:high]
            if len(same) > UNCHANGED:
                yield from (("same", line) for line in same[:2])
                yield "cut", f"… {len(same) - 4} unchanged lines"
                same = same[-2:]
            yield from (("same", line) for line in same)
            continue
        yield from (("del", line) for line in before[low:high])
        yield from (("add", line) for line in after[start:end])
