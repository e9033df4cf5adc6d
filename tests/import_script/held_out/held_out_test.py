#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The comparison of the import trials, and their page: held_out_test.py"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]
import compare  # noqa: E402
import run  # noqa: E402
import table  # noqa: E402
import test_data  # noqa: E402

ENTRY = {"id": "00", "intent": {
    "launches": [{"program": "python", "arguments": "train.py --run re:run-\\\\d+", "ranks": 4, "ranks_per_node": 2, "gpus_per_rank": 1, "gpus_visible": "node"}],
    "environment": {"MODE": "fast"}, "image": "a.sif", "binds": ["/data:/mnt"], "staging": ["/tmp/x"],
    "helpers": [{"command": "prepare.sh", "runs": "node"}]}}
CALLS = [{"tool": "apptainer", "argv": ["exec", "--bind", "/data:/mnt", "a.sif", "python", "train.py"]}]


def record(program, rank, **changed):
    """Returns what a process of the job above writes down."""
    environment = {"RANK": str(rank), "WORLD_SIZE": "4", "LOCAL_RANK": str(rank % 2), "CUDA_VISIBLE_DEVICES": "0,1", "MODE": "fast"}
    environment.update(changed)
    return {"program": program, "arguments": ["train.py", "--run", "run-7"] if program == "python3" else [], "environment": environment,
            "node": f"node{rank // 2}", "files": ["/tmp/x"]}


def job():
    """Returns the records of a run with the intent of ENTRY."""
    return [record("python3", rank) for rank in range(4)] + [record("prepare.sh", rank) for rank in (0, 2)]


def differences(records, calls=None, entry=None):
    return compare.compare(entry or ENTRY, records, CALLS if calls is None else calls, lambda text: text)


class Compare(unittest.TestCase):
    def test_a_run_with_the_intent_has_no_differences(self):
        self.assertEqual(differences(job()), [])

    def test_missing_and_repeated_ranks_are_reported(self):
        self.assertIn("3 processes instead of 4", differences(job()[1:]))
        records = job()
        records[1]["environment"]["RANK"] = "0"
        self.assertTrue(differences(records)[0].startswith("ranks ['0', '0', '2', '3']"))

    def test_another_world_size_is_reported(self):
        records = [record("python3", rank, WORLD_SIZE="8") for rank in range(4)] + job()[4:]
        self.assertEqual(differences(records), ["world sizes ['8'] instead of 4"])

    def test_hidden_gpus_are_reported(self):
        records = [record("python3", rank, CUDA_VISIBLE_DEVICES="0") for rank in range(4)] + job()[4:]
        self.assertTrue(any("sees [1] GPUs instead of [2]" in line for line in differences(records)))

    def test_a_shared_gpu_is_reported_when_each_rank_has_its_own(self):
        entry = copy.deepcopy(ENTRY)
        entry["intent"]["launches"][0]["gpus_visible"] = "own"
        records = [record("python3", rank, CUDA_VISIBLE_DEVICES="0") for rank in range(4)] + job()[4:]
        self.assertEqual(differences(records, entry=entry), ["processes share a GPU"])
        records = [record("python3", rank, CUDA_VISIBLE_DEVICES=str(rank % 2)) for rank in range(4)] + job()[4:]
        self.assertEqual(differences(records, entry=entry), [])

    def test_other_arguments_are_reported_with_the_program(self):
        records = job()
        records[0]["arguments"][2] = "run"
        self.assertEqual(differences(records)[:2], ["3 processes instead of 4", "1 times started, not in the intent: python3 train.py --run run"])

    def test_a_lost_variable_is_reported(self):
        records = job()
        del records[3]["environment"]["MODE"]
        self.assertEqual(differences(records), ["MODE is None instead of 'fast'"])

    def test_a_helper_step_that_runs_once_per_rank_is_reported(self):
        records = job() + [record("prepare.sh", rank) for rank in (1, 3)]
        self.assertEqual(differences(records), ["prepare.sh ran 4 times instead of 2"])

    def test_hidden_devices_are_not_counted(self):
        for value in ("-1", "", "NoDevFiles"):
            self.assertEqual(compare.gpus_of({"environment": {"ROCR_VISIBLE_DEVICES": value}}, 4), [], value)
        self.assertEqual(compare.gpus_of({"environment": {"CUDA_VISIBLE_DEVICES": "1,3"}}, 4), ["1", "3"])

    def test_rocm_smi_replaces_nvidia_smi(self):
        intent = {"helpers": [{"command": "/usr/bin/nvidia-smi", "runs": "once"}]}
        self.assertEqual(compare.check_helpers(intent, [record("rocm-smi", 0)], 1), [])
        self.assertEqual(compare.check_helpers(intent, [record("rocm-smi", 0)] * 2, 1), ["/usr/bin/nvidia-smi ran 2 times instead of 1"])

    def test_a_lost_bind_and_another_image_are_reported(self):
        self.assertEqual(differences(job(), [{"tool": "singularity", "argv": ["exec", "b.sif", "python"]}]), ["no bind to /mnt", "image a.sif is not used"])

    def test_a_program_outside_its_container_is_reported(self):
        self.assertEqual(differences(job(), []), ["no container was started"])
        self.assertEqual(compare.compare(ENTRY, job(), [], str, engine=False), [])

    def test_a_bind_that_is_lost_without_a_warning_is_reported(self):
        self.assertEqual(compare.check_lost_binds(ENTRY["intent"], ""), ["the bind to /mnt is lost without a warning"])
        self.assertEqual(compare.check_lost_binds(ENTRY["intent"], "warning: bind '/data:/mnt' is removed"), [])

    def test_a_file_that_was_not_staged_is_reported(self):
        records = job()
        records[2]["files"] = []
        self.assertEqual(differences(records), ["/tmp/x does not exist for the program"])

    def test_a_launch_is_repeated_for_each_set_of_values(self):
        launch = {"arguments": "--lr {lr} {more}", "each": [{"lr": 1, "more": ""}, {"lr": 2, "more": "--a --b"}]}
        self.assertEqual([one["arguments"] for one in compare.expand(launch, lambda text: text)], [["--lr", "1"], ["--lr", "2", "--a", "--b"]])


