"""The example programs in C: digits learnt and read, for this machine and under checkers."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import graphwright as gw
from graphwright.codegen.target import find_compiler
from graphwright.export.packaging import linking
from graphwright.runtime.record import replace

from .packaged import CC, built, done, written

pytestmark = pytest.mark.skipif(CC is None, reason="there is no C compiler")


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("digits"))


def test_a_c_program_learns_to_read_digits(digits: Path) -> None:
    """Trained from scratch by one C program, read by another: at least 97 % right."""
    lines = done([built(digits, "train", "learn"), digits, 14]).splitlines()
    losses = [float(line.rpartition(" ")[2]) for line in lines]
    assert losses[-1] < 0.1 < losses[0]
    reader = built(digits, "classify", "classify")
    trained = digits / "trained.safetensors"
    assert float(done([reader, digits, trained])) >= 0.97
    assert float(done([reader, digits, digits / "classify.safetensors"])) < 0.5
    done([reader, digits, digits / "digits.bin"], lambda status: status == 1)
    assert gw.load_file(str(trained))["net.last.weight"].shape == (10, 128)


def fewer(folder: Path) -> Path:
    """The same packages with 96 of the images: 64 to learn from, and 32."""
    counts, pixels = 2 * 8, 64 * 4
    content = (folder / "digits.bin").read_bytes()
    every = sum(np.frombuffer(content, np.int64, 2))
    labels = counts + every * pixels
    (folder / "digits.bin").write_bytes(
        np.array([64, 32], np.int64).tobytes() + content[counts: counts + 96 * pixels]
        + content[labels: labels + 96 * 8])
    return folder


def test_under_the_address_sanitizer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs and libraries both."""
    flags = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
    compiler = find_compiler()
    watched = replace(compiler, command=(*compiler.command, *flags))
    monkeypatch.setattr(linking, "find_compiler", lambda: watched)
    digits = fewer(written(tmp_path))
    done([built(digits, "train", "learn", *flags), digits, 1])
    done([built(digits, "classify", "classify", *flags), digits, digits / "classify.safetensors"])


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")
def test_under_valgrind(tmp_path: Path) -> None:
    """Which knows no AVX-512."""
    digits = fewer(written(tmp_path, "x86-64-v3"))
    check = ["valgrind", "--error-exitcode=9", "--leak-check=full", "-q"]
    done([*check, built(digits, "classify", "classify"), digits, digits / "classify.safetensors"])
    done([*check, built(digits, "train", "learn"), digits, 1])
