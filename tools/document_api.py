"""The API reference: one page for each public package, from signatures and docstrings.

`pages()` gives the pages as reStructuredText by file name; `tools/build_site.py` writes them where
Sphinx reads them. Nothing of them is kept in the repository.
"""

from __future__ import annotations

import contextlib
import enum
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

from docstring_rst import summary, to_rst

import graphwright as gw
from graphwright.runtime.ops.families import load_all
from graphwright.runtime.ops.table import TABLE

PACKAGES = {
    "nn": "Layers and models", "nn.functional": "Functions of layers",
    "nn.init": "First values of parameters", "nn.utils": "Clipping, parametrisation, pruning",
    "optim": "Optimisers", "optim.lr_scheduler": "Learning rates",
    "autograd": "Gradients", "func": "Functions of functions", "amp": "Mixed precision",
    "linalg": "Linear algebra", "fft": "Fourier transforms", "special": "Special functions",
    "signal.windows": "Windows", "distributions": "Probability distributions",
    "masked": "Reductions under a mask", "random": "Random numbers", "quasirandom": "Sobol points",
    "utils": "Helpers", "utils.data": "Data sets and loaders",
    "utils.checkpoint": "Recomputation of activations",
    "compiler": "Controls of the compiler", "library": "Ops of your own",
    "fx": "Graphs to read and rewrite", "jit": "Recording a graph from an example",
    "export": "Graphs of whole programs", "onnx": "ONNX",
    "serialization": "Files", "overrides": "Classes that override functions",
    "multiprocessing": "Processes", "distributed": "Groups of one process",
    "profiler": "Profiling", "futures": "Results to come", "testing": "Comparison in tests",
    "hub": "Entry points of a folder", "backends": "Switches",
}
"""The public packages, in the order of the contents, with what they are for."""
UNDOCUMENTED = {
    "accelerator", "cpu", "cuda", "mps", "mtia", "xpu",     # devices: asked whether they are there
    "ao", "compat", "face", "runtime", "return_types", "storage", "types", "version",
    "torch_version", "functional", "ops", "signal", "capture", "codegen", "ir", "cli", "report",
    "saving", "as_torch",
}
"""Modules without a page: devices that are not here, internals, holders of names that stand
elsewhere; `as_torch`, whose import changes the process, is docs/coming_from_pytorch.md."""
TOPICS = {
    "creation": "Making tensors", "pointwise": "Elementwise", "reductions": "Reductions",
    "scans": "Scans", "views": "Views and shapes", "indexing": "Indexing", "products": "Products",
    "linalg": "Linear algebra", "windows": "Convolution and pooling", "norms": "Normalisation",
    "activations": "Activations", "losses": "Losses", "random": "Random numbers",
    "special": "Special functions", "fft": "Fourier transforms", "sequences": "Sequences",
    "optim": "Optimisers",
}
"""The functions of `gw` by the folder of the op table that defines them."""
Member = tuple[str, Any]


class Page(NamedTuple):
    """A page: its title, a line under it, and the entries, each with its name."""

    title: str
    lead: str
    members: list[Member]


def public(space: Any) -> list[Member]:
    """What a package offers: its `__all__`, or what it has of ours under a public name."""
    listed = getattr(space, "__all__", None)
    names = listed if listed is not None else [name for name in dir(space) if name[0] != "_"]
    found = []
    for name in sorted(names, key=str.lower):
        with contextlib.suppress(ModuleNotFoundError):    # a module's name below `torch` alone
            found.append((name, getattr(space, name)))
    return [(name, value) for name, value in found
            if not isinstance(value, ModuleType) and (listed is not None or is_ours(value))]


def is_ours(value: Any) -> bool:
    """Whether graphwright defines a value: what was imported from elsewhere is not listed."""
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and module.startswith("graphwright")


