"""Files and folders that only this user can open, under names that nobody guesses.

`tempfile` draws its names from `random`, whose methods programs replace to know what is drawn.
`shutil` is imported where it is used: it brings the modules of all archive formats.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from graphwright.codegen.target import CompilerMissing

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PLACES = ("/tmp", "/var/tmp", os.curdir)


def new_file(folder: str) -> tuple[int, str]:
    """Make a hidden file in `folder`: its descriptor, for writing, and its path."""
    path = os.path.join(folder, f".new-{os.getpid()}-{os.urandom(8).hex()}")
    return os.open(path, _FLAGS, 0o600), path


@contextlib.contextmanager
def compilers_folder() -> Iterator[str]:
    """A folder that goes with the context, in TMPDIR or else where temporary files usually are.

    Raises: CompilerMissing if it can be made nowhere, or what is done with its files fails.
    """
    try:
        folder = _new_folder()
        try:
            yield folder
        finally:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise CompilerMissing(
            f"the files of the C backend cannot be written or opened: {error}: set TMPDIR to a "
            "folder with room for programs, or use backend='llvm', which needs none"
        ) from error


def _new_folder() -> str:
    name = f"graphwright-{os.getpid()}-{os.urandom(8).hex()}"
    named = os.environ.get("TMPDIR")
    refused: OSError | None = None
    for place in (named, *_PLACES) if named else _PLACES:
        path = os.path.abspath(os.path.join(place, name))
        try:
            os.mkdir(path, 0o700)
        except OSError as error:
            refused = refused or error
        else:
            return path
    assert refused is not None
    raise refused
