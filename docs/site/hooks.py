# SPDX-License-Identifier: MIT
"""Hooks of mkdocs: adds the generated reference, and points links that leave docs/ at the repository."""
import os
import pathlib
import posixpath
import re
import sys
from typing import Any, Dict, List

from mkdocs.structure.files import File, Files

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
import pages as generated  # noqa: E402

_LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
_state: Dict[str, generated.Reference] = {}


def _fill(nav: List[Any], parts: Dict[str, List[Any]]) -> List[Any]:
    """Returns the navigation with generated parts where it names a directory."""
    filled = []
    for item in nav:
        if isinstance(item, dict):
            (title, value) = next(iter(item.items()))
            value = _fill(value, parts) if isinstance(value, list) else parts.get(value, value)
            filled.append({title: value})
        else:
            filled.append(item)
    return filled


def on_config(config: Any) -> Any:
    """Runs hpcml, and completes the navigation."""
    hpcml = os.environ.get("HPCML_BINARY") or str(ROOT / "build/release/bin/hpcml")
    _state["reference"] = generated.write_pages(generated.Program(hpcml))
    config.nav = _fill(config.nav, _state["reference"].nav)
    return config


def on_files(files: Files, config: Any) -> Files:
    """Adds the generated pages; one with the path of a page in docs/ contains that page's text."""
    for path, text in _state["reference"].pages.items():
        existing = files.get_file_from_path(path)
        if existing:
            files.remove(existing)
        files.append(File.generated(config, path, content=text))
    return files


def on_page_content(content: str, page: Any, config: Any, files: Files) -> str:
    """Removes the backslashes that a code host needs before "|" in a cell of a table."""
    return re.sub(r"<td.*?</td>", lambda match: match.group().replace("\\|", "|"), content, flags=re.S)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Points links to files that are not on the site at the repository."""

    def link(match: "re.Match[str]") -> str:
        before, target, fragment, after = match.groups()
        if re.match(r"[a-z]+:", target):
            return match.group()
        path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_uri), target))
        on_site = path.startswith("docs/") and files.get_file_from_path(path[len("docs/") :])
        if on_site or not (ROOT / path).exists():
            return match.group()
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"{before}{config.extra['repository']}/{kind}/main/{path}{fragment or ''}{after}"

    return _LINK.sub(link, markdown)
