"""A process that compiles Triton kernels: requests come from a socket, answers go into it.

It is run by its path, with the folders to import from as its arguments. It knows Python's library
and Triton alone: nothing of the program that asks is imported, and nothing is unpickled. A request
is JSON, see `build`. An answer is a header in JSON, PTX and machine code, as the kernel cache has
them; or a header with an `error`.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket

_SIZE = struct.Struct("!Q")
_READ_BY_TRITON = ("TRITON_", "PTXAS_", "NVPTX_", "LLVM_", "MLIR_", "DISABLE_", "USE_", "ALLOW_")
"""How the names of variables begin that change what Triton makes. A request has its own."""


# -- messages -------------------------------------------------------------------------------------

def send(channel: socket.socket, message: bytes) -> None:
    """Send a message whole. Raises: OSError where nobody takes it."""
    channel.sendall(_SIZE.pack(len(message)) + message)


def receive(channel: socket.socket) -> bytes | None:
    """The next message that was sent; None where the other end is closed."""
    head = _exactly(channel, _SIZE.size)
    return None if head is None else _exactly(channel, *_SIZE.unpack(head))


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    found = bytearray()
    while len(found) < size:
        part = channel.recv(min(size - len(found), 1 << 20))
        if not part:
            return None
        found += part
    return bytes(found)


def pack(header: dict[str, Any], ptx: bytes = b"", cubin: bytes = b"") -> bytes:
    """An answer."""
    head = json.dumps({**header, "ptx": len(ptx)}).encode()
    return _SIZE.pack(len(head)) + head + ptx + cubin


def unpack(answer: bytes) -> tuple[dict[str, Any], bytes, bytes]:
    """The header, the PTX and the machine code of an answer."""
    start = _SIZE.size + _SIZE.unpack_from(answer)[0]
    header = json.loads(answer[_SIZE.size:start])
    end = start + header.pop("ptx")
    return header, answer[start:end], answer[end:]


def error_in(answer: bytes) -> str | None:
    """Why there is no machine code, in an answer that has none."""
    error: str | None = unpack(answer)[0].get("error")
    return error


# -- compilation ----------------------------------------------------------------------------------

def build(request: dict[str, Any]) -> bytes:
    """Compile one kernel.

    request: the `name` and `source` of the kernel; `signature`, its parameters with their types as
    Triton spells them; `constants`, the values of those of type "constexpr"; `aligned`, the
    positions of pointers and sizes that 16 divides; `arch`, the compute capability; `options` of
    Triton; `variables` of the environment; `folder`, where files may be written.
    """
    import contextlib
    import io
    import tempfile

    for name in [name for name in os.environ if name.startswith(_READ_BY_TRITON)]:
        del os.environ[name]
    os.environ.update(request["variables"], TRITON_DUMP_PTXAS_LOG="1")
    tempfile.tempdir = request["folder"]
    with (tempfile.TemporaryDirectory() as cache, io.StringIO() as log,
          contextlib.redirect_stdout(log)):
        os.environ["TRITON_CACHE_DIR"] = cache
        return _compiled(request, log)


def _compiled(request: dict[str, Any], log: Any) -> bytes:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    types: dict[str, str] = request["signature"]
    source = ASTSource(
        fn=_function(request["name"], request["source"]), signature=types,
        constexprs=request["constants"],
        attrs={(place,): [["tt.divisibility", 16]] for place in request["aligned"]})
    done = triton.compile(source, target=GPUTarget("cuda", request["arch"], 32),
                          options=request["options"])
    made = done.metadata
    header = {"name": made.name, "num_warps": made.num_warps, "shared_bytes": made.shared,
              "scratch_bytes": made.global_scratch_size, **_resources(log.getvalue()),
              "signature": [kind for kind in types.values() if kind != "constexpr"],
              "triton": triton.__version__}
    return pack(header, done.asm["ptx"].encode(), done.asm["cubin"])


def _function(name: str, source: str) -> Any:
    """The kernel's function as Triton sees it; `inspect` finds its source in `linecache`."""
    import linecache

    filename = f"<graphwright triton {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": f"graphwright_triton_{name}"}
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


def _resources(log: str) -> dict[str, int | None]:
    """What the assembler reports: registers of a thread, and bytes spilled from them."""
    import re

    used = [int(number) for number in re.findall(r"Used (\d+) registers", log)]
    spilled = [int(stores) + int(loads) for stores, loads in re.findall(
        r"(\d+) bytes spill stores, (\d+) bytes spill loads", log)]
    return {"registers": max(used, default=None), "spill_bytes": sum(spilled) if used else None}


def _reason(error: BaseException) -> str:
    """What Triton or its assembler says, and of which line of the kernel."""
    while type(error.__cause__) is type(error):     # an error in a function that the kernel calls
        error = error.__cause__
    text = getattr(error, "error_message", None) or str(error)
    source = getattr(error, "src", None)
    line = getattr(getattr(error, "node", None), "lineno", None)
    if source is not None and line is not None:
        text += f"\nat: {source.splitlines()[line - 1].strip()}"
    return f"{type(error).__name__}: {text}"


# -- the process ----------------------------------------------------------------------------------

def main() -> None:
    """Answer requests until the other end of the socket, which is standard input, is closed."""
    import socket
    import threading

    sys.path[:] = sys.argv[1:]
    channel = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    threading.Thread(target=_end_with, args=(channel,), daemon=True).start()
    while (message := receive(channel)) is not None:
        try:
            answer = build(json.loads(message))
        except Exception as error:
            answer = pack({"error": _reason(error)})
        send(channel, answer)


def _end_with(channel: socket.socket) -> None:
    """End this process, and the assembler that it runs, when the other end is closed."""
    import select
    import signal

    poll = select.poll()
    poll.register(channel, 0)
    poll.poll()
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main()
