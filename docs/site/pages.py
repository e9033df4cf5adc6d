# SPDX-License-Identifier: MIT
"""Writes the generated pages of the reference from what hpcml prints.

`python3 docs/site/pages.py DIR [HPCML]` writes them below DIR; the site's build calls write_pages() through hooks.py.
"""
import pathlib
import subprocess
import sys
from typing import Dict, List, NamedTuple, Union

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import command_pages  # noqa: E402
import cpp_pages  # noqa: E402
import decision_pages  # noqa: E402
import rule_pages  # noqa: E402
import site_pages  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
NavItem = Union[str, Dict[str, object]]


class Reference(NamedTuple):
    """Generated pages by their path below docs/, and the navigation of those directories that only have generated ones."""

    pages: Dict[str, str]
    nav: Dict[str, List[NavItem]]


class Program:
    """The hpcml whose output becomes the pages."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __call__(self, *words: str) -> str:
        """Returns what `hpcml WORDS` prints; its other site profiles and settings have no effect."""
        environment = {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        run = subprocess.run([self.path, *words], env=environment, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise RuntimeError(f"hpcml {' '.join(words)} failed with exit code {run.returncode}: {run.stderr}")
        return run.stdout


def write_pages(hpcml: Program) -> Reference:
    """Returns all generated pages."""
    commands = command_pages.write(hpcml, ROOT)
    rules = rule_pages.write(hpcml)
    sites = site_pages.write(hpcml, ROOT)
    decisions = decision_pages.write(ROOT)
    profile = hpcml("sites", "schema", "--format", "markdown").partition("\n\n")[2]  # without its title
    pages = {**commands.pages, **rules.pages, **sites.pages, **decisions.pages, "reference/ddp-api.md": cpp_pages.write(ROOT)}
    pages["reference/site-profile.md"] = profile
    for path in pages:
        if path in sites.pages and not path.endswith("index.md") or not (ROOT / "docs" / path).is_file():
            continue  # site_pages.py has added the text that is kept
        pages[path] = (ROOT / "docs" / path).read_text(encoding="utf-8").rstrip("\n") + "\n\n" + pages[path]
    return Reference(
        pages,
        {
            "reference/cli/": commands.nav,
            "reference/rules/": rules.nav,
            "reference/sites/": sites.nav,
            "development/decisions/": decisions.nav,
        },
    )


def main() -> None:
    """Writes the pages below a directory."""
    default = ROOT / "build/release/bin/hpcml"
    target = pathlib.Path(sys.argv[1])
    for path, text in write_pages(Program(sys.argv[2] if len(sys.argv) > 2 else str(default))).pages.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
