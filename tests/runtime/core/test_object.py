"""The object loader: what it runs, what it refuses, and that damaged files do not crash it."""

from __future__ import annotations

import ctypes
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphwright.codegen.emit.native import Library
from graphwright.codegen.target import CompilerMissing
from graphwright.runtime import _core

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="objects are loaded on Linux only"
)

SOURCE = r"""
#include <string.h>
static const double table[3] = {1, 2, 3};
static int counter = 5;
static char zeros[5000];
static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
int (*const choices[2])(int) = {twice, thrice};
double lookup(int i) { counter++; return table[i] + counter + zeros[i]; }
int choose(int i, int x) { return choices[i](x); }
int through(int x) { return choose(1, x); }
void fill(char *p, int c, unsigned long n) { memset(p, c, n); }
int pick(int x) {
    switch (x) {
        case 0: return 11; case 1: return 7; case 2: return 19; case 3: return 23;
        case 4: return 5; case 5: return 2; default: return -1;
    }
}
"""

Compile = Callable[..., bytes]


def function(code: _core.CodeObject, name: str, result: type, *arguments: type) -> Callable:  # type: ignore[type-arg]
    return ctypes.CFUNCTYPE(result, *arguments)(code.address(name))


@pytest.mark.parametrize("flags", [[], ["-O0"], ["-O3"], ["-fno-plt"], ["-fno-pic", "-fPIE"]])
def test_code_runs(compile_object: Compile, flags: list[str]) -> None:
    code = _core.load_object(compile_object(SOURCE, *flags))
    lookup = function(code, "lookup", ctypes.c_double, ctypes.c_int)
    assert (lookup(0), lookup(2)) == (7.0, 10.0)
    choose = function(code, "choose", ctypes.c_int, ctypes.c_int, ctypes.c_int)
    assert (choose(0, 5), choose(1, 5)) == (10, 15)
    assert function(code, "through", ctypes.c_int, ctypes.c_int)(4) == 12
    pick = function(code, "pick", ctypes.c_int, ctypes.c_int)
    assert [pick(i) for i in range(7)] == [11, 7, 19, 23, 5, 2, -1]
    buffer = ctypes.create_string_buffer(100)
    function(code, "fill", None, ctypes.c_char_p, ctypes.c_int, ctypes.c_ulong)(buffer, 65, 99)
    assert buffer.raw == b"A" * 99 + b"\0"
    with pytest.raises(KeyError, match="no symbol"):
        code.address("twice")
    assert code.name_at(code.address("pick")) == "pick" and code.name_at(1) is None


def test_no_page_is_writable_and_executable(compile_object: Compile) -> None:
    code = _core.load_object(compile_object(SOURCE))
    addresses = [code.address("lookup"), code.address("choices")]
    found = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, protection = line.split()[:2]
        low, high = (int(part, 16) for part in span.split("-"))
        found += [protection for a in addresses if low <= a < high]
    assert len(found) == 2 and found[0] == "r-xp" and "x" not in found[1]


def test_shared_libraries_have_the_same_face(compile_object: Compile, tmp_path: Path) -> None:
    (tmp_path / "a.o").write_bytes(compile_object(SOURCE))
    subprocess.run(["cc", "-shared", "a.o", "-o", "liba.so"], cwd=tmp_path, check=True)
    code = Library((tmp_path / "liba.so").read_bytes())
    assert function(code, "through", ctypes.c_int, ctypes.c_int)(4) == 12
    assert code.address("through") == code.address("through")
    with pytest.raises(KeyError, match="no symbol"):
        code.address("nothing")
    with pytest.raises(CompilerMissing, match="cannot load native code"):
        Library(b"no library")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("int system(const char *); int f(void) { return system(0); }", "refers to system"),
        ("extern int there; int f(void) { return there; }", "refers to there"),
        ("__thread int local; int f(void) { return local++; }", "thread-local"),
        ("__attribute__((constructor)) void f(void) {}", "initialisers"),
    ],
)
def test_refused_objects(compile_object: Compile, source: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        _core.load_object(compile_object(source))


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"x" * 1000, b"\x7fELF\2\1\1" + bytes(99)])
def test_no_object_at_all(data: bytes) -> None:
    with pytest.raises(ValueError, match="cannot load"):
        _core.load_object(data)
    with pytest.raises(TypeError):
        _core.load_object("text")  # type: ignore[arg-type]


def test_damaged_objects_do_not_crash(compile_object: Compile) -> None:
    good = compile_object(SOURCE)
    generator = random.Random(20240229)
    loaded = 0
    for round_ in range(1500):
        data = bytearray(good)
        if round_ % 3 == 0:
            data = data[: generator.randrange(len(data))]
        else:
            for _ in range(generator.randrange(1, 9)):
                data[generator.randrange(len(data))] = generator.randrange(256)
        try:
            _core.load_object(data)
            loaded += 1
        except (ValueError, OSError, UnicodeDecodeError):
            pass
    assert loaded < 1500


# Of a section header of 64 bytes: where the fields of that width begin.
FIELDS = [(0, 4), (4, 4), (8, 8), (16, 8), (24, 8), (32, 8), (40, 4), (44, 4), (48, 8), (56, 8)]
HOSTILE = [*range(10), 0x40, 0xFFF, 1 << 20, 1 << 30, (1 << 31) - 1, 1 << 31, (1 << 32) - 1,
           1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 64, (1 << 64) - 1]


def test_hostile_section_headers_do_not_crash(compile_object: Compile) -> None:
    """One field, or two, of a section, a symbol or a relocation are anything."""
    good = compile_object(SOURCE)
    table, count = int.from_bytes(good[40:48], "little"), int.from_bytes(good[60:62], "little")
    seed = random.randrange(1 << 32)
    print("seed", seed)
    generator = random.Random(seed)
    loaded = 0
    for _ in range(3000):
        data = bytearray(good)
        for _ in range(generator.randrange(1, 3)):
            offset, width = generator.choice(FIELDS)
            at = table + 64 * generator.randrange(count) + offset
            value = generator.choice(HOSTILE) % (1 << 8 * width)
            data[at : at + width] = value.to_bytes(width, "little")
        try:
            _core.load_object(data)
            loaded += 1
        except (ValueError, OSError):
            pass
    assert 0 < loaded < 3000


def test_a_section_of_no_content_is_not_read(compile_object: Compile) -> None:
    """One that says it is loaded, and that lies behind the file, but that it is of no type."""
    data = bytearray(compile_object(SOURCE))
    table = int.from_bytes(data[40:48], "little")
    for offset, width, value in ((4, 4, 0), (8, 8, 2), (24, 8, 1 << 40), (32, 8, 1 << 20)):
        data[table + offset : table + offset + width] = value.to_bytes(width, "little")
    code = _core.load_object(data)
    assert function(code, "through", ctypes.c_int, ctypes.c_int)(4) == 12
