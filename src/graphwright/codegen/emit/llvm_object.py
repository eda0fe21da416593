"""LLVM IR to machine code, through llvmlite (imported when first needed)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from graphwright.codegen.target import CompilerMissing, Machine, detected
from graphwright.runtime.locks import held_while_forking

_LLVM = held_while_forking()


def _binding() -> Any:
    """llvmlite's module. Raises CompilerMissing where it, or its library, cannot be loaded."""
    try:
        import llvmlite.binding as llvm
    except (ImportError, OSError) as error:
        raise CompilerMissing(
            f"LLVM cannot be loaded: {type(error).__name__}: {error}. backend='c' compiles "
            "without it, backend='eager' runs graphs as they are."
        ) from error
    return llvm


@lru_cache(maxsize=4)
def _target_machine(machine: Machine) -> Any:
    """LLVM's code generator for `machine`: position-independent, small code model."""
    llvm = _binding()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    if machine == detected():
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    else:
        cpu, features = "x86-64" if machine.arch == "x86_64" else "generic", _features(machine)
    return target.create_target_machine(
        cpu=cpu, features=features, opt=2, reloc="pic", codemodel="small",
    )


def _features(machine: Machine) -> str:
    """LLVM's names for the features of a machine that is not this one."""
    known = {"avx2", "avx", "fma", "f16c", "sse4_1", "sse4_2", "avx512f", "avx512bw",
             "avx512dq", "avx512vl", "ssse3"}
    chosen = sorted(f.replace("sse4_", "sse4.") for f in machine.features & known)
    return ",".join("+" + name for name in chosen)


def _parsed(text: str) -> Any:
    llvm = _binding()
    module = llvm.parse_assembly(text)
    module.verify()
    return module


def object_code(text: str, machine: Machine) -> bytes:
    """A relocatable ELF object of the module `text`."""
    with _LLVM:
        return bytes(_target_machine(machine).emit_object(_parsed(text)))


def assembly(text: str, machine: Machine) -> str:
    """The assembly of the module `text`."""
    with _LLVM:
        return str(_target_machine(machine).emit_assembly(_parsed(text)))
