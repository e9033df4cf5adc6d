#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a run of the benchmarks says of its rows: tests/bench/report_test.py"""
import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import goals  # noqa: E402
import pairs  # noqa: E402
import report  # noqa: E402

ABOUT = {"date": "2020-01-01", "commit": "abc", "machine": "one", "load_before": "0.1", "load_after": "0.2", "versions": {"peer": "1.2"}}


class Report(unittest.TestCase):
    def test_a_value_at_its_goal_meets_it_and_one_above_does_not(self):
        rows = report.complete([{"id": "store/64", "value": 1.0}, {"id": "gen/torchx", "value": 0.11}])
        self.assertEqual([(row["id"], row["met"]) for row in rows], [("gen/torchx", False), ("store/64", True)])
        page = report.page(rows, ABOUT)
        self.assertIn("1 of 2 goals are missed: " + goals.GOALS["gen/torchx"]["what"], page)
        self.assertIn("Not measured in this run: ", page)

    def test_a_row_without_a_goal_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "without a goal in goals.json: no/such"):
            report.complete([{"id": "no/such", "value": 1}])

    def test_the_plot_is_svg_and_shows_a_missed_goal_in_another_colour(self):
        rows = report.complete([{"id": "store/64", "value": 2.0}, {"id": "gen/torchx", "value": 0.00001}])
        plot = xml.etree.ElementTree.fromstring(report.plot(rows))
        kinds = [bar.get("class") for bar in plot.iter("{http://www.w3.org/2000/svg}rect")]
        self.assertEqual(kinds, ["sheet", "met", "missed"])
        self.assertEqual(plot.get("width"), "400")

    def test_pairs_take_turns_and_the_first_of_each_is_left_out(self):
        with tempfile.TemporaryDirectory() as directory:
            say = [sys.executable, "-c", "import sys; open('log', 'a').write(sys.argv[1])"]
            kept = pairs.run_pairs([*say, "o"], [*say, "p"], 2, cwd=directory)
            with open(os.path.join(directory, "log"), encoding="ascii") as log:
                self.assertEqual(log.read(), "po" "op" "po")
        self.assertEqual([len(runs) for runs in kept.values()], [2, 2])
        ratio, sides = pairs.compare(kept)
        self.assertGreater(ratio, 0)
        self.assertGreater(sides["ours"]["memory_mb"], 0)

    def test_a_command_that_fails_ends_the_part(self):
        with self.assertRaisesRegex(SystemExit, "ended with 3"):
            pairs.run_well([sys.executable, "-c", "raise SystemExit(3)"])

    def test_rows_are_noted_with_their_verdict(self):
        with tempfile.TemporaryDirectory() as directory:
            os.environ["HPCML_BENCH_ROWS"] = place = os.path.join(directory, "rows")
            try:
                self.assertEqual(goals.note("launch/idle", 1.5), "(goal 1: MISSED)")
                self.assertEqual(goals.note("launch/idle", 0.5), "(goal 1: yes)")
            finally:
                del os.environ["HPCML_BENCH_ROWS"]
            with open(place, encoding="utf-8") as rows:
                self.assertEqual(len(rows.readlines()), 2)


if __name__ == "__main__":
    unittest.main()
