"""The wheels of a rehearsal: this machine's packages, listed as the site's own program lists its wheelhouse."""
import fnmatch
import importlib.metadata as metadata
import platform
import re
import sys

WITH_VALUE = {"--python", "-p", "--version", "-v", "--arch", "--column", "-r", "--requirement", "--find_links"}


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def main():
    tool, wanted, rest = sys.argv[1], [], iter(sys.argv[2:])
    for word in rest:
        if word in ("-n", "--name"):
            wanted.append(next(rest, "*"))
        elif word.startswith("--name="):
            wanted.append(word[7:])
        elif word in WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            wanted.append(word)
    patterns = [normal(re.split(r"[=<>!~]", name)[0]) for name in wanted] or ["*"]
    python = "cp" + "".join(platform.python_version_tuple()[:2])
    rows = {(found.metadata["Name"], found.version, python, platform.machine())
            for found in metadata.distributions() if found.metadata["Name"]
            and any(fnmatch.fnmatchcase(normal(found.metadata["Name"]), pattern) for pattern in patterns)}
    if not rows:
        sys.exit(f"{tool}: no wheels of {' '.join(wanted)} found: the wheelhouse of the rehearsal is the Python of this machine "
                 f"({sys.executable})")
    table = [("name", "version", "python", "arch")] + sorted(rows, key=lambda row: row[0].lower())
    widths = [max(len(row[column]) for row in table) for column in range(4)]
    table.insert(1, tuple("-" * width for width in widths))
    for row in table:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())


main()
