#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts how often a reader changes files on the way from a function to another one, as the calls are written.

Usage: count_walk.py [--from run_launch] [--to execve] [--root REPOSITORY] [--print]

Each function of src/run and src/generate/plan is read once, at its first call, and its calls in the order of its
text; branches are read one after the other. Functions are found by their names: of several with one name the one in
the same file is taken, then in the same directory, then in a directory that LAYERS allows. Methods of other files'
classes, and what src/core has, are not followed. Counted are:

  changes  times that the text to read is in another file: by a call, or by going on in the caller
  climbs   of these, to a directory that may include the one that is left (src/run/LAYERS)
  returns  of these, to a file that was read before
  files    different files
"""
import argparse
import pathlib
import re
import sys
from typing import Dict, List, NamedTuple, Optional, Set

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import skip  # noqa: E402

DIRECTORIES = ("src/run", "src/generate/plan")
CALL = re.compile(r"(\.|->|\b\w+::|::)?\b([A-Za-z_]\w*)\s*\(")
# Calls of system functions and of directories that are not followed are qualified.
NOT_FOLLOWED = ("::", "std::", "fmt::", "util::", "model::", "topo::", "slurm::", "launch_chain::", "diag::", "nlohmann::")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^\s*#[^\n]*', re.S | re.M)


class Function(NamedTuple):
    """A definition."""

    name: str
    is_member: bool
    file: str
    body: str


class Walk:
    """Follows calls, and counts."""

    def __init__(self, functions: Dict[str, List[Function]], layers: Dict[str, Set[str]], target: str, is_printed: bool):
        self.functions = functions
        self.layers = layers
        self.target = target
        self.is_printed = is_printed
        self.read: Set[Function] = set()
        self.files: List[str] = []
        self.current = ""
        self.changes = self.climbs = self.returns = 0
        self.is_found = False

    def enter(self, function: Function, depth: int) -> None:
        """Reads a function, until the target is called."""
        self.read.add(function)
        for match in CALL.finditer(function.body):
            if match[2] == self.target:
                self.is_found = True
            if self.is_found:
                return
            called = self.find(match[1] or "", match[2], function)
            if called is None or called in self.read:
                continue
            self.go_to(function, depth)
            self.go_to(called, depth + 1)
            self.enter(called, depth + 1)

    def go_to(self, function: Function, depth: int) -> None:
        """Counts the change to the file of a function, if it is another one."""
        if self.files and self.current == function.file:
            return
        if self.files:
            climbs = directory(self.current) in self.layers.get(directory(function.file), set())
            self.changes += 1
            self.climbs += climbs
            self.returns += function.file in self.files
            if self.is_printed:
                print(f"{'  ' * depth}{function.file}: {function.name}{' (climb)' if climbs else ''}")
        self.current = function.file
        if function.file not in self.files:
            self.files.append(function.file)

    def find(self, qualifier: str, name: str, caller: Function) -> Optional[Function]:
        """Returns the definition that a call most likely means."""
        found = self.functions.get(name, [])
        if qualifier in NOT_FOLLOWED:
            return None
        if qualifier in (".", "->"):
            return next((one for one in found if one.is_member and stem(one.file) == stem(caller.file)), None)
        for is_near in (
            lambda one: stem(one.file) == stem(caller.file),
            lambda one: not one.is_member and directory(one.file) == directory(caller.file),
            lambda one: not one.is_member and self.may_call(caller, one),
        ):
            near = [one for one in found if is_near(one)]
            if near:
                return near[0]
        return None

    def may_call(self, caller: Function, called: Function) -> bool:
        """Returns whether the files' directories allow a call."""
        left, right = directory(caller.file), directory(called.file)
        return left == right or right in self.layers.get(left, set())


def directory(file: str) -> str:
    """Returns "launch" for src/run/launch/role.cpp."""
    return pathlib.PurePath(file).parent.name


def stem(file: str) -> str:
    """Returns the path without its ending."""
    return file.rsplit(".", 1)[0]


def read_layers(root: pathlib.Path) -> Dict[str, Set[str]]:
    """Returns the directories that each directory of src/run may include."""
    layers: Dict[str, Set[str]] = {}
    for line in (root / "src/run/LAYERS").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, right = line.split(":", 1)
            layers[name] = {word.rsplit("/", 1)[-1] for word in right.split()}
    return layers


def read_functions(root: pathlib.Path) -> Dict[str, List[Function]]:
    """Returns the definitions by their names without classes."""
    functions: Dict[str, List[Function]] = {}
    for path in sorted(path for below in DIRECTORIES for kind in ("*.cpp", "*.hpp") for path in (root / below).rglob(kind)):
        file = str(path.relative_to(root))
        text = path.read_text(encoding="utf-8")
        lines = text.split("\n")
        for found in lizard.analyze_file.analyze_source_code(str(path), text).function_list:
            body = COMMENT_OR_TEXT.sub(" ", "\n".join(lines[found.start_line - 1 : found.end_line]))
            body = body[body.find("{") :]
            words = found.name.split("::")
            is_member = len(words) > 1 and words[-2][:1].isupper()
            functions.setdefault(words[-1], []).append(Function(words[-1], is_member, file, body))
    return functions


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="start", default="run_launch")
    parser.add_argument("--to", dest="target", default="execve")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--print", dest="is_printed", action="store_true", help="print each change of files")
    options = parser.parse_args()
    functions = read_functions(options.root)
    if options.start not in functions:
        print(f"no function is named {options.start}", file=sys.stderr)
        return 2
    walk = Walk(functions, read_layers(options.root), options.target, options.is_printed)
    walk.go_to(functions[options.start][0], 0)
    walk.enter(functions[options.start][0], 0)
    print(f"{walk.changes} changes, {walk.climbs} climbs, {walk.returns} returns, {len(walk.files)} files"
          + ("" if walk.is_found else f"; {options.target} is not reached"))
    return 0


if __name__ == "__main__":
    try:
        import lizard
    except ImportError:
        skip.report_missing("count-walk", "lizard")
        sys.exit(0)
    sys.exit(main())
