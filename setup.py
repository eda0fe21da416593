"""The C extensions; everything else is declared in pyproject.toml.

They are listed here because the NumPy headers' folder is only known when building.
"""

from glob import glob

import numpy
from setuptools import Extension, setup

FLAGS = ["-O2", "-std=c11", "-Wall", "-Wextra", "-Werror=implicit-function-declaration",
         "-fvisibility=hidden", "-fno-math-errno"]


def extension(layer: str, name: str, libraries: list[str]) -> Extension:
    """The extension graphwright.LAYER.NAME, of all C files in the folder of that name."""
    folder = f"src/graphwright/{layer}/{name}"
    return Extension(
        f"graphwright.{layer}.{name}",
        sources=sorted(glob(f"{folder}/*.c")),
        depends=sorted(glob("src/graphwright/*/*/*.h")),
        include_dirs=[numpy.get_include(), "src/graphwright/runtime/_core"],
        extra_compile_args=FLAGS,
        libraries=libraries,
    )


EXTENSIONS = [
    extension("runtime", "_core", ["pthread", "dl", "m"]),
    extension("capture", "_eval_frame", []),
]

setup(ext_modules=[e for e in EXTENSIONS if e.sources])
