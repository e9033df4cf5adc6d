#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documentation: its links, its generated pages and its site: site_test.py HPCML"""
import html.parser
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MOST_SECONDS = 30  # of processor time, to build the site
sys.dont_write_bytecode = True
sys.path.insert(0, str(DOCS / "site"))
import command_pages  # noqa: E402
import cpp_pages  # noqa: E402
import man_page  # noqa: E402
import pages  # noqa: E402
import pictures  # noqa: E402

hpcml = pages.Program(str(pathlib.Path(sys.argv[1]).resolve()))


def build_site(target):
    """Builds the site as CI does, without warnings about the builder's own future; returns what mkdocs printed."""
    environment = {
        **os.environ,
        "HPCML_BINARY": hpcml.path,
        "NO_MKDOCS_2_WARNING": "1",
        "DISABLE_MKDOCS_2_WARNING": "true",
        "PYTHONDONTWRITEBYTECODE": "1",
        "no_proxy": "",
        **{name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY")},
    }
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", target]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


class Loaded(html.parser.HTMLParser):
    """Collects the addresses that a browser loads for a page."""

    def __init__(self):
        super().__init__()
        self.addresses = []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        names = {"link": ("href",), "a": ()}.get(tag, ("src", "srcset", "data", "poster", "href"))
        if tag == "link" and values.get("rel") in ("canonical", "prev", "next"):
            return
        self.addresses += [values[name] for name in names if values.get(name)]


def loaded_from_elsewhere(page):
    """Returns the addresses of other hosts that a page of the site loads."""
    text = page.read_text(encoding="utf-8")
    reader = Loaded()
    reader.feed(text)
    in_css = re.findall(r"@import[^;]*|url\(([^)]*)\)", text) if page.suffix == ".css" else []
    return [address for address in reader.addresses + in_css if re.match(r"[\"']?(?:[a-z]+:)?//", address)]


class Site(unittest.TestCase):
    """The site that mkdocs builds."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.site = pathlib.Path(cls.directory.name)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        cls.run_of_mkdocs = build_site(cls.directory.name)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cls.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    @classmethod
    def tearDownClass(cls):
        cls.directory.cleanup()

    def setUp(self):
        self.assertEqual(self.run_of_mkdocs.returncode, 0, self.run_of_mkdocs.stdout + self.run_of_mkdocs.stderr)

    def test_builds_offline_in_time(self):
        self.assertLess(self.seconds, MOST_SECONDS)

    def test_loads_nothing_from_other_hosts(self):
        checked = [path for path in self.site.rglob("*") if path.suffix in (".html", ".css")]
        self.assertGreater(len(checked), 250)
        found = {str(path.relative_to(self.site)): loaded_from_elsewhere(path) for path in checked}
        self.assertEqual({path: addresses for path, addresses in found.items() if addresses}, {})
        asks_github = 'data-md-component="source"'  # the theme's link to the repository, with its number of stars
        self.assertNotIn(asks_github, (self.site / "index.html").read_text(encoding="utf-8"))

    def test_finds_what_a_page_loads(self):
        page = self.site / "loads.html"
        page.write_text('<a href="https://a"></a><img src="pic.svg"><script src="https://b/x.js"></script>', encoding="utf-8")
        self.assertEqual(loaded_from_elsewhere(page), ["https://b/x.js"])
        page.unlink()

    def test_old_addresses_redirect(self):
        for old, new in (("agent", "restart-failed-ranks"), ("rules", "reference/rules"), ("tutorials/tacc", "vista")):
            self.assertIn(new, (self.site / old / "index.html").read_text(encoding="utf-8"))

    def test_pages_have_no_merge_markers(self):
        for page in (ROOT / "docs").rglob("*.md"):
            self.assertNotRegex(page.read_text(encoding="utf-8"), r"(?m)^(<{7} |={7}$|>{7} )", page)

    def test_cells_of_tables_have_no_backslash_before_a_bar(self):
        cells = []
        for page in (self.site / "reference/sites").rglob("*.html"):
            cells += re.findall(r"<td.*?</td>", page.read_text(encoding="utf-8"), flags=re.S)
        self.assertGreater(len([cell for cell in cells if "|" in cell]), 10)
        self.assertEqual([cell for cell in cells if "\\|" in cell], [])
        options = (self.site / "reference/torchrun-options/index.html").read_text(encoding="utf-8")
        self.assertIn("<code>--nnodes N|MIN:MAX</code>", options)

    def test_has_search_and_copy_buttons(self):
        text = (self.site / "index.html").read_text(encoding="utf-8")
        self.assertIn("content.code.copy", text)
        self.assertTrue((self.site / "search/search_index.json").is_file())


class Reference(unittest.TestCase):
    """The generated pages."""

    @classmethod
    def setUpClass(cls):
        cls.reference = pages.write_pages(hpcml).pages

    def test_every_command_has_its_options(self):
        commands = [path for path in self.reference if path.startswith("reference/cli/") and "index" not in path]
        self.assertGreater(len(commands), 20)
        for path in commands:
            name = pathlib.Path(path).stem
            self.assertIn(f"({name}.md)", self.reference["reference/cli/index.md"])
            options = command_pages.options_of(hpcml("man", name))
            self.assertTrue(options or name in ("torchrun", "completion"), name)
            for option in options:
                for spelling in option.names:
                    self.assertIn(f"`{spelling}`", self.reference[path], name)

    def test_a_manual_page_becomes_markdown(self):
        roff = (
            '.TH X 1\n.SH NAME\nhpcml\\-x \\- Do it\n.SH SYNOPSIS\n\\fBhpcml x\\fR [\\fIOPTIONS\\fR]\n.SH "HOW TO"\n.TP\n'
            "\\fB\\-a\\fR, \\fB\\-\\-all\\fR \\fIN\\fR\nAll of <it>, as \\-\\-no\\-x\n.br\nNot with it.\n.SH EXAMPLES\n.nf\n.RS\nhpcml x \\(aq1\\(aq\n.RE\n.fi\n"
        )
        expected = (
            "# hpcml x\n\nDo it.\n\n## Synopsis\n\n```text\nhpcml x [OPTIONS]\n```\n\n## How to\n\n`-a`, `--all` *N*\n"
            ":   All of &lt;it&gt;, as `--no-x`<br>\n    Not with it.\n\n## Examples\n\n```text\nhpcml x '1'\n```\n\n"
        )
        self.assertEqual(man_page.to_markdown(roff), expected)

    def test_every_rule_has_a_page(self):
        index = self.reference["reference/rules/index.md"]
        listed = re.findall(r"^\| \[([a-z-]+/[a-z0-9-]+)\]", index, flags=re.M)
        rules = [line.split()[0] for line in hpcml("rules").splitlines()[1:]]
        self.assertEqual(sorted(listed), sorted(rules))
        page = self.reference["reference/rules/launch/per-task-value.md"]
        for part in ("Severity: ", "## Reported", "## Not reported", "hpcml: disable=launch/per-task-value"):
            self.assertIn(part, page)

    def test_every_site_has_facts_and_sources(self):
        sites = [path for path in self.reference if re.match(r"reference/sites/(?!index)\w+\.md", path)]
        self.assertGreater(len(sites), 60)
        for path in sites:
            facts = self.reference[path].partition("## Facts")[2]
            self.assertGreater(facts.count("\n| `"), 1, path)
        lumi = self.reference["reference/sites/lumi.md"]
        self.assertIn("| 0 | 0 | 7 | 49-55 | 3 | 3 | hsn0 |", lumi)
        self.assertIn("(lumi.svg)", lumi)
        self.assertTrue(self.reference["reference/sites/lumi.svg"].startswith("<svg "))
        self.assertIn("https://docs.lumi-supercomputer.eu/software/packages/pytorch/", lumi)
        self.assertIn("the site's", lumi.lower())

    def test_the_job_file_has_the_keys_of_gen(self):
        page = self.reference["reference/job-file.md"]
        for row in ("| `gpus-per-node` | N | `HPCML_GPUS_PER_NODE` |", "| `requeue` | `true` or `false` | `HPCML_REQUEUE` |"):
            self.assertIn(row, page)
        self.assertRegex(page, r"\| `module` \| list of NAME \|  \|")
        self.assertIn("| `container-enter` |", page)
        self.assertNotIn("`no-", page)

    def test_every_format_option_is_listed_with_its_values(self):
        rows = re.findall(r"^\| \[`hpcml .*$", self.reference["reference/output-formats.md"], flags=re.M)
        self.assertGreater(len(rows), 10)
        for row in rows:
            self.assertRegex(row, r"\| `\w+(?:, [\w-]+)+` \|")

    def test_the_profile_has_every_key_of_the_schema(self):
        page = self.reference["reference/site-profile.md"]
        schema = json.loads((ROOT / "sites/schema.json").read_text(encoding="utf-8"))
        keys = [key for key in schema["properties"] if key not in ("$schema", "source", "checked", "note", "alternatives")]
        self.assertGreater(len(keys), 30)
        self.assertEqual([key for key in keys if f"\n| `{key}`" not in page], [])

    def test_exit_codes_have_the_codes_of_the_header(self):
        header = (ROOT / "include/hpcml/exit_code.hpp").read_text(encoding="utf-8")
        codes = re.findall(r"k_\w+ = (\d+)", header)
        self.assertGreater(len(codes), 9)
        for code in codes:
            self.assertIn(f"\n| {code} |", self.reference["reference/exit-codes.md"])

    def test_the_interface_has_every_public_class(self):
        page = self.reference["reference/ddp-api.md"]
        for header in (ROOT / "include/hpcml/ddp").glob("*.hpp"):
            for name in re.findall(r"^(?:class|struct|enum class) (\w+) ?[{:f]", header.read_text(encoding="utf-8"), flags=re.M):
                self.assertIn(name, page, header.name)
        for internal in ("private:", "std::getenv", "x_core->", ": x_rank("):
            self.assertNotIn(internal, page)
        self.assertIn("  static RankEnv from(const Lookup& lookup);\n", page)
        self.assertIn("  std::chrono::milliseconds timeout{600000};", page)
        self.assertIn("save_checkpoint(ProcessGroup& group", page)
        self.assertEqual(cpp_pages.write(ROOT).count("```") % 2, 0)


class Pages(unittest.TestCase):
    """The pages in the repository."""

    def test_links_lead_to_files(self):
        listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
        names = [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
        self.assertGreater(len(names), 50)
        broken = []
        for page in names:
            text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
            for target in re.findall(r"\]\(([^)\s#]+)[^)\s]*\)", re.sub(r"`[^`\n]+`", "", text)):
                if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                    broken.append(f"{page.relative_to(ROOT)}: {target}")
        self.assertEqual(broken, [])

    def test_every_variable_is_documented(self):
        used = set()
        for directory in ("src", "include", "templates"):
            for path in (ROOT / directory).rglob("*"):
                if path.suffix in (".cpp", ".hpp", ".sh", ".py", ".mustache", ".bash"):
                    text = path.read_text(encoding="utf-8")
                    macros = re.findall(r"#\s*(?:define|ifdef|ifndef|undef) (HPCML_\w+)", text)
                    used |= set(re.findall(r"\bHPCML_[A-Z0-9_]*[A-Z0-9]\b", text)) - set(macros)
        built = set(re.findall(r"HPCML_\w+", "".join(p.read_text("utf-8") for p in (ROOT / "src").rglob("CMakeLists.txt"))))
        macros = {"HPCML_VERSION", "HPCML_RESULT_NAME_2", "HPCML_STATIC_RUNTIME", "HPCML_SANITIZE"}
        keys = command_pages.options_of(hpcml("man", "gen"))
        of_keys = {command_pages.variable_of(option.names[-1].removeprefix("--")) for option in keys}
        page = (DOCS / "reference/environment-variables.md").read_text(encoding="utf-8")
        documented = set(re.findall(r"`(HPCML_[A-Z_]+)`", page))
        self.assertEqual(sorted(used - built - macros - of_keys - documented), [])
        self.assertEqual(sorted(documented - used - of_keys - {"HPCML_BINARY"}), [])

    def test_commands_in_pages_exist(self):
        commands = set(command_pages.names_of(hpcml("man")))
        unknown = []
        for page in DOCS.rglob("*.md"):
            if page.name == "messages.md":  # sentences whose first word is hpcml
                continue
            text = page.read_text(encoding="utf-8")
            blocks = re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.M | re.S)
            commands_of_blocks = [block for kind, block in blocks if kind in ("bash", "console", "")]
            code = "\n".join(commands_of_blocks + re.findall(r"`([^`\n]+)`", text))
            for name in re.findall(r"^(?:\$ )?hpcml ([a-z][a-z-]*)(?![\w:-])", code, flags=re.M):
                if name not in commands:
                    unknown.append(f"{page.relative_to(ROOT)}: hpcml {name}")
        self.assertEqual(sorted(set(unknown)), [])

    def test_decisions_have_one_form(self):
        found = sorted((DOCS / "development/decisions").glob("[0-9]*.md"))
        self.assertEqual([path.name[:4] for path in found], [f"{number:04}" for number in range(1, len(found) + 1)])
        for path in found:
            text = path.read_text(encoding="utf-8")
            self.assertRegex(text, rf"\A# {path.name[:4]}: [A-Z].*\n\n\*\*Status:\*\* (?:accepted|replaced|proposed)", path.name)
            self.assertEqual(re.findall(r"^## (.*)$", text, flags=re.M), ["Context", "Decision", "Consequences"], path.name)


class Pictures(unittest.TestCase):
    """The drawings."""

    def test_are_what_the_script_draws(self):
        drawn = {f"{draw().name}.svg": draw().svg() for draw in pictures.ALL}
        stored = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "images").glob("*.svg")}
        del stored["ddp-overlap.svg"]  # a measurement: tests/ddp/overlap_picture.py
        self.assertEqual(sorted(drawn), sorted(stored))
        for name, text in drawn.items():
            self.assertTrue(text == stored[name], f"{name} is outdated: run python3 docs/site/pictures.py")

    def test_are_legible_at_400_pixels(self):
        sizes = [int(size) for size in re.findall(r"(\d+)px", pictures.STYLE)]
        self.assertEqual(pictures.WIDTH, 400)
        self.assertGreaterEqual(min(sizes), 12)

    def test_placement_is_what_hpcml_plans(self):
        table = hpcml("affinity", "--all-sites").partition("## LUMI-G")[2].partition("\n## ")[0]
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if re.match(r"\| \d", line)]
        planned = {(row[0], row[1], row[3], row[4], row[6]) for row in rows}
        drawn = {
            (str(rank), str(rank), cores, str(numa), interface)
            for numa, gpus, interface in pictures.LUMI
            for rank, cores in gpus
        }
        self.assertEqual(drawn, planned)


if __name__ == "__main__":
    del sys.argv[1]
    unittest.main()
