"""`compile_program`: a `NativeProgram` as loaded machine code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from graphwright.codegen.emit.llvm import LLVMBuilder
from graphwright.codegen.emit.llvm_object import assembly, object_code
from graphwright.codegen.emit.walker import emit_program
from graphwright.codegen.program import NativeProgram
from graphwright.codegen.target import Machine, host
from graphwright.runtime import _core


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


@dataclass(frozen=True, slots=True)
class LoadedProgram:
    """Entry points of a loaded program (addresses), and what keeps them valid."""

    run_address: int
    shapes_address: int
    keepalive: object
    sources: Mapping[str, str]


def llvm_text(program: NativeProgram, machine: Machine) -> str:
    """The program as LLVM IR."""
    return emit_program(program, LLVMBuilder(machine))


def compile_program(
    program: NativeProgram, target: str, machine: Machine | None = None,
) -> LoadedProgram:
    """Compile and load `program`.

    Args:
        target: "llvm" or "c".
        machine: the CPU to emit for; this one by default.

    Raises: CompilerMissing for target "c" where there is no C compiler.
    """
    machine = machine or host()
    text = llvm_text(program, machine)
    code = _core.load_object(object_code(text, machine))
    sources = Sources({"llvm": lambda: text, "asm": lambda: assembly(text, machine)})
    return LoadedProgram(code.address("run"), code.address("shapes"), code, sources)