def top_level() -> dict[str, Page]:
    """The names of `gw` itself, on one page for each folder of the op table, and one more."""
    load_all()
    folders = {id(op.call): op.family.split(".")[0] for op in TABLE.values() if op.family}
    by_topic: dict[str, list[Member]] = {topic: [] for topic in TOPICS}
    others: list[Member] = []
    for name, value in public(gw):
        by_topic.get(folders.get(id(value), ""), others).append((name, value))
    pages = {
        f"gw_{topic}": Page(f"gw: {TOPICS[topic].lower()}", "", members)
        for topic, members in by_topic.items() if members
    }
    pages["gw"] = Page("gw: compilation, types, settings, other functions",
                       "`import graphwright as gw`. Operations are on the pages that follow.",
                       others)
    return {"gw": pages.pop("gw"), **pages}


def all_pages() -> dict[str, Page]:
    """Every page of the reference by file name, in order."""
    pages = top_level()
    lead = (inspect.getdoc(gw.Tensor) or "").partition("\n")[0]
    pages["tensor"] = Page("gw.Tensor", lead, tensor_members())
    for name, purpose in PACKAGES.items():
        try:
            module = import_module(f"graphwright.{name}")
        except ModuleNotFoundError as missing:
            if missing.name != f"graphwright.{name}":
                raise
            continue
        pages[name.replace(".", "_")] = Page(f"gw.{name}", f"{purpose}.", public(module))
    return pages


def tensor_members() -> list[Member]:
    """The public attributes of a tensor, as they stand on the class."""
    return [(name, inspect.getattr_static(gw.Tensor, name))
            for name in dir(gw.Tensor) if name[0] != "_"]


def signature(value: Any, *, method: bool = False) -> str:
    """`(input, dim, *, out=None)`, without annotations; "" where Python cannot say."""
    try:
        found = inspect.signature(value)
    except (ValueError, TypeError):
        return "(...)"
    parameters = [one.replace(annotation=inspect.Parameter.empty)
                  for one in found.parameters.values()]
    if method and parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    text = str(inspect.Signature(parameters, __validate_parameters__=False))
    return re.sub(r"<([^<>]*?)(?: at 0x[0-9a-f]+)?>", plain_default, text)


def plain_default(match: re.Match[str]) -> str:
    """A default value whose text is `<class 'x'>` or the like, as one word."""
    return match[1].split()[-1].strip("'") if match[1].split() else "..."


def indented(lines: Iterable[str]) -> Iterator[str]:
    """Lines as the content of a directive."""
    return ("   " + line if line else "" for line in lines)


def directive(kind: str, text: str, content: Iterable[str]) -> list[str]:
    """A directive with its content."""
    return [f".. py:{kind}:: {text}", "", *indented(content), ""]


