"""Strings and numbers that are known while capturing."""

# ruff: noqa: F541, RUF057, SIM222, SIM905, UP031

from __future__ import annotations

import pytest

import graphwright as gw

from ..programs import Programs, whole

X = gw.tensor([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]])
program = Programs()


def run(function):
    whole(function, X)


@program
def text_of_constants(x):
    n, name, f = 5, "abc", 2.5
    return (
        x + 1,
        f"{n:>4}|{f:.3f}|{name!r:^9}|{n=}|{n + 1:,}",
        "%s-%d-%5.2f" % (name, n, f),
        f"{n}:{name:<5}|{f!r}",
        name.upper(),
        name.split("b"),
        ",".join(str(i) for i in range(3)),
        name[::-1],
        name * 2,
        "b" in name,
        name.replace("a", "z"),
        name.encode(),
        b"ab".hex(),
        "a,b".partition(","),
        name.startswith(("x", "a")),
        " s ".strip(),
        "x".zfill(3),
        "AbC".swapcase(),
        "é".encode(),
        "%(k)s" % {"k": 1},
        f"{x.shape}",
        f"{x.dtype}",
        f"{[1, 'a']}",
        str((1, "b")),
        repr({"k": [1]}),
        "a\tb".expandtabs(2),
        f"{{}}",
        ascii("é"),
        "abc".find("c"),
        "1,2".split(","),
        [c for c in name],
        name < "abd",
        int("12"),
        int("ff", 16),
        float("1e3"),
        bin(5),
        hex(255),
        oct(8),
        chr(97),
        ord("a"),
        "".join(sorted("cab")),
        "a".center(5, "*"),
        f"{True!s}",
        str(None),
        f"{1e10:g}",
        format(3.14159, ".2f"),
        "a b".title(),
        f"{0.5:%}",
    )


@program
def numbers(x):
    a, b = 7, 2.5
    a += 1
    a -= 2
    a *= 3
    a //= 2
    a **= 2
    a %= 50
    a <<= 1
    a |= 1
    a ^= 3
    a &= 0xFF
    a >>= 1
    return (
        x * a,
        a,
        b / 2,
        -a,
        ~a,
        +b,
        a // 2,
        a % 4,
        7 // -2,
        -7 % 3,
        2**10,
        2**-1,
        divmod(17, 5),
        abs(-3),
        round(2.567, 1),
        round(5),
        pow(2, 5, 7),
        (5).bit_length(),
        (2.5).is_integer(),
        (1.5).as_integer_ratio(),
        (255).to_bytes(2, "big"),
        int.from_bytes(b"\x01\x00", "big"),
        complex(1, 2) * 2,
        (1 + 2j).conjugate(),
        3 == 3.0,
        1 < 2 <= 2 < 3,
        not 0,
        1 and "a",
        0 or "b",
        5 if a else 6,
        True + 1,
        bool([]),
        int(3.9),
        int(True),
        float("inf") > 1e300,
        min(1, 2.0),
        isinstance(True, int),
        (10).__add__(5),
        (3).real,
        0.1 + 0.2,
        hash(5),
        hash(range(3)) == hash(range(0, 3, 1)),
        float.fromhex("0x1p3"),
        int.bit_count(7),
    )


@pytest.mark.parametrize("function", program.all, ids=lambda f: f.__name__)
def test_values(function):
    run(function)