class StandIns(unittest.TestCase):
    def probe(self, *arguments):
        """Returns the arguments that the stand-in of python records."""
        with tempfile.TemporaryDirectory() as directory:
            text = run.PROBE.replace("@STUBS@", directory).replace("@RECORDS@", directory).replace("@FILES@", "[]")
            run.write(directory + "/probe.py", text, 0o755)
            subprocess.run([sys.executable, directory + "/probe.py", "python", *arguments], check=True)
            (path,) = pathlib.Path(directory).glob("*.json")
            return json.loads(path.read_text(encoding="utf-8"))["arguments"]

    def test_only_leading_options_of_python_are_dropped(self):
        self.assertEqual(self.probe("-u", "-E", "train.py", "-s", "rank", "-u"), ["train.py", "-s", "rank", "-u"])

    def test_nvidia_smi_prints_the_free_memory(self):
        with tempfile.TemporaryDirectory() as directory:
            run.write(directory + "/probe.py", run.PROBE.replace("@RECORDS@", directory).replace("@FILES@", "[]"), 0o755)
            for arguments, expected in ((["--query-gpu=memory.free", "--format=csv"], "40000\n"), ([], "")):
                done = subprocess.run([sys.executable, directory + "/probe.py", "nvidia-smi", *arguments], check=True, capture_output=True, text=True)
                self.assertEqual(done.stdout, expected)

    def test_paths_that_a_script_names_are_found(self):
        text = '#!/bin/sh\n#SBATCH --output=/jet/logs/%j.out\ncd "/data/a b"; cp $HOME/x ${D}/y ../z s3://b/c /n/d/\n'
        self.assertEqual(run.find_absolute_paths(text), ["/bin/sh", "/data/a", "/jet/logs", "/n/d"])

    def test_files_that_jobs_create_are_removed(self):
        with tempfile.TemporaryDirectory() as directory:
            run.write(directory + "/old/kept", "kept\n")
            absolute = run.AbsoluteFiles({directory + "/new/a/b": "x"}, [directory + "/old/kept", directory + "/old/made/deep", directory + "/link"])
            self.assertEqual(pathlib.Path(directory, "new/a/b").read_text(encoding="utf-8"), "x")
            run.write(directory + "/new/a/other", "")
            run.write(directory + "/old/made/file", "")
            os.symlink(directory + "/old", directory + "/link")
            absolute.remove()
            self.assertEqual(sorted(os.listdir(directory)), ["old"])
            self.assertEqual(os.listdir(directory + "/old"), ["kept"])


