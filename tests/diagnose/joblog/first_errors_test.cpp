// SPDX-License-Identifier: MIT
// Errors that a log itself names, for which hpcml has no advice.
#include <catch2/catch.hpp>

#include "diagnose/joblog/log_reader.hpp"

using namespace hpcml;
using Catch::Contains;

namespace {

joblog::LogReport report_on(const std::string& log) {
  joblog::LogReader reading;
  reading.add(log);
  reading.end();
  return joblog::make_report("log", reading, {});
}

/// "LINE RANKS TEXT" of each error that hpcml does not know.
std::vector<std::string> unknown_in(const std::string& log) {
  std::vector<std::string> found;
  for (const auto& failure : report_on(log).failures) {
    if (failure.error != nullptr) continue;
    auto text = std::to_string(failure.line) + " ";
    for (const auto rank : failure.ranks) text += std::to_string(rank) + ",";
    found.push_back(text + " " + failure.text);
  }
  return found;
}

using Lines = std::vector<std::string>;

} // namespace

TEST_CASE("why never reports a log with unknown errors as fine") {
  for (const auto& line :
       Lines{"slurmstepd: error: *** STEP 1.0 ON n1 FAILED (non-zero exit code or other failure mode) ***",
             "srun: error: Unable to create step for job 7: More processors requested than permitted",
             "sbatch: error: Batch job submission failed: Invalid account",
             "error: no such environment",
             "train.py: error: unrecognized arguments: --foo",
             "kernel.cu(12): error: identifier is undefined",
             "NCCL WARN Mismatched NCCL version detected : rank 0 version 22703 rank 8 version 22602",
             "[rank0]:[E205 18:11:06.375750230 ProcessGroupNCCL.cpp:1870] watchdog got stuck for 480 seconds",
             "[rank0]:[F205 18:19:06.375750290 ProcessGroupNCCL.cpp:1557] Terminating the process",
             "[E ProcessGroupGloo.cpp:138] Rank 3 failed to pass monitoredBarrier in 1800000 ms",
             "E0213 12:07:20.086000 870572 torch/distributed/elastic/multiprocessing/api.py:869] failed "
             "(exitcode: 1)",
             "F0213 12:07:20.086000 870572 rpc.cc:12] Check failed: a == b",
             "/var/spool/slurmd/job12/slurm_script: line 9: module: command not found",
             "bash: nvidia-smi: command not found",
             "zsh: command not found: conda",
             "/var/spool/slurmd/job12/slurm_script: line 12: ./train: Permission denied",
             "/var/spool/slurmd/job12/slurm_script: line 12: 4711 Segmentation fault      ./train",
             "python: can't open file '/home/u/train.py': [Errno 2] No such file or directory",
             "Fatal Python error: Bus error",
             "terminate called after throwing an instance of 'c10::Error'",
             "srun: fatal: SLURM_MEM_PER_CPU and SLURM_MEM_PER_NODE are mutually exclusive.",
             "ERROR: could not open config",
             "ERROR:root:Training failed",
             "2026-01-01 10:00:00,123 - train - ERROR - no data",
             "[2026-01-01 10:00:00,123] [ERROR] [launch.py:321:sigkill_handler] exits with return code = 1",
             "2026-01-01 10:00:00.123 | CRITICAL | train:main:12 - no data",
             "Killed",
             "Bus error",
             "Aborted (core dumped)",
             "train: train.cpp:12: int main(): Assertion `x' failed.",
             "double free or corruption (out)",
             "thread 'main' panicked at src/main.rs:3:5:",
             "make: *** [Makefile:3: all] Error 2",
             "timeout: failed to run command './train': Permission denied",
             "/usr/bin/env: 'python': No such file or directory",
             "bash: ./train: Permission denied",
             "nvidia-smi: Command not found.",
             "/var/spool/slurmd/job12/slurm_script: 3: cd: can't cd to /nowhere",
             "sh: 1: nvidia-smi: not found",
             "FATAL:   While checking container encryption: could not open image x.sif",
             "Lmod has detected the following error: The following module(s) are unknown: cuda/99",
             "CondaError: Run 'conda init' before 'conda activate'",
             "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out"}) {
    CAPTURE(line);
    const auto report = report_on("fine\n" + line + "\nfine\n");
    CHECK(report.is_bad());
    REQUIRE(report.failures.size() == 1);
    CHECK(report.failures[0].error == nullptr);
    CHECK(report.failures[0].line == 2);
    const auto text = joblog::render_text(report);
    CHECK_THAT(text, Contains("unknown error: log:2: ") && !Contains("failures: none"));
    CHECK_THAT(joblog::render_json(report), Contains("\"known\":false"));
  }
}

