"""The folders that compilers work in.

`tempfile` draws its names from `random`, whose methods programs replace to know what is drawn.
`shutil` is imported where it is used: it brings the modules of all archive formats.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from graphwright.codegen.target import CompilerMissing
from graphwright.runtime.temporary import new_folder, remove_stale_once

_PLACES = ("/tmp", "/var/tmp", os.curdir)


@contextlib.contextmanager
def private_folder() -> Iterator[str]:
    """A folder that goes with the context, in TMPDIR or else where temporary files usually are.

    Raises: OSError if it can be made nowhere.
    """
    lock, folder = _new_folder()
    try:
        yield folder
    finally:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


@contextlib.contextmanager
def compilers_folder() -> Iterator[str]:
    """A folder for the C backend, see `private_folder`.

    Raises: CompilerMissing if it can be made nowhere, or what is done with its files fails.
    """
    try:
        with private_folder() as folder:
            yield folder
    except OSError as error:
        raise CompilerMissing(
            f"the files of the C backend cannot be written or opened: {error}: set TMPDIR to a "
            "folder with room for programs, or use backend='llvm', which needs none"
        ) from error


def _new_folder() -> tuple[int, str]:
    named = os.environ.get("TMPDIR")
    refused: OSError | None = None
    for place in (named, *_PLACES) if named else _PLACES:
        try:
            made = new_folder(place, f"graphwright-{os.getpid()}-")
        except OSError as error:
            refused = refused or error
        else:
            remove_stale_once(place, "graphwright-[0-9]+-")
            return made
    assert refused is not None
    raise refused