class Page(unittest.TestCase):
    def test_a_difference_is_warned_only_if_the_warning_names_its_cause(self):
        reviewed = {"refusals": [], "warnings": [{"id": "7", "site": "lumi", "pattern": "nodes change"}]}
        result = {"id": "7", "site": "lumi", "outcome": "wrong", "warnings": ["s.sh:1:1: warning: nodes change"]}
        self.assertEqual(table.evaluate(result, reviewed)[0], "warned")
        for changed in ({"warnings": ["warning: another"]}, {"site": "vista"}, {"id": "8"}):
            self.assertEqual(table.evaluate({**result, **changed}, reviewed)[0], "wrong")

    def test_totals_are_counted_for_each_set(self):
        outcomes = {("40", "lumi"): "same", ("41", "lumi"): "wrong", ("80", "lumi"): "same"}
        text = "\n".join(table.totals(outcomes, ["lumi"], {"41-80": [{"written": 2, "same": 1, "well": 3, "badly": 4}, {"written": 5, "same": 4, "well": 3, "badly": 2}]}))
        first, second = text.split("### Scripts 41 to 80")
        self.assertIn("1 of 1 imports were written (100 %; goal: 75 %). 1 of them", first)
        self.assertIn("2 of 2 imports were written (100 %; goal: 75 %). 1 of them have the same intent (50 %", second)
        self.assertIn("2 were written, 1 of them with the same intent (50 %), 3 were refused with a good reason and 4 with a poor one", second)
        self.assertIn("In the second run, before the importer was changed, 5 were written", second)
        self.assertNotIn("first run", first)

    def test_scripts_are_in_the_order_of_their_numbers(self):
        outcomes = {("80", "lumi"): "wrong", ("81", "lumi"): "same", ("120", "lumi"): "same"}
        self.assertIn("2 of 2 imports", "\n".join(table.totals(outcomes, ["lumi"], {})).split("### Scripts 81 to 120")[1])
        with tempfile.TemporaryDirectory() as directory:
            path = directory + "/results.json"
            run.write_results(path, [{"id": identifier, "site": "lumi"} for identifier in ("100", "99", "01")])
            self.assertEqual([key[0] for key in run.read_results(path)], ["01", "99", "100"])

    def test_results_do_not_name_the_machine(self):
        for text, hidden in (("HF_HOME is '/data/ann/hf' instead of '{W}/hf'", "HF_HOME is '/data/USER/hf' instead of '{W}/hf'"),
                             ("HF_HOME is '/tmp/hpcml-sandbox-aB3/scratch/ann'", "HF_HOME is '/scratch/USER'"),
                             ("/var/tmp/t/01-lumi/job/x.py /annex", "{W}/x.py /annex")):
            self.assertEqual(run.hide_machine(text, {"/var/tmp/t/01-lumi/job": "{W}"}, "ann"), hidden)

    def test_a_script_of_a_collection_is_named_by_its_blob(self):
        self.assertEqual(table.name_version({"commit": "0123456789abcdef"}), "0123456789ab")
        self.assertEqual(table.name_version({"commit": "blob:0123456789abcdef", "collection": "a/b"}), "blob 0123456789ab, a/b")

    def test_every_script_has_an_intent_or_a_refusal(self):
        for entry in run.read_intents():
            self.assertTrue("launches" in entry["intent"] or "refuse" in entry["intent"], entry["id"])

    def test_every_refusal_is_judged(self):
        results = json.loads(test_data.read(str(HERE / "results.json")))["results"]
        reviewed = json.loads((HERE / "refusals.json").read_text(encoding="utf-8"))
        ran = {result["id"] for result in results}
        self.assertEqual(len(results), len(ran) * len(run.SITES))
        self.assertEqual([result["id"] for result in results if table.evaluate(result, reviewed)[1] == "not judged"], [])

    def test_the_page_is_written_from_the_results(self):
        trials = json.loads(test_data.read(str(HERE / "results.json")))
        path = os.path.join(HERE, "../../../docs/development/import-trials.md")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), table.page(run.read_intents(), trials, list(run.SITES)))


if __name__ == "__main__":
    unittest.main()