TEST_CASE("why reads tracebacks after each prefix of a rank") {
  for (const auto& prefix : Lines{"[rank3]: ",
                                  "[rank3]:",
                                  "[3]<stderr>:",
                                  "[1,3]<stderr>:",
                                  "Tue Sep 15 10:11:12 2026[1,3]<stderr>:",
                                  " 3: ",
                                  "3: [rank3]: ",
                                  "[default0]:[rank3]: ",
                                  "[rank: 3] ",
                                  "[Rank 3] ",
                                  "[trainer3|0]:",
                                  "[3] ",
                                  "18:11:06.680 [rank3]: ",
                                  "2026-01-01 11:50:15,215 [rank3]: ",
                                  "[2026-01-01T11:50:15Z] 3: ",
                                  "cn-d004 [stderr] [rank3]: ",
                                  "nid001 3: ",
                                  "nid001: [rank3]: ",
                                  " 12%|#   | 3/24 [00:08<01:22,  2.88s/it][rank3]: ",
                                  "\r 99%|# | 9/9 [00:08<01:22, 2.88it/s]\r[rank3]: "}) {
    CAPTURE(prefix);
    const auto log = prefix + "Traceback (most recent call last):\n" + prefix +
                     "  File \"t.py\", line 1, in <module>\n" + prefix + "    model.fit()\n" + prefix +
                     "KeyError: 3\n" + prefix + "OSError: later\n";
    const auto failures = report_on(log).failures;
    REQUIRE(failures.size() == 1);
    CHECK(failures[0].line == 4);
    CHECK(failures[0].ranks == std::set<unsigned>{3});
    CHECK_THAT(failures[0].text, Catch::EndsWith("KeyError: 3"));
  }
}

TEST_CASE("why reports the first traceback of each rank") {
  CHECK(
      unknown_in(
          "[rank1]: Traceback (most recent call last):\n[rank0]: Traceback (most recent call last):\n"
          "[rank1]:   File \"x.py\"\n[rank0]:   File \"x.py\"\n[rank0]: ValueError: b\n"
          "[rank1]: ValueError: b\n[rank1]: \n"
          "[rank1]: During handling of the above exception, another exception occurred:\n"
          "[rank1]: Traceback (most recent call last):\n[rank1]:   File \"x.py\"\n[rank1]: OSError: c\n"
          "[rank2]: Traceback (most recent call last):\n[rank2]:   File \"x.py\"\n[rank2]: queue.Empty\n") ==
      Lines{"5 0,1, [rank0]: ValueError: b", "14 2, [rank2]: queue.Empty"});
  // Of ranks that nothing names, with other lines in between.
  CHECK(unknown_in("Traceback (most recent call last):\nTraceback (most recent call last):\n  File \"t.py\"\n"
                   "Epoch: 3\nepoch 2 loss 3\n    raise KeyError(3)\nKeyError: 3\nKeyError: 4\n") ==
        Lines{"7  KeyError: 3"});
  // A log whose last line has no end.
  CHECK(unknown_in("Traceback (most recent call last):\n  File \"t.py\"\nSystemExit: bad") ==
        Lines{"3  SystemExit: bad"});
}

TEST_CASE("why prefers exceptions to those that only report other processes") {
  CHECK(unknown_in("Traceback (most recent call last):\n  File \"t.py\"\n"
                   "torch.multiprocessing.spawn.ProcessRaisedException: \n\n"
                   "-- Process 1 terminated with the following error:\nTraceback (most recent call last):\n"
                   "  File \"t.py\"\nAssertionError\n") == Lines{"8  AssertionError"});
  CHECK(unknown_in("Traceback (most recent call last):\n  File \"/venv/bin/torchrun\"\n"
                   "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n=====\n") ==
        Lines{"3  torch.distributed.elastic.multiprocessing.errors.ChildFailedError:"});
}

TEST_CASE("why reports unknown errors before exits") {
  const std::string exits = "srun: error: n1: task 0: Exited with exit code 1\n";
  const auto failures = report_on(exits + "ValueError: You set `devices=2` in Lightning\n").failures;
  REQUIRE(failures.size() == 2);
  CHECK(failures[0].error == nullptr);
  REQUIRE(failures[1].error != nullptr);
  CHECK(failures[1].error->id == "task-exited");
  CHECK(failures[1].host == "n1");
  CHECK(unknown_in("ValueError: no\nCUDA out of memory\n" + exits).empty());
  const auto slurm = report_on("srun: error: nid000013: task 3: Bus error\n").failures;
  REQUIRE(slurm.size() == 1);
  CHECK(slurm[0].host == "nid000013");
  CHECK(slurm[0].ranks == std::set<unsigned>{3});
}

