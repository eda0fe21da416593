"""The memory of tensors over time."""

from __future__ import annotations

import json
import os

from graphwright.profiler.files import open_text
from graphwright.profiler.recording import Recording
from graphwright.profiler.units import format_memory

_FORMS = (".raw.json", ".json", ".html")
_WIDTH, _HEIGHT = 900, 400


def write_memory_timeline(path: str | os.PathLike[str], recording: Recording) -> None:
    """Write how many bytes tensors have had, in the form that the file's name asks for.

    .json: [times in microseconds, bytes at these]. .raw.json: a list of [time in ns, "create" or
    "destroy", bytes, the op]. .html: a page with a chart. The first two may end with .gz, too.

    Raises ValueError for other names.
    """
    kind = form_of(path)
    with open_text(path) as file:
        if kind == ".html":
            file.write(_page(recording))
        else:
            json.dump(_raw(recording) if kind == ".raw.json" else _sizes(recording), file)


def form_of(path: str | os.PathLike[str]) -> str:
    """The form that a file's name asks for: ".html", ".json" or ".raw.json".

    Raises ValueError for other names.
    """
    name = os.fspath(path)
    form = name.removesuffix(".gz")
    kind = next((end for end in _FORMS if form.endswith(end)), None)
    if kind is None or (kind == ".html" and form != name):
        raise ValueError(f"the name of a timeline of memory, {name!r}, must end with .html, "
                         ".json, .raw.json, .json.gz or .raw.json.gz")
    return kind


def _sizes(recording: Recording) -> list[list[float]]:
    times, sizes = [0.0], [float(recording.live_before)]
    for change in recording.memory:
        times.append(change.time / 1000)
        sizes.append(change.live)
    return [times, sizes]


def _raw(recording: Recording) -> list[list[object]]:
    return [
        [change.time, "create" if change.nbytes > 0 else "destroy", abs(change.nbytes),
         change.event.name if change.event is not None else None]
        for change in recording.memory
    ]


def _page(recording: Recording) -> str:
    """A chart of steps, in SVG."""
    times, sizes = _sizes(recording)
    end, most = max(recording.duration / 1000, 1e-9), max(max(sizes), 1)
    points, level = [], sizes[0]
    for when, size in zip([*times, end], [*sizes, sizes[-1]], strict=True):
        x = _WIDTH * when / end
        points += [f"{x:.2f},{_HEIGHT * (1 - level / most):.2f}",
                   f"{x:.2f},{_HEIGHT * (1 - size / most):.2f}"]
        level = size
    title = (f"Memory of tensors: at most {format_memory(int(most))} within {end / 1000:.3f} ms")
    return (
        f"<!doctype html><meta charset='utf-8'><title>Memory</title><h1>{title}</h1>"
        f"<svg viewBox='-10 -10 {_WIDTH + 20} {_HEIGHT + 20}' width='{_WIDTH}'>"
        f"<rect width='{_WIDTH}' height='{_HEIGHT}' fill='#f4f4f4'/>"
        f"<polyline fill='none' stroke='#1f6feb' stroke-width='1.5' points='{' '.join(points)}'/>"
        "</svg>\n"
    )
