"""An exported program as one shared library that needs neither Python nor BLAS."""

from __future__ import annotations

import os
import re
from pathlib import Path

from graphwright.export.exported_program import ExportedProgram, require_cpu
from graphwright.export.packaging.linking import LINKERS, linked
from graphwright.export.packaging.source import EMBEDDED, Source
from graphwright.export.packaging.targets import NATIVE, target_of
from graphwright.runtime.record import Record
from graphwright.saving.files import write_atomically

_KEYWORDS = frozenset(re.findall(r"\w+", """
    auto break case char const continue default do double else enum extern float for goto if inline
    int long register restrict return short signed sizeof static struct switch typedef union
    unsigned void volatile while"""))


class Package(Record):
    """The files of a package. weights: None where they are embedded in the library."""

    library: Path
    header: Path
    weights: Path | None

    @property
    def files(self) -> tuple[Path, ...]:
        """Those that there are."""
        return tuple(path for path in (self.library, self.header, self.weights)
                     if path is not None)


def package(
    program: ExportedProgram, path: str | os.PathLike[str], *, target: str = NATIVE,
    linker: str = "auto", embed_weights: bool = False,
) -> Package:
    """Write NAME.so, NAME.h and NAME.safetensors: a library for C that runs an exported program.

    The library depends on libc alone. A training step keeps its parameters and optimiser's state
    in the model, which C saves and loads, and Python's `gw.load_file` reads.

    Args:
        program: from `gw.export.export` or `gw.export.load`.
        path: where the files go, without their suffixes; the last part is the prefix of the C
            functions.
        target: the processor: "native" (default), this machine's; "x86-64", "x86-64-v3" (AVX2) or
            "x86-64-v4" (AVX-512); or "aarch64", for Linux.
        linker: what compiles and links: "cc", the C compiler (or what the variable CC names);
            "zig", that of ziglang (extra `package`), for all targets; or "auto" (default), cc
            where it makes code for the target, else zig.
        embed_weights: whether the library has the weights; then no other file is needed.

    Returns: the paths of the files.

    Raises:
        ExportError: the program has an op that only runs in Python, a product of bfloat16 or
            tensors on GPUs, or 2 GB of weights or more are to be embedded.
        CompilerMissing: there is no working compiler for the target.
        ValueError: the last part of the path is no identifier of C, or the target or linker is
            unknown.
    """
    place = Path(path)
    name = place.name
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name in _KEYWORDS:
        raise ValueError(f"{name!r} cannot begin the names of C functions")
    if not isinstance(program, ExportedProgram):
        raise TypeError(f"package takes an ExportedProgram, not {type(program).__name__}")
    require_cpu(program, "packages run on the CPU")
    if linker not in LINKERS:
        raise ValueError(f"{linker!r} is no linker: these are {', '.join(LINKERS)}")
    made_for = target_of(target)
    source = Source(program, name, made_for.machine, embed_weights)
    files = {EMBEDDED: source.weights} if embed_weights else {}
    library = linked(source.text, made_for, linker, files)
    made = Package(place.with_name(f"{name}.so"), place.with_name(f"{name}.h"),
                   None if embed_weights else place.with_name(f"{name}.safetensors"))
    write_atomically(made.library, [library])
    os.chmod(made.library, 0o755)
    write_atomically(made.header, [source.header.encode()])
    if made.weights is not None:
        write_atomically(made.weights, source.weights)
    return made