TEST_CASE("why finds no errors in healthy logs") {
  for (const auto& line : Lines{
           "val_error=0.1, 0 errors, error rate 3%",
           "val_error: 0.1",
           "MeanAbsoluteError: 0.35",
           "Error: 0.01",
           "[rank0]: MeanSquaredError: nan",
           "test: error: 0.12",
           "error: -0.5",
           "INFO:root:Errors so far: 0",
           "/venv/x.py:20: UserWarning: Failed to initialize NumPy: _ARRAY_API not found (Triggered "
           "internally)",
           "FutureWarning: torch.load with weights_only=False",
           "epoch 3: error: none yet",
           "[rank0]:[W1128 11:33:03 ProcessGroupNCCL.cpp:1] Warning: destroy_process_group() was not called",
           "[rank0]:[E916 08:53:53.7 TCPStore.cpp:346] [c10d] The server socket on 29500 has failed to bind. "
           "TORCHELASTIC_USE_AGENT_STORE is enabled so ignoring the error.",
           "E0000 00:00:1742.1 12 cuda_dnn.cc:8310] Unable to register cuDNN factory: one has already been "
           "registered",
           "2026-01-01 11:50:15.2 E external/xla/cuda_fft.cc:477] Unable to register cuFFT factory",
           "W0912 12:34:56.7 1234 torch/_dynamo/convert_frame.py:844] [0/0] Traceback (most recent call "
           "last):",
           "n1:9:9 [0] init.cc:1 NCCL WARN Missing \"iommu=pt\" from kernel command line which can lead to "
           "hang!",
           "n1:9:9 [0] init.cc:1 NCCL WARN NUMA auto balancing enabled which can lead to variability",
           "n1:9:9 [0] NCCL INFO Call to connect returned Connection refused, Error: retrying",
           "job7/slurm_script: line 3: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)",
           "ERROR: pip's dependency resolver does not currently take into account all the packages",
           "log level: ERROR",
           "level=ERROR: all others are dropped",
           "ERROR: 0.1",
           "CRITICAL errors: 0",
           "Killed 3 stale workers",
           "bash: warning: setlocale: LC_ALL: cannot change locale (en_US.UTF-8)",
           "bash: no job control in this shell",
           "cp: cannot stat 'old': No such file or directory",
           "fatal: not a git repository (or any of the parent directories): .git",
           "srun: warning: can't run 1 processes on 2 nodes, setting nnodes to 1",
           "Traceback (most recent call last):  File \"<string>\", line 1, in <module>",
           "AttributeError: _ARRAY_API not found",
           "[Errors] [Epoch 3] [F1 0.2]"}) {
    CAPTURE(line);
    CHECK_FALSE(report_on("fine\n" + line + "\n  File \"x.py\", line 3\nEpoch: 3\n").is_bad());
  }
  CHECK(unknown_in(
            "Exception ignored in: <function _ConnectionBase.__del__ at 0x7f>\n"
            "Traceback (most recent call last):\n  File \"connection.py\", line 132, in __del__\n"
            "OSError: [Errno 9] Bad file descriptor\nException ignored in atexit callback: <function f>\n"
            "Traceback (most recent call last):\n  File \"util.py\"\nKeyboardInterrupt\ndone\n")
            .empty());
  CHECK(unknown_in(
            "Exception ignored in: <function f>\nfine\nTraceback (most recent call last):\n  File \"t.py\"\n"
            "ValueError: x\n") == Lines{"5  ValueError: x"});
}

TEST_CASE("why reads a traceback across pieces of a log") {
  const std::string filler(3 << 20, 'x');
  joblog::LogReader reading;
  for (const auto& piece : {std::string("Traceback (most recent call last):\n  File \"t.py\"\n"),
                            "    " + filler + "\n", std::string("KeyboardInterrupt\n")})
    reading.add(piece);
  reading.end();
  const auto failures = reading.failures();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].line == 4);
}

TEST_CASE("one Lightning process does not hide unknown errors") {
  const std::string one_process = "Initializing distributed: GLOBAL_RANK: 0, MEMBER: 1/1\n";
  CHECK(unknown_in(one_process + "ValueError: bad batch\n").size() ==
        unknown_in("ValueError: bad batch\n").size());
  CHECK(unknown_in(one_process + "srun: error: Unable to create step for job 7: Job is pending\n").size() ==
        1);
}
