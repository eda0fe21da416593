"""Builds the documentation's site: docs/, the pages at the root, and those made from the code.

    python tools/build_site.py [--out out/docs] [--links]

Sphinx reads a folder beside the site, into which all pages are copied: nothing that is generated
is written below docs/. A warning is an error. `--links` asks whether external links answer.
Needs the extra `docs`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
AT_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "THIRD_PARTY.md")
"""Pages of the repository that are pages of the site."""
COPIED = ("*.md", "*.py", "*.svg", "*.css")


def main(arguments: list[str]) -> int:
    """The command line; Sphinx's exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "docs")
    parser.add_argument("--links", action="store_true", help="check external links only")
    options = parser.parse_args(arguments)
    source = options.out.with_name(f"{options.out.name}-source")
    stage(source)
    if options.links:
        return build(source, options.out.with_name(f"{options.out.name}-links"), "linkcheck")
    return build(source, options.out, "html")


def stage(folder: Path) -> None:
    """Write all pages into `folder`; what is there and has not changed keeps its time."""
    files = {path.relative_to(DOCS): path.read_bytes()
             for pattern in COPIED for path in sorted(DOCS.rglob(pattern))}
    for name in AT_ROOT:
        if (ROOT / name).exists():
            files[Path(name.lower())] = moved((ROOT / name).read_text()).encode()
    for place, pages in generated().items():
        files |= {Path(place, name): text.encode() for name, text in pages.items()}
    files = {path: from_page(path, content) for path, content in files.items()}
    if folder.exists():
        for path in [path for path in folder.rglob("*") if path.is_file()]:
            if path.relative_to(folder) not in files:
                path.unlink()
    for path, content in files.items():
        target = folder / path
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def generated() -> dict[str, dict[str, str]]:
    """The pages that are made from the code, by folder and file name."""
    import document_api
    import document_breaks

    return {"api": document_api.pages(), "graph_breaks": document_breaks.pages()}


def moved(text: str) -> str:
    """A page of the root as it stands beside the pages of docs/."""
    return re.sub(r"\]\(docs/", "](", text)


def from_page(path: Path, content: bytes) -> bytes:
    """A page whose links to pages of the root lead to those of the site."""
    if path.suffix != ".md":
        return content
    names = "|".join(name.removesuffix(".md") for name in AT_ROOT)
    up = "../" * (len(path.parts) - 1)
    return re.sub(rf"\]\((?:\.\./)*({names})\.md", lambda match: f"]({up}{match[1].lower()}.md",
                  content.decode()).encode()


def build(source: Path, out: Path, builder: str) -> int:
    """Run Sphinx; its exit status."""
    try:
        from sphinx.cmd.build import build_main
    except ModuleNotFoundError:
        print("Sphinx is not installed: it comes with the extra docs (make docs-site)",
              file=sys.stderr)
        return 2
    doctrees = source.with_name(f"{source.name}-doctrees")
    status = build_main(["-b", builder, "-q", "-W", "--keep-going", "-n", "-d", str(doctrees),
                         str(source), str(out)])
    if status == 0 and builder == "html":
        shutil.rmtree(out / "_sources", ignore_errors=True)
        print(f"{out / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
