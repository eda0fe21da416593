"""`gw.profiler`: what is recorded, what tables say, and when."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.docstrings import failures

import graphwright as gw
from graphwright.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
)


def names(recorded: profile) -> list[str]:
    return [event.name for event in recorded.events()]


def recorded_by(function: Callable[[], Any], **options: Any) -> profile:
    with profile(**options) as recorded:
        function()
    return recorded


def find(recorded: profile, name: str) -> Any:
    [event] = [event for event in recorded.events() if event.name == name]
    return event


# -- what is recorded

def test_ops_are_recorded_by_pytorchs_names_in_the_order_of_their_starts() -> None:
    x = gw.ones(2, 3)
    assert names(recorded_by(lambda: (x * 2).add_(1).sum())) == [
        "aten::mul", "aten::add_", "aten::sum"]


def test_ops_written_to_out_are_one_event() -> None:
    x, out = gw.ones(3), gw.empty(3)
    assert names(recorded_by(lambda: gw.add(x, x, out=out))) == ["aten::add"]
    assert "aten::add" in names(recorded_by(lambda: gw.add(x, x, out=out[::2].resize_(3))))


def test_nothing_is_recorded_before_and_after() -> None:
    gw.ones(2)
    recorded = recorded_by(lambda: None)
    gw.ones(2)
    assert names(recorded) == []
    assert recorded.key_averages().table() == ""


def test_labels_have_the_ops_within_them_as_children() -> None:
    def run() -> None:
        with record_function("outer"):
            with record_function("inner"):
                gw.ones(2)
            gw.zeros(2)

    recorded = recorded_by(run)
    outer = find(recorded, "outer")
    assert [child.name for child in outer.cpu_children] == ["inner", "aten::zeros"]
    assert find(recorded, "aten::ones").cpu_parent.name == "inner"
    assert outer.is_user_annotation and not find(recorded, "aten::ones").is_user_annotation
    children = sum(child.cpu_time_total for child in outer.cpu_children)
    assert outer.self_cpu_time_total == pytest.approx(outer.cpu_time_total - children)


def test_a_label_decorates_functions_that_call_themselves() -> None:
    @record_function("count")
    def count(n: int) -> int:
        return n and count(n - 1)

    recorded = recorded_by(lambda: count(2))
    assert names(recorded) == ["count"] * 3
    assert [event.cpu_parent is None for event in recorded.events()] == [True, False, False]


def test_a_span_that_ends_after_its_parent_ends_with_it() -> None:
    def run() -> None:
        late = record_function("late")
        with record_function("parent"):
            late.__enter__()
        gw.ones(2)
        late.__exit__(None, None, None)

    recorded = recorded_by(run)
    assert find(recorded, "late").cpu_parent.name == "parent"
    assert find(recorded, "aten::ones").cpu_parent is None
    assert find(recorded, "late").time_range.end == find(recorded, "parent").time_range.end


def test_an_op_that_raises_is_recorded() -> None:
    def run() -> None:
        with pytest.raises(RuntimeError):
            gw.ones(2) @ gw.ones(3)

    assert "aten::matmul" in names(recorded_by(run))


def test_backward_records_its_nodes_and_their_ops() -> None:
    x = gw.ones(3, requires_grad=True)
    loss = (x * x).sum()
    recorded = recorded_by(loss.backward)
    node = find(recorded, "autograd::engine::evaluate_function: MulBackward0")
    assert node.cpu_parent.name == "autograd::engine::execute"
    assert {child.name for child in node.cpu_children} >= {"aten::mul"}
    find(recorded, "autograd::engine::evaluate_function: AccumulateGrad")
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_optimisers_and_loaders_are_recorded() -> None:
    model = gw.nn.Linear(2, 1)
    optimizer = gw.optim.Adam(model.parameters())
    data = gw.utils.data.DataLoader(gw.ones(4, 2), batch_size=2)

    def run() -> None:
        for batch in data:
            optimizer.zero_grad()
            model(batch).sum().backward()
            optimizer.step()

    counts = {event.key: event.count for event in recorded_by(run).key_averages()}
    assert counts["Optimizer.step#Adam.step"] == 2
    assert counts["Optimizer.zero_grad#Adam.zero_grad"] == 2
    assert counts["enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"] == 3


def test_compiled_functions_record_guards_graphs_and_kernels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GRAPHWRIGHT_GRAPH_CACHE", "0")

    @gw.compile
    def layer(x: gw.Tensor, w: gw.Tensor) -> gw.Tensor:
        return (x @ w).relu().sum()

    x, w = gw.randn(500, 300), gw.randn(300, 200, requires_grad=True)
    compiling = recorded_by(lambda: layer(x, w).backward())
    kinds = {event.kind for event in compiling.events()}
    assert {"compiler", "compiled_graph", "compiled_function", "autograd"} <= kinds
    phases = {event.name.split(" ")[0] for event in compiling.events() if event.kind == "compiler"}
    assert phases == {"compile::capture", "compile::guards", "compile::passes", "compile::pass",
                      "compile::native", "compile::lowering", "compile::schedule",
                      "compile::memory_plan", "compile::codegen"}
    assert not any(event.kind == "cpu_op" and event.cpu_parent is not None
                   and event.cpu_parent.kind == "compiler" for event in compiling.events())

    again = recorded_by(lambda: layer(x, w))
    call = next(event for event in again.events() if event.kind == "compiled_function")
    assert call.name.startswith("compiled::") and call.name.endswith("layer")
    assert [child.kind for child in call.cpu_children] == ["guards", "compiled_graph"]
    graph = call.cpu_children[1]
    assert graph.name.startswith("graph::forward")
    assert "kernel::gemm 500 x 200 x 300" in [child.name for child in graph.cpu_children]


def test_kernels_that_run_on_all_threads_have_the_names_of_the_loops() -> None:
    @gw.compile
    def rows(x: gw.Tensor) -> gw.Tensor:
        return (x * 2).exp().sum(1)

    x = gw.ones(3000, 200)
    rows(x)
    kernels = [e.name for e in recorded_by(lambda: rows(x)).events() if e.kind == "kernel"]
    assert kernels and all(name.startswith("kernel::k") for name in kernels)


def test_whether_a_profile_is_active_does_not_matter_to_compiled_code() -> None:
    model = gw.nn.Linear(2, 1)
    optimizer = gw.optim.SGD(model.parameters(), lr=0.1)

    @gw.compile
    def step(x: gw.Tensor) -> gw.Tensor:
        with record_function("forward"):
            loss = model(x).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    x = gw.ones(3, 2)
    step(x)
    step(x)
    misses = step.misses
    recorded = recorded_by(lambda: step(x))
    step(x)
    assert step.misses == misses
    assert not [event for event in recorded.events() if event.kind == "compiler"]


# -- shapes, memory, stacks, operations

def test_shapes_of_arguments() -> None:
    x = gw.ones(2, 3)
    recorded = recorded_by(lambda: gw.cat([x, gw.add(x, 1)], 0), record_shapes=True)
    assert find(recorded, "aten::cat").input_shapes == [[[2, 3], [2, 3]], []]
    assert find(recorded, "aten::add").input_shapes[:2] == [[2, 3], []]
    assert find(recorded_by(lambda: x + 1), "aten::add").input_shapes == []


def test_averages_by_shapes() -> None:
    def run() -> None:
        for rows in (2, 3, 3):
            gw.ones(rows, 4).relu()

    recorded = recorded_by(run, record_shapes=True)
    found = {str(e.input_shapes): e.count for e in recorded.key_averages(group_by_input_shape=True)
             if e.key == "aten::relu"}
    assert found == {"[[2, 4]]": 1, "[[3, 4]]": 2}
    [relu] = [event for event in recorded.key_averages() if event.key == "aten::relu"]
    assert relu.count == 3 and relu.cpu_time == pytest.approx(relu.cpu_time_total / 3)


def test_memory_is_counted_where_it_is_allocated_and_freed() -> None:
    def run() -> None:
        with record_function("both"):
            x = gw.ones(1024)
            del x

    recorded = recorded_by(run, profile_memory=True)
    assert find(recorded, "aten::ones").self_cpu_memory_usage == 4096
    both = find(recorded, "both")
    assert both.self_cpu_memory_usage == -4096 and both.cpu_memory_usage == 0
    table = recorded.key_averages().table()
    assert "Self CPU Mem" in table and "4.00 KB" in table
    assert "Self CPU Mem" not in recorded_by(run).key_averages().table()


def test_stacks_begin_with_the_line_of_the_program() -> None:
    def run() -> None:
        with record_function("label"):
            gw.ones(2)

    recorded = recorded_by(run, with_stack=True)
    for name in ("aten::ones", "label"):
        first = find(recorded, name).stack[0]
        assert first.startswith(f"{__file__}(") and first.endswith("): run")
    [average] = [event for event in recorded.key_averages(group_by_stack_n=2)
                 if event.key == "aten::ones"]
    assert len(average.stack) == 2
    assert "Source Location" in recorded.key_averages(group_by_stack_n=2).table()


def in_half() -> None:
    with gw.autocast("cpu"):
        gw.ones(5, 2, 3) @ gw.ones(3, 4)


@pytest.mark.parametrize(("run", "flops"), [
    (lambda: gw.ones(2, 3) @ gw.ones(3, 4), 48),
    (lambda: gw.ones(5, 2, 3) @ gw.ones(3, 4), 240),
    (lambda: gw.ones(5, 1, 2, 3) @ gw.ones(6, 3, 4), 48 * 30),
    (lambda: gw.ones(3) @ gw.ones(3), 6),
    (lambda: gw.nn.LSTM(2, 3)(gw.ones(1, 1, 2)), 2 * 12 * 2 + 2 * 12 * 3),
    (lambda: gw.bmm(gw.ones(5, 2, 3), gw.ones(5, 3, 4)), 240),
    (lambda: gw.addmm(gw.ones(4), gw.ones(2, 3), gw.ones(3, 4)), 48),
    (lambda: gw.nn.functional.linear(gw.ones(2, 3), gw.ones(4, 3)), 48),
    (lambda: gw.nn.functional.conv2d(gw.ones(1, 2, 4, 4), gw.ones(3, 2, 3, 3)), 2 * 12 * 18),
    (lambda: gw.nn.functional.conv_transpose1d(gw.ones(1, 2, 4), gw.ones(2, 3, 3)), 2 * 8 * 9),
    (lambda: gw.ones(5, 2, 3, requires_grad=True) @ gw.ones(3, 4), 240),
    (lambda: gw.ones(4, 4).addmm_(gw.ones(4, 3), gw.ones(3, 4)), 96),
    (in_half, 240),
    (lambda: gw.nn.functional.conv2d(
        gw.ones(1, 2, 4, 4), gw.ones(3, 2, 3, 3), padding="same"), 2 * 48 * 18),
    (lambda: gw.nn.functional.scaled_dot_product_attention(*[gw.ones(1, 2, 4, 8)] * 3), 1024),
    (lambda: gw.nn.functional.scaled_dot_product_attention(
        *[gw.ones(1, 2, 4, 8, requires_grad=True)] * 3), 1024),
    (lambda: gw.ones(2) + 1, 0),
])  # fmt: skip
def test_floating_point_operations(run: Callable[[], Any], flops: int) -> None:
    assert recorded_by(run, with_flops=True).events().total_average().flops == flops


def test_operations_of_an_op_that_raises_are_not_counted() -> None:
    def run() -> None:
        with pytest.raises(RuntimeError):
            gw.matmul(gw.ones(()), gw.ones(3))

    assert recorded_by(run, with_flops=True).events().total_average().flops == 0


# -- tables

def test_a_table_has_pytorchs_columns() -> None:
    recorded = recorded_by(lambda: gw.ones(2) * 3)
    lines = recorded.key_averages().table(sort_by="cpu_time_total", row_limit=1).splitlines()
    titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg",
              "# of Calls"]
    assert [title.strip() for title in lines[1].split("  ") if title.strip()] == titles
    assert lines[0] == lines[2] == lines[4] and set(lines[0]) == {"-", " "}
    assert len({len(line) for line in lines[:5]}) == 1
    assert lines[5].startswith("Self CPU time total: ")


def test_tables_are_sorted_and_limited() -> None:
    def run() -> None:
        for _ in range(3):
            gw.ones(2)
        gw.zeros(2)

    averages = recorded_by(run).key_averages()
    table = averages.table(sort_by="count", header="by calls", time_unit="ms")
    assert table.index("aten::ones") < table.index("aten::zeros")
    assert "by calls" in table and "us" not in table.split("Name")[1]
    assert "aten::zeros" not in averages.table(sort_by="count", row_limit=1)
    with pytest.raises(ValueError, match="is no metric; there are count, cpu_time"):
        averages.table(sort_by="speed")
    with pytest.raises(ValueError, match="is no metric"):
        averages.table(sort_by="cpu_time_str")
    with pytest.raises(ValueError, match="time_unit must be"):
        averages.table(time_unit="hours")


def test_only_the_outermost_events() -> None:
    def run() -> None:
        with record_function("outer"):
            gw.ones(2)

    table = recorded_by(run).events().table(top_level_events_only=True)
    assert "outer" in table and "aten::ones" not in table


# -- when it records

def test_a_schedule_records_its_active_steps_and_calls_back() -> None:
    ready: list[list[str]] = []
    plan = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    with profile(schedule=plan, on_trace_ready=lambda p: ready.append(names(p))) as recorded:
        for number in range(12):
            with record_function(f"work {number}"):
                pass
            recorded.step()
    steps = [["ProfilerStep#3", "work 3", "ProfilerStep#4", "work 4"],
             ["ProfilerStep#7", "work 7", "ProfilerStep#8", "work 8"]]
    assert ready == steps
    assert names(recorded) == steps[1]
    assert [e.count for e in recorded.key_averages() if e.key == "ProfilerStep*"] == [2]


def test_events_of_all_cycles() -> None:
    plan = schedule(wait=0, warmup=1, active=1)
    with profile(schedule=plan, acc_events=True) as recorded:
        for _ in range(4):
            recorded.step()
    assert names(recorded) == ["ProfilerStep#1", "ProfilerStep#3"]


def test_an_unfinished_cycle_is_ready_at_the_end() -> None:
    ready: list[int] = []
    with profile(schedule=schedule(wait=0, warmup=1, active=5),
                 on_trace_ready=lambda p: ready.append(p.step_num)) as recorded:
        recorded.step()
        recorded.step()
    assert ready == [2]


def test_what_schedules_say() -> None:
    plan = schedule(wait=2, warmup=1, active=1, repeat=1, skip_first_wait=1)
    assert [plan(step) for step in range(3)] == [
        ProfilerAction.WARMUP, ProfilerAction.RECORD_AND_SAVE, ProfilerAction.NONE]
    with pytest.raises(ValueError, match="active=0 must be at least 1"):
        schedule(wait=0, warmup=1, active=0)
    with pytest.warns(UserWarning, match="won't be using warmup"):
        schedule(wait=0, warmup=0, active=1)


def test_errors_in_the_block_end_the_profile() -> None:
    with pytest.raises(KeyError), profile() as recorded:
        gw.ones(2)
        raise KeyError
    assert names(recorded) == ["aten::ones"]
    assert names(recorded_by(lambda: None)) == []


def test_one_profile_at_a_time() -> None:
    with profile() as recorded:
        with pytest.raises(RuntimeError, match="a profile is active already"), profile():
            pass
        gw.ones(2)
    assert names(recorded) == ["aten::ones"]


def test_a_profile_is_stopped_once_and_may_be_started_anew() -> None:
    ready: list[int] = []
    with profile(on_trace_ready=lambda p: ready.append(len(p.events()))) as recorded:
        gw.ones(2)
        recorded.stop()
        gw.ones(2).relu()
    assert ready == [1]
    recorded.start()
    gw.ones(2).relu()
    recorded.stop()
    assert ready == [1, 2]


def test_a_schedule_that_meets_another_profile_or_raises() -> None:
    plan = schedule(wait=1, warmup=1, active=1)
    with profile(schedule=plan) as scheduled, profile() as other:
        with pytest.raises(RuntimeError, match="a profile is active already"):
            scheduled.step()
        gw.ones(2)
    assert names(other) == ["aten::ones"]

    def broken(step: int) -> ProfilerAction:
        return {0: ProfilerAction.RECORD}[step]

    with pytest.raises(KeyError), profile(schedule=broken) as recorded:
        recorded.step()
    assert names(recorded) == ["ProfilerStep#0"]


def test_what_a_profile_refuses() -> None:
    with pytest.raises(ValueError, match=r"activities must have ProfilerActivity\.CPU"):
        profile(activities=[ProfilerActivity.CUDA])
    with pytest.warns(UserWarning, match="CUDA is not available"):
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with pytest.raises(RuntimeError, match="there are no events yet"):
        profile().events()
    with pytest.raises(NotImplementedError, match="experimental_config"):
        profile(experimental_config=object())
    with pytest.raises(RuntimeError, match="nothing is recorded"):
        profile().stop_trace()


def test_the_older_profiler() -> None:
    with gw.autograd.profiler.profile(record_shapes=True) as recorded:
        gw.ones(2).relu()
    assert [e.name for e in recorded.function_events] == ["aten::ones", "aten::relu"]
    assert recorded.total_average().count == 2 and "aten::relu" in str(recorded)
    with gw.autograd.profiler.profile(enabled=False) as off:
        gw.ones(2)
    assert str(off) == "<unfinished profile>"
    with gw.autograd.profiler.profile() as running:
        assert str(running) == "<unfinished profile>"


def test_a_trace_is_prepared_and_started_by_hand() -> None:
    recorded = gw.profiler.profile()
    recorded.prepare_trace()
    gw.ones(2).sin()
    recorded.start_trace()
    gw.ones(2).cos()
    recorded.stop_trace()
    assert [event.name for event in recorded.events()] == ["aten::ones", "aten::cos"]


def test_a_label_does_not_end_a_graph() -> None:
    def f(x: gw.Tensor) -> gw.Tensor:
        with gw.profiler.record_function("part"):
            return x.sin() + 1

    stats = gw.explain(f)(gw.ones(2)).stats
    assert (stats.graphs, stats.breaks) == (1, 0)


def test_a_label_can_be_entered_within_itself() -> None:
    def run() -> None:
        label = gw.profiler.record_function("f")
        with label, label:
            pass
        gw.ones(2)

    outer, inner, op = recorded_by(run).events()
    assert inner.cpu_parent is outer and outer.cpu_parent is None and op.cpu_parent is None


# -- threads, processes

def test_all_threads_are_recorded() -> None:
    def run() -> None:
        thread = threading.Thread(target=lambda: gw.ones(2).relu(), name="worker")
        thread.start()
        thread.join()
        gw.zeros(2)

    recorded = recorded_by(run)
    threads = {event.name: event.thread for event in recorded.events()}
    assert threads["aten::ones"] == threads["aten::relu"] != threads["aten::zeros"]
    assert all(event.cpu_parent is None for event in recorded.events())


def test_a_label_that_another_thread_ends_leaves_that_ones_alone() -> None:
    def run() -> None:
        label = record_function("begun here")
        label.__enter__()

        def other() -> None:
            with record_function("there"):
                label.__exit__(None, None, None)
                gw.ones(2)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()

    recorded = recorded_by(run)
    assert find(recorded, "aten::ones").cpu_parent.name == "there"


def test_threads_that_start_and_stop_profiles_at_once() -> None:
    done: list[int] = []

    def work() -> None:
        for _ in range(300):
            with record_function("work"):
                gw.ones(10).relu()
        done.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        events = recorded_by(lambda: None, profile_memory=True, record_shapes=True).events()
        assert all(event.cpu_time_total >= 0 for event in events)
    assert len(done) == 3


def program(source: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([sys.executable, "-c", source], capture_output=True, text=True,
                          env=environment, timeout=60)


@pytest.mark.parametrize("source", [
    "p.start(); gw.ones(2).relu()",
    "p.start(); r.__enter__(); gw.ones(2); import os; os.fork() or os._exit(0); os.wait()",
    "p.start(); import threading; threading.Thread(target=lambda: r.__enter__()).start()",
    "import atexit; atexit.register(lambda: (p.start(), gw.ones(2)))",
])  # fmt: skip
def test_a_profile_that_is_never_stopped_is_no_crash(source: str) -> None:
    head = "import graphwright as gw; p = gw.profiler.profile(with_stack=True, record_shapes=True"
    ran = program(f"{head}, profile_memory=True); r = gw.profiler.record_function('x'); {source}")
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_forked_process_records_nothing() -> None:
    ran = program(
        "import os, graphwright as gw\n"
        "from graphwright.runtime import _core\n"
        "with gw.profiler.profile():\n"
        "    if os.fork() == 0:\n"
        "        os._exit(3 if _core.is_profiling() else 0)\n"
        "    print(os.waitstatus_to_exitcode(os.wait()[1]))\n")
    assert (ran.stdout, ran.returncode) == ("0\n", 0)


def test_pytorchs_modules_are_these(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import graphwright.as_torch\n"
        "import torch\n"
        "from torch.profiler import profile, record_function, ProfilerActivity, schedule\n"
        "from torch.profiler import tensorboard_trace_handler\n"
        "import torch.autograd.profiler as older\n"
        "from torch.autograd.profiler_util import FunctionEvent\n"
        "from torch.utils.benchmark import Timer, Compare\n"
        "from torch.utils.tensorboard import SummaryWriter\n"
        "import torch.utils.benchmark as benchmark, torch.utils.collect_env\n"
        "assert 'CPU' in torch.utils.collect_env.get_pretty_env_info()\n"
        "assert benchmark.Timer('torch.ones(2)', 'import torch').timeit(2).median > 0\n"
        "with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:\n"
        "    with record_function('model_inference'):\n"
        "        torch.ones(2).relu()\n"
        "assert 'model_inference' in prof.key_averages().table(sort_by='cpu_time_total')\n"
        "with torch.autograd.profiler.record_function('x'):\n"
        "    pass\n"
        "assert older.record_function is record_function\n")
    ran = program(path.read_text())
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_page_about_profiling_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "profiling.md").read_text()
    names: dict[str, Any] = {}
    exec(page.split("```python\n")[1].split("```")[0], names)
    found = {event.key for event in names["recorded"].key_averages()}
    table = page.split("| name | what it is |")[1].split("What is not there")[0]
    explained = {name for row in table.splitlines() if row.startswith("| `")
                 for name in row.split(" | ")[0].split("`")[1::2]}
    of_eager_steps = {name for name in explained if not name.startswith((
        "compiled::", "guards::", "graph::", "kernel::", "compile::", "ProfilerStep#"))}
    assert len(of_eager_steps) > 5 and of_eager_steps <= found
    assert "Self CPU time total" in capsys.readouterr().out and (tmp_path / "trace.json").exists()


@pytest.mark.parametrize("documented", [
    profile, record_function, schedule, gw.autograd.profiler.profile, gw.utils.benchmark.Timer,
    gw.utils.benchmark.Compare, gw.utils.benchmark.trim_sigfig,
], ids=lambda documented: documented.__qualname__)  # fmt: skip
def test_examples_of_docstrings(documented: Any) -> None:
    assert failures(documented.__doc__, documented.__qualname__) == []
