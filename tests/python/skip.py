# SPDX-License-Identifier: MIT
"""As tests/skip.hpp: reports what cannot run on this machine, for the list that tests/run.sh prints at its end."""
import os


def report_skip(test, reason):
    print("%s: skipped: %s" % (test, reason), flush=True)
    path = os.environ.get("HPCML_TESTS_SKIPPED")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write("%s: %s\n" % (test, reason))


def report_missing(test, package):
    """As report_skip, for what tests/run.sh installs: there it is a failure."""
    if os.environ.get("HPCML_TESTS_REQUIRE_PACKAGES"):
        raise AssertionError("%s: %s is not installed, although tests/run.sh installs it" % (test, package))
    report_skip(test, package + " is not installed")
