"""The files that a profile writes: traces, stacks, timelines of memory."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import graphwright as gw
from graphwright.profiler import profile, record_function, schedule, tensorboard_trace_handler

jsonschema = pytest.importorskip("jsonschema")

NUMBER, TEXT = {"type": "number", "minimum": 0}, {"type": "string", "minLength": 1}
INTEGER = {"type": "integer", "minimum": 0}
SCHEMA = {
    "type": "object",
    "required": ["schemaVersion", "displayTimeUnit", "baseTimeNanoseconds", "traceEvents"],
    "properties": {
        "schemaVersion": {"const": 1},
        "displayTimeUnit": {"enum": ["ms", "ns"]},
        "baseTimeNanoseconds": INTEGER,
        "traceEvents": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["ph", "name", "pid", "tid", "ts", "args"],
                "properties": {
                    "ph": {"enum": ["X", "M", "i"]}, "name": TEXT, "pid": INTEGER, "tid": INTEGER,
                    "ts": NUMBER, "args": {"type": "object"},
                },
                "allOf": [{
                    "if": {"properties": {"ph": {"const": "X"}}},
                    "then": {
                        "required": ["dur", "cat"],
                        "properties": {"dur": NUMBER, "cat": TEXT,
                                       "args": {"required": ["External id"]}},
                    },
                }],
            },
        },
    },
}


def recorded(**options: Any) -> profile:
    model = gw.nn.Sequential(gw.nn.Linear(8, 8), gw.nn.ReLU())
    optimizer = gw.optim.SGD(model.parameters(), lr=0.1)
    with profile(**options) as made:
        for _ in range(2):
            with record_function("step"):
                optimizer.zero_grad()
                model(gw.ones(4, 8)).sum().backward()
                optimizer.step()
    return made


def trace_of(made: profile, path: Path) -> dict[str, Any]:
    made.export_chrome_trace(str(path))
    trace: dict[str, Any] = json.loads(path.read_text())
    return trace


def test_a_trace_is_what_chrome_reads(tmp_path: Path) -> None:
    made = recorded(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True)
    made.add_metadata("model", "two layers")
    made.add_metadata_json("sizes", "[8, 8]")
    trace = trace_of(made, tmp_path / "trace.json")
    jsonschema.validate(trace, SCHEMA)
    assert trace["model"] == "two layers" and trace["sizes"] == [8, 8]
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(spans) == len(made.events())
    [linear] = [e for e in spans if e["name"] == "aten::linear"][:1]
    assert linear["cat"] == "cpu_op" and linear["args"]["Input Dims"] == [[4, 8], [8, 8], [8]]
    assert linear["args"]["flops"] == 2 * 4 * 8 * 8 and "linear.py" in linear["args"]["Call stack"]
    memory = [event for event in trace["traceEvents"] if event["name"] == "[memory]"]
    assert {event["args"]["Bytes"] > 0 for event in memory} == {True, False}


def test_spans_are_sorted_and_nested_in_each_thread(tmp_path: Path) -> None:
    trace = trace_of(recorded(), tmp_path / "trace.json")
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert [event["ts"] for event in spans] == sorted(event["ts"] for event in spans)
    open_ends: dict[int, list[int]] = {}
    for event in spans:
        start = round(event["ts"] * 1000)
        end = start + round(event["dur"] * 1000)
        ends = open_ends.setdefault(event["tid"], [])
        while ends and ends[-1] <= start:
            ends.pop()
        assert not ends or end <= ends[-1], f"{event['name']} overlaps the span around it"
        ends.append(end)
    names = {event["name"] for event in spans}
    assert names >= {"step", "aten::linear", "Optimizer.step#SGD.step"}


def test_traces_are_compressed_by_name_and_kept_by_tensorboards_handler(tmp_path: Path) -> None:
    made = recorded()
    made.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    with gzip.open(tmp_path / "trace.json.gz", "rt") as file:
        jsonschema.validate(json.load(file), SCHEMA)
    handler = tensorboard_trace_handler(str(tmp_path / "log" / "run"), "worker", use_gzip=True)
    with profile(schedule=schedule(wait=0, warmup=1, active=1), on_trace_ready=handler) as made:
        for _ in range(4):
            made.step()
    files = sorted(path.name for path in (tmp_path / "log" / "run").iterdir())
    assert len(files) == 2
    assert all(f.startswith("worker.") and f.endswith(".pt.trace.json.gz") for f in files)


def test_stacks_for_flame_graphs(tmp_path: Path) -> None:
    made = recorded(with_stack=True)
    made.export_stacks(str(tmp_path / "stacks.txt"))
    lines = (tmp_path / "stacks.txt").read_text().splitlines()
    assert any(line.split(" ")[-1].isdigit() and "aten::linear" in line for line in lines)
    linear = next(line for line in lines if "aten::linear" in line)
    assert linear.index("recorded;") < linear.index("forward;") < linear.index("aten::linear")
    with pytest.raises(ValueError, match="metric 'speed' is none of"):
        made.export_stacks(str(tmp_path / "stacks.txt"), "speed")
    with pytest.raises(ValueError, match="with_stack=True"):
        recorded().export_stacks(str(tmp_path / "stacks.txt"))


def test_the_memory_over_time(tmp_path: Path) -> None:
    with profile(profile_memory=True) as made:
        x = gw.ones(1024)
        del x
    made.export_memory_timeline(str(tmp_path / "memory.json"))
    times, sizes = json.loads((tmp_path / "memory.json").read_text())
    assert times == sorted(times)
    assert [size - sizes[0] for size in sizes] == [0, 4096, 0]
    made.export_memory_timeline(str(tmp_path / "memory.raw.json.gz"))
    with gzip.open(tmp_path / "memory.raw.json.gz", "rt") as file:
        changes = json.load(file)
    assert [change[1:] for change in changes] == [
        ["create", 4096, "aten::ones"], ["destroy", 4096, None]]
    made.export_memory_timeline(str(tmp_path / "memory.html"))
    assert "<polyline" in (tmp_path / "memory.html").read_text()


def test_what_a_timeline_needs(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="profile_memory=True"):
        recorded().export_memory_timeline(str(tmp_path / "memory.json"))
    made = recorded(profile_memory=True)
    with pytest.raises(ValueError, match=r"must end with \.html, \.json"):
        made.export_memory_timeline(str(tmp_path / "memory.png"))
    with pytest.raises(ValueError, match="device 'cuda:0'"):
        made.export_memory_timeline(str(tmp_path / "memory.json"), device="cuda:0")
