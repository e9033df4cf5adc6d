"""pip in an emulated virtual environment: installs packages of this machine's Python, as from a wheelhouse without network."""
import importlib.metadata as metadata
import json
import os
import re
import socket
import sys
import sysconfig
from pathlib import Path


def import_requirement():
    """Returns packaging's Requirement: installed, from pip, or from the wheel of pip that the module venv has."""
    try:
        from packaging.requirements import Requirement

        return Requirement
    except ImportError:
        pass
    library = Path(sysconfig.get_path("stdlib"))
    directories = [Path(sysconfig.get_config_var("WHEEL_PKG_DIR") or library), library / "ensurepip" / "_bundled", Path("/usr/share/python-wheels")]
    wheels = [[str(wheel)] for directory in directories for wheel in directory.glob("pip-*.whl")]
    for added in [[], *wheels]:
        sys.path[:0] = added
        try:
            from pip._vendor.packaging.requirements import Requirement

            return Requirement
        except ImportError:
            pass
        finally:
            del sys.path[:len(added)]
    print(f"ERROR: the emulated pip needs the package packaging or pip, and the Python of this machine ({sys.executable}) has neither; install one.",
          file=sys.stderr)
    sys.exit(1)


Requirement = import_requirement()
STATE = Path(__file__).resolve().parent.parent
WITH_VALUE = {"-f", "--find-links", "-i", "--index-url", "--extra-index-url", "--prefix", "--cache-dir", "--timeout", "-c", "--constraint"}


def record(ok, words):
    line = {"tool": "pip", "ok": ok, "argv": words, "host": socket.gethostname(), "job": os.environ.get("SLURM_JOB_ID", ""),
            "step": os.environ.get("SLURM_STEP_ID", ""), "task": os.environ.get("SLURM_PROCID", "")}
    with open(STATE / "record.jsonl", "a", encoding="utf-8") as out:
        out.write(json.dumps(line) + "\n")


def fail(message, words):
    record(False, words)
    print("ERROR: " + message, file=sys.stderr)
    sys.exit(1)


def read_requirements(path):
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        line = line.split(" #")[0].strip()
        if line and not line.startswith("#"):
            yield from (read_requirements(line[2:].strip()) if line.startswith("-r") else [line])


def parse(words):
    offline, wanted = False, []
    rest = iter(words)
    for word in rest:
        if word == "--no-index":
            offline = True
        elif word in ("-r", "--requirement"):
            wanted += read_requirements(next(rest))
        elif word in WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            wanted.append(word)
    return offline, wanted


def find(requirement):
    try:
        found = metadata.distribution(requirement.name)
    except metadata.PackageNotFoundError:
        return None
    public = found.version.split("+")[0]
    fits = requirement.specifier.contains(found.version, prereleases=True) or requirement.specifier.contains(public, prereleases=True)
    return found if fits else None


def closure(wanted, words, lenient):
    """Distributions for the requirements and all that they need; optional needs that this machine lacks are left out."""
    result, queue = {}, [(Requirement(text), True) for text in wanted]
    while queue:
        requirement, asked = queue.pop()
        key = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if key in result or key in ("pip", "setuptools", "wheel") and asked and not find(requirement):
            continue
        found = find(requirement)
        if found is None:
            if not asked:
                continue
            if lenient:
                print(f"{requirement} is left out: the Python of this machine has none ({sys.executable})", file=sys.stderr)
                continue
            fail(f"No matching distribution found for {requirement}: the wheelhouse of the emulation is the Python of this machine "
                 f"({sys.executable}); install it there to rehearse with it.", words)
        result[key] = found
        for text in found.requires or []:
            need = Requirement(text)
            extras = [{"extra": extra} for extra in requirement.extras] or [{"extra": ""}]
            if need.marker is None or any(need.marker.evaluate(extra) for extra in extras):
                queue.append((need, False))
    return result


def find_tops(found, base):
    """Names of the distribution's top-level files. Packages of Debian have no RECORD but an egg-info with the names of modules."""
    if found.read_text("RECORD"):
        return {Path(file).parts[0] for file in found.files or [] if Path(file).parts[0] not in ("..", "__pycache__")}
    modules = (found.read_text("top_level.txt") or re.sub(r"[-.]+", "_", found.metadata["Name"])).split()
    tops = {path.name for module in modules for path in [base / module, base / (module + ".py"), *base.glob(module + ".*.so")] if path.exists()}
    info = getattr(found, "_path", None)
    return tops | ({Path(str(info)).name} if info else set())


def link(found, into):
    """The distribution's top-level files in the environment's site-packages, and wrappers for its programs."""
    site = next(into.glob("lib/python*/site-packages"))
    base = Path(str(found.locate_file("")))
    tops = find_tops(found, base)
    if not found.read_text("RECORD"):  # packages of Debian do not name all that they need, which is in the same directory
        (site / "hpcml-machine.pth").write_text(f"{base}\n", encoding="utf-8")
    for top in sorted(tops):
        target = site / top
        if not target.exists() and (base / top).exists():
            target.symlink_to(base / top)
    for entry in found.entry_points:
        if entry.group != "console_scripts" or entry.name.startswith("pip"):
            continue
        module, _, function = entry.value.split("[")[0].strip().partition(":")
        script = into / "bin" / entry.name
        script.write_text(f"#!{into}/bin/python\nimport sys\nfrom {module} import {function.split('.')[0]}\n"
                          f"sys.exit({function}())\n", encoding="utf-8")
        script.chmod(0o755)


def main():
    into, words = Path(sys.argv[2]).absolute(), sys.argv[3:]
    any_index = words[:1] == ["--any-index"]
    words = words[any_index:]
    lenient = words[:1] == ["--what-is-here"]
    words = words[lenient:]
    if words[:1] in (["--version"], ["-V"]):
        print(f"pip (emulated wheelhouse) from {into}")
        return
    if words[:1] in (["list"], ["freeze"]):
        for info in sorted(into.glob("lib/python*/site-packages/*-info")):
            print("==".join(info.name.rsplit(".", 1)[0].split("-")[:2]))
        return
    if words[:1] == ["check"]:  # what is linked here comes with all that it needs
        print("No broken requirements found.")
        return
    if words[:1] != ["install"]:
        fail(f"pip {' '.join(words[:1])} is not emulated", words)
    offline, wanted = parse(words[1:])
    if not offline and not any_index:
        fail("this emulated site installs from its wheelhouse: add --no-index (compute nodes may have no internet).", words)
    found = closure(wanted, words, lenient)
    for one in found.values():
        link(one, into)
    record(True, words)
    print("Successfully installed " + " ".join(sorted(f"{one.metadata['Name']}-{one.version}" for one in found.values())))


main()
