"""The C extensions, and how they are built; everything else is declared in pyproject.toml.

Each C file is compiled on its own, on all cores. Objects stay in `build/`, with the command and
the headers that made them: a later build, or one that goes on after an interrupt, compiles what
has changed since. With GRAPHWRIGHT_WERROR=1 warnings are errors.
"""

import os
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from glob import glob

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

FLAGS = ["-O2", "-std=c11", "-Wall", "-Wextra", "-Werror=implicit-function-declaration",
         "-fvisibility=hidden", "-fno-math-errno",
         "-falign-functions=64"]    # calls of 200 ns differ by a tenth with where functions lie
if os.environ.get("GRAPHWRIGHT_WERROR") == "1":
    FLAGS += ["-Werror", "-Wno-error=maybe-uninitialized"]
HEADERS = sorted({os.path.dirname(path)
                  for path in glob("src/graphwright/**/*.h", recursive=True)})
"""The folders that have headers: a header is included by its name alone."""
OBJECTS = os.path.join("build", f"objects-{sysconfig.get_config_var('SOABI')}")


class BuildObjects(build_ext):
    """Builds of what has changed, on all cores."""

    def build_extension(self, ext):
        """Compile the extension's files, then link them."""
        command = [*self.compiler.compiler_so, *FLAGS,
                   *(f"-I{path}" for path in (*ext.include_dirs, *self.include_dirs))]
        objects = {source: os.path.join(OBJECTS, f"{source}.o") for source in ext.sources}
        stale = [source for source, made in objects.items()
                 if self.force or not is_current(made, command)]
        if stale:
            with ThreadPoolExecutor(usable_cores()) as pool:
                done = pool.map(
                    lambda source: compile_file(command, source, objects[source]), stale)
                for number, source in enumerate(done, 1):
                    print(f"{ext.name}: compiled {number} of {len(stale)}: {source}", flush=True)
        target = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        newest = max(map(os.path.getmtime, objects.values()))
        if stale or not os.path.exists(target) or os.path.getmtime(target) < newest:
            self.compiler.link_shared_object([*objects.values()], target,
                                             libraries=self.get_libraries(ext), target_lang="c")


def usable_cores():
    """How many cores this process may use."""
    known = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1


def is_current(made, command):
    """Whether an object was made by this command from files that are as they were."""
    try:
        with open(f"{made}.command") as file:
            if file.read() != " ".join(command):
                return False
        with open(f"{made}.d") as file:
            sources = file.read().replace("\\\n", " ").partition(":")[2].split()
        time = os.path.getmtime(made)
        return all(os.path.getmtime(source) < time for source in sources)
    except FileNotFoundError:
        return False


def compile_file(command, source, made):
    """Compile one file. The command is written last: without it, the object does not count."""
    os.makedirs(os.path.dirname(made), exist_ok=True)
    if os.path.exists(f"{made}.command"):
        os.remove(f"{made}.command")
    subprocess.run([*command, "-MMD", "-MF", f"{made}.d", "-c", source, "-o", made], check=True)
    with open(f"{made}.command", "w") as file:
        file.write(" ".join(command))
    return source


def extension(layer, name, libraries):
    """The extension graphwright.LAYER.NAME, of all C files below the folder of that name."""
    return Extension(
        f"graphwright.{layer}.{name}",
        sources=sorted(glob(f"src/graphwright/{layer}/{name}/**/*.c", recursive=True)),
        depends=sorted(glob("src/graphwright/**/*.h", recursive=True)),
        include_dirs=[numpy.get_include(), *HEADERS],
        libraries=libraries,
    )


setup(
    ext_modules=[
        extension("runtime", "_core", ["pthread", "dl", "m"]),
        extension("capture", "_eval_frame", []),
    ],
    cmdclass={"build_ext": BuildObjects},
)
