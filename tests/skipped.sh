#!/usr/bin/env bash
# Stands for a test that cannot run on this machine: skipped.sh TEST REASON
# As skip_missing in tests/skip.hpp: a line for tests/run.sh, and a failure if it is tests/run.sh that should have installed what is missing.
line="$1: $2"
printf '%s\n' "$line"
[ -z "${HPCML_TESTS_SKIPPED:-}" ] || printf '%s\n' "$line" >>"$HPCML_TESTS_SKIPPED"
[ -z "${HPCML_TESTS_REQUIRE_PACKAGES:-}" ] || exit 1
exit 77
