"""Exported programs as files: a zip of `program.json` and `weights.safetensors`, uncompressed, so
that weights are mapped."""

from __future__ import annotations

import json
import os
from io import BytesIO
from typing import Any, BinaryIO

from graphwright.export.encoding import decoded, encoded
from graphwright.export.errors import ExportError, InvalidProgram
from graphwright.export.exported_program import ExportedProgram, require_cpu
from graphwright.nn.parameter import Parameter
from graphwright.runtime.tensor.tensor import Tensor
from graphwright.saving.archive import Archive, archived
from graphwright.saving.files import Reader, content_of, encoded_tensors, write_atomically

PROGRAM, WEIGHTS = "program.json", "weights.safetensors"
_LONGEST = 1 << 30
Path = str | os.PathLike[str]


def save(ep: ExportedProgram, f: Path | BinaryIO, **options: Any) -> None:
    """Write an exported program to one file.

    The file appears whole or not at all. It holds the graph as JSON and the weights as
    safetensors; nothing in it is pickled.

    Args:
        ep: the program.
        f: a path, by convention ending in .gwx, or a binary file object.

    Raises:
        ExportError: the graph has what a file cannot hold: an op of your own, or tensors on GPUs.
        TypeError: `ep` is no ExportedProgram, or an option is given.

    Example:
        >>> import io
        >>> program = gw.export.export(gw.nn.Linear(2, 3), (gw.ones(1, 2),))
        >>> file = io.BytesIO()
        >>> gw.export.save(program, file)
    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError(f"save takes an ExportedProgram, not {type(ep).__name__}")
    if options:
        raise TypeError(f"save: graphwright takes no option '{next(iter(options))}'")
    require_cpu(ep, "files hold programs of the CPU")
    tensors = {**ep.state_dict, **ep.constants}
    trained = [name for name, tensor in tensors.items() if tensor.requires_grad]
    try:
        weights = b"".join(encoded_tensors(tensors, {"requires_grad": json.dumps(trained)}))
    except TypeError as error:
        raise ExportError(str(error)) from None
    parts = archived([(PROGRAM, encoded(ep._recording).encode()), (WEIGHTS, weights)])
    if isinstance(f, str | os.PathLike):
        write_atomically(f, parts)
    else:
        f.writelines(parts)


def load(f: Path | BinaryIO | bytes, **options: Any) -> ExportedProgram:
    """Read an exported program that `save` wrote, without its source.

    No code of the file's choice runs: it names ops of graphwright's table, sizes and tensors.

    Args:
        f: a path, whose weights are mapped and read when they are first used, a binary file
            object, or bytes.

    Returns: the program.

    Raises:
        InvalidProgram: (a ValueError) the file is damaged, forged or of a newer format.
        OSError: the file cannot be read.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> gw.export.save(gw.export.export(gw.nn.ReLU(), (gw.ones(2),)), file)
        >>> gw.export.load(file.getvalue()).module()(gw.tensor([-1.0, 2.0]))
        tensor([0., 2.])
    """
    if options:
        raise TypeError(f"load: graphwright takes no option '{next(iter(options))}'")
    mapped = isinstance(f, str | os.PathLike)
    content = content_of(BytesIO(f) if isinstance(f, bytes) else f, mapped)
    try:
        archive = Archive(content)
        names = set(archive.records) - {".data/serialization_id"}
        if names != {PROGRAM, WEIGHTS}:
            raise InvalidProgram("the file is no exported program: it has to hold "
                                 f"{PROGRAM} and {WEIGHTS}")
        begin, end = archive.records[PROGRAM]
        if end - begin > _LONGEST:
            raise InvalidProgram(f"the program takes {end - begin} bytes, more than {_LONGEST}")
        text = archive.text(PROGRAM).decode("utf-8")
        if not mapped:
            archive.check(WEIGHTS)
        weights = Reader(archive.array(WEIGHTS), mapped)
        trained = json.loads(weights.metadata.get("requires_grad", "[]"))
    except InvalidProgram:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidProgram(f"the file is no exported program, or damaged: {error}") from None
    return ExportedProgram(decoded(text, _state(weights, trained)))


def _state(weights: Reader, trained: Any) -> dict[str, Tensor]:
    if type(trained) is not list or not all(
            type(name) is str and name in weights.entries for name in trained):
        raise InvalidProgram("the weights name parameters that they do not have")
    state: dict[str, Tensor] = {}
    for name, tensor in weights.tensors().items():
        if name in trained and not tensor.dtype.is_floating_point and not tensor.dtype.is_complex:
            raise InvalidProgram(f"'{name}' cannot have a gradient")
        state[name] = Parameter(tensor) if name in trained else tensor
    return state
