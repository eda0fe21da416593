"""`compile_program`: a `NativeProgram` as loaded machine code, from the cache where it is known.

The key is made from the program itself, so that a hit needs neither the emitters nor llvmlite nor
a compiler: what only a miss needs is imported by it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from importlib.util import find_spec

from graphwright.codegen.cache import kernel_cache
from graphwright.codegen.cache_key import Canonical, canonical
from graphwright.codegen.private_files import compilers_folder
from graphwright.codegen.program import NativeProgram
from graphwright.codegen.target import Machine, find_compiler, host
from graphwright.runtime import _core
from graphwright.runtime.record import Record


class Sources(Mapping[str, str]):
    """The texts of a program's stages, made when asked for."""

    def __init__(self, makers: dict[str, Callable[[], str]]) -> None:
        self._makers = makers

    def __getitem__(self, stage: str) -> str:
        return self._makers[stage]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


class LoadedProgram(Record):
    """Entry points of a loaded program (addresses), and what keeps them valid.

    key: of its code in the kernel cache.
    """

    run_address: int
    shapes_address: int
    keepalive: object
    sources: Mapping[str, str]
    key: str = ""


def llvm_text(
    program: NativeProgram, machine: Machine | None = None, form: Canonical | None = None,
) -> str:
    """The program as LLVM IR. `form` is its canonical form, if it is at hand."""
    from graphwright.codegen.emit.llvm import LLVMBuilder
    from graphwright.codegen.emit.walker import emit_program

    form = form or canonical(program)
    return emit_program(program, LLVMBuilder(machine or host()), form.kinds)


def c_text(
    program: NativeProgram, machine: Machine | None = None, form: Canonical | None = None,
) -> str:
    """The program as C."""
    from graphwright.codegen.emit.c import CBuilder
    from graphwright.codegen.emit.walker import emit_program

    form = form or canonical(program)
    return emit_program(program, CBuilder(machine or host()), form.kinds)


def asm_text(program: NativeProgram, machine: Machine | None = None) -> str:
    """The program as assembly, through LLVM."""
    from graphwright.codegen.emit.llvm_object import assembly

    return assembly(llvm_text(program, machine), machine or host())


def compile_program(
    program: NativeProgram, target: str, machine: Machine | None = None,
) -> LoadedProgram:
    """Compile and load `program`.

    Args:
        target: "llvm" or "c".
        machine: the CPU to emit for; this one by default.

    Raises: CompilerMissing for target "c" where there is no working C compiler.
    """
    machine = machine or host()
    form, cache = canonical(program), kernel_cache()
    key = _key(form.text, target, machine)
    payload = cache.get(key)
    if payload is None:
        payload = _build(program, target, machine, form)
        cache.put(key, payload)
    text = c_text if target == "c" else llvm_text
    sources = Sources({
        target: partial(text, program, machine), "asm": partial(asm_text, program, machine),
    })
    return _loaded(key, payload, target, sources)


def load_program(key: str, target: str) -> LoadedProgram | None:
    """The program whose code the kernel cache has under `key`, without its sources; None where
    the cache has it no more."""
    payload = kernel_cache().get(key)
    return None if payload is None else _loaded(key, payload, target, {})


def _loaded(
    key: str, payload: bytes, target: str, sources: Mapping[str, str]
) -> LoadedProgram:
    code = Library(payload) if target == "c" else _core.load_object(payload)
    return LoadedProgram(code.address("run"), code.address("shapes"), code, sources, key)


def _build(program: NativeProgram, target: str, machine: Machine, form: Canonical) -> bytes:
    if target == "c":
        from graphwright.codegen.emit.c_object import shared_library

        compiler = find_compiler()
        return shared_library(c_text(program, machine, form), machine, compiler)
    from graphwright.codegen.emit.llvm_object import object_code

    return object_code(llvm_text(program, machine, form), machine)


class Library:
    """A shared library, opened through cffi; closed with the last reference."""

    def __init__(self, payload: bytes) -> None:
        """Open it from memory: the loader needs a name only while it opens it."""
        from cffi import FFI

        self._ffi = FFI()
        with compilers_folder() as folder:
            path = os.path.join(folder, hashlib.sha256(payload).hexdigest() + ".so")
            with open(path, "wb") as file:
                file.write(payload)
            try:
                self._library = self._ffi.dlopen(path, self._ffi.RTLD_NOW | self._ffi.RTLD_LOCAL)
            except OSError as error:
                reason = str(error).partition(".  Additionally")[0]
                raise OSError(f"cannot load native code: {reason}") from None

    def address(self, symbol: str) -> int:
        """Where a function lies, valid while this lives. Raises KeyError where there is none."""
        self._ffi.cdef(f"void {symbol}(void);", override=True)
        try:
            function = self._ffi.addressof(self._library, symbol)
        except AttributeError:
            raise KeyError(f"no symbol '{symbol}' in the native code") from None
        return int(self._ffi.cast("uintptr_t", function))


# -- the cache's key ------------------------------------------------------------------------------

def _key(text: str, target: str, machine: Machine) -> str:
    """The name of all that decides the code."""
    return hashlib.sha256("\0".join((text, *builder(target, machine))).encode()).hexdigest()


def builder(target: str, machine: Machine) -> tuple[str, ...]:
    """What decides the code of a program beside its text: emitters, tools, machine, ABI."""
    if target == "c":
        from graphwright.codegen.emit.c_object import flags

        tool = f"{find_compiler().identity} {' '.join(flags(machine))}"
    else:
        tool = _module_identity("llvmlite")
    return target, machine.key(), tool, sources_identity("codegen"), str(_core.ABI_VERSION)


def _stamp(path: str) -> str:
    status = os.stat(path)
    return f"{os.path.basename(path)} {status.st_size} {status.st_mtime_ns}"


@lru_cache(maxsize=8)
def _module_identity(name: str) -> str:
    """What changes when another version of a module is installed, without importing it."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        return "none"
    folder = os.path.dirname(spec.origin)
    paths = (os.path.join(folder, file) for file in ("__init__.py", "_version.py"))
    return " ".join(_stamp(path) for path in paths if os.path.exists(path))


@lru_cache(maxsize=32)
def sources_identity(package: str) -> str:
    """What changes when a module below `graphwright.PACKAGE` does."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    return "\n".join(sorted(_stamps(os.path.join(root, package))))


def _stamps(folder: str) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _stamps(entry.path)
            elif entry.name.endswith((".py", ".so")):
                status = entry.stat()
                yield f"{entry.name} {status.st_size} {status.st_mtime_ns}"