class Writer:
    """Writes entries; what stands on a page already is referred to from the next."""

    def __init__(self) -> None:
        self.places: dict[int, str] = {}

    def entry(self, space: str, name: str, value: Any) -> list[str]:
        """One public name."""
        full = f"{space}.{name}"
        if value is gw.Tensor and full == "gw.Tensor":
            return ["The class of tensors has a page of its own: :doc:`tensor`.", ""]
        if isinstance(value, type):
            return self.class_entry(full, value)
        if is_function(value):
            return directive("function", full + signature(value), self.text(full, value))
        if callable(value) and not isinstance(value, enum.Enum):
            return directive("data", full, to_rst(doc_of(value)))
        return directive("data", full, [f"``{' '.join(repr(value).split())}``"])

    def text(self, full: str, value: Any) -> list[str]:
        """The docstring; the first sentence and where the rest is, at its second place."""
        doc = doc_of(value)
        first = self.places.setdefault(id(value), full)
        if first == full:
            return to_rst(doc)
        return [summary(doc), "", f"The same function as :py:obj:`{first}`."]

    def class_entry(self, full: str, value: type) -> list[str]:
        """A class with its own public methods."""
        first = self.places.setdefault(id(value), full)
        if first != full:
            return directive("class", full, [f"The same class as :py:obj:`{first}`."])
        content = to_rst(doc_of(value))
        for name, member in vars(value).items():
            if name[0] != "_" and has_own_doc(member):
                content += self.member(f"{name}", member)
        return directive("class", full + signature(value), content)

    def member(self, name: str, member: Any) -> list[str]:
        """A method or property of a class."""
        function = getattr(member, "__func__", member)
        if is_function(function):
            shown = signature(function, method=not isinstance(member, staticmethod))
            return directive("method", name + shown, to_rst(doc_of(function)))
        return directive("attribute", name, to_rst(doc_of(member)))

    def tensor_entry(self, name: str, member: Any) -> list[str]:
        """An attribute of Tensor; a method that a function of `gw` is too refers to that."""
        full = f"gw.Tensor.{name}"
        if not callable(member) and not isinstance(member, staticmethod | classmethod):
            return directive("attribute", full, to_rst(doc_of(member)))
        value = getattr(gw.Tensor, name)
        doc, function = doc_of(value), getattr(gw, name, None)
        if function is not None and id(function) in self.places and doc_of(function) == doc:
            content = [summary(doc), "", f"See :py:obj:`{self.places[id(function)]}`."]
        else:
            content = to_rst(doc)
        return directive("method", full + signature(value, method=True), content)


def is_function(value: Any) -> bool:
    """Whether a value is documented as a function."""
    return inspect.isroutine(value) or type(value).__name__ in ("OpFunction", "OpMethod")


def has_own_doc(member: Any) -> bool:
    """Whether a member of a class is documented there."""
    if isinstance(member, type) or not (
            callable(member) or isinstance(member, property | staticmethod | classmethod)):
        return False
    return bool(getattr(getattr(member, "__func__", member), "__doc__", None))


def doc_of(value: Any) -> str:
    """The docstring of its own; "" where what there is belongs to its type."""
    doc = inspect.getdoc(value)
    if doc is None or (not isinstance(value, type) and doc == inspect.getdoc(type(value))):
        return ""
    return doc


def heading(text: str, under: str) -> list[str]:
    """A title."""
    return [text, under * len(text), ""]


def render(writer: Writer, page: Page, space: str) -> str:
    """A page's text."""
    lines = heading(page.title, "=")
    if page.lead:
        lines += [*to_rst(page.lead)]
    write: Callable[[str, Any], list[str]] = (
        writer.tensor_entry if space == "gw.Tensor"
        else lambda name, value: writer.entry(space, name, value))
    links = [f":py:obj:`{name} <{space}.{name}>`" for name, value in page.members
             if value is not gw.Tensor]
    if len(links) > 5:
        lines += [".. container:: names", "", "   " + " ".join(links), ""]
    for name, value in page.members:
        lines += write(name, value)
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """The text of each page by file name, `index.rst` included."""
    writer, texts = Writer(), {}
    found = all_pages()
    for name, page in found.items():
        space = "gw" if name == "gw" or name.startswith("gw_") else page.title
        texts[f"{name}.rst"] = render(writer, page, space)
    contents = [".. toctree::", "   :maxdepth: 1", "", *(f"   {name}" for name in found), ""]
    lead = ("Every public name, from its signature and docstring. Names, argument orders and "
            "defaults are PyTorch's; :doc:`../ops` has dtypes and gradients of all operations in "
            "one table.")
    texts["index.rst"] = "\n".join([*heading("API reference", "="), lead, "", *contents])
    return texts


def undocumented_modules() -> set[str]:
    """Public modules of `gw` that have neither a page nor a reason not to have one."""
    modules = {name for name in dir(gw)
               if name[0] != "_" and isinstance(getattr(gw, name, None), ModuleType)}
    return modules - UNDOCUMENTED - {name.partition(".")[0] for name in PACKAGES}


