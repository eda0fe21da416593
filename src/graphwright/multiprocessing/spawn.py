"""Starting several processes that run one function, and waiting for all of them."""

from __future__ import annotations

import ctypes
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from multiprocessing import connection, parent_process
from typing import Any

from graphwright.multiprocessing.context import get_context

_PATIENCE = 30.0
"""Seconds until processes that were asked to end are killed."""
_LONGEST = 1 << 16
"""Characters of a traceback, its last, that a process can send without being waited for."""
_PR_SET_PDEATHSIG = 1


class ProcessException(Exception):
    """One of several processes failed: number `error_index`, whose id was `error_pid`."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.error_pid = msg, error_index, error_pid

    def __reduce__(self) -> Any:
        return type(self), (self.msg, self.error_index, self.error_pid)


class ProcessRaisedException(ProcessException):
    """The function raised an exception; the message has its traceback."""


class ProcessExitedException(ProcessException):
    """The process ended otherwise: with `exit_code`, or by the signal `signal_name`."""

    def __init__(
        self,
        msg: str,
        error_index: int,
        error_pid: int,
        exit_code: int,
        signal_name: str | None = None,
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> Any:
        parts = self.msg, self.error_index, self.error_pid, self.exit_code, self.signal_name
        return type(self), parts


def _run(function: Callable[..., Any], index: int, args: tuple[Any, ...], report: Any) -> None:
    """What a process does; where the function raises, the traceback is sent and 1 is the code."""
    _end_with_parent()
    try:
        function(index, *args)
    except KeyboardInterrupt:       # the parent has it too
        pass
    except Exception:
        report.send(traceback.format_exc()[-_LONGEST:])
        sys.exit(1)


def _end_with_parent() -> None:
    """This process is interrupted when its parent ends, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
        parent = parent_process()
        if parent is not None and not parent.is_alive():
            sys.exit(1)


def end_all(processes: Sequence[Any], willing: float, asked: float) -> None:
    """End processes, which have `willing` seconds to do so by themselves, then `asked` to do so
    when they are terminated, before they are killed."""
    for seconds, terminates in ((willing, False), (asked, True)):
        for process in processes if terminates else ():
            process.terminate()
        end = time.monotonic() + seconds
        for process in processes:
            process.join(max(0.0, end - time.monotonic()))
    for process in processes:
        process.kill()
        process.join()


class ProcessContext:
    """Processes that run together. `processes` are they, by index."""

    def __init__(self, processes: Sequence[Any], reports: Sequence[Any]) -> None:
        self.processes, self._reports = list(processes), list(reports)
        self.sentinels = {process.sentinel: i for i, process in enumerate(self.processes)}

    def pids(self) -> list[int]:
        """The ids of the processes."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process ends, and say whether all have ended well.

        If one failed, the others are ended and an exception says why it did.

        Args:
            timeout: seconds to wait; None waits until one ends.
            grace_period: seconds that the others have to end by themselves, and then again to
                end when they are asked to, before they are killed.

        Raises:
            ProcessRaisedException: the function raised.
            ProcessExitedException: the process ended by a signal, or with a code other than 0.
        """
        if not self.sentinels:
            return True
        failed = None
        for sentinel in connection.wait(list(self.sentinels), timeout):
            index = self.sentinels.pop(sentinel)
            self.processes[index].join()
            if self.processes[index].exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        end_all(self.processes, grace_period or 0.0,
                _PATIENCE if grace_period is None else grace_period)
        raise self._failure(failed)

    def _failure(self, index: int) -> ProcessException:
        process = self.processes[index]
        try:
            report = self._reports[index].recv()
        except EOFError:
            pass
        else:
            message = f"\n\n-- Process {index} terminated with the following error:\n{report}"
            return ProcessRaisedException(message, index, process.pid)
        code, name = process.exitcode, None
        if code < 0:
            known = {int(each): each.name for each in signal.Signals}
            name = known.get(-code, f"<Unknown signal {-code}>")
        how = f"exit code {code}" if name is None else f"signal {name}"
        message = f"process {index} terminated with {how}"
        return ProcessExitedException(message, index, process.pid, code, name)


def start_processes(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """As `spawn`, with any start method. Raises ValueError for one that there is not."""
    context = get_context(start_method)
    processes, reports = [], []
    for index in range(nprocs):
        report, end = context.Pipe(duplex=False)
        process = context.Process(
            target=_run, args=(fn, index, args, end), daemon=daemon
        )
        process.start()
        end.close()
        processes.append(process)
        reports.append(report)
    started = ProcessContext(processes, reports)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: tuple[Any, ...] = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Run `fn(i, *args)` in `nprocs` new processes, i from 0 on.

    Args:
        fn: a function at the top level of a module, which a new process can import.
        join: wait until all have ended; None is returned. Without, the ProcessContext is.
        daemon: the processes end with this one, and start none themselves.
        start_method: "spawn"; `start_processes` takes others. A FutureWarning says so.

    Raises:
        ProcessRaisedException, ProcessExitedException: see `ProcessContext.join`.
    """
    if start_method != "spawn":
        warnings.warn(
            f"spawn() starts processes by 'spawn', not {start_method!r}: use "
            "graphwright.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon)
