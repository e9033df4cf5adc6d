// SPDX-License-Identifier: MIT
// The task that failed first, in the words of a real srun (22.05.8).
#include <catch2/catch.hpp>

#include "cli/run/job_end.hpp"

using namespace hpcml;

TEST_CASE("the task that failed by itself is found among those that srun ended") {
  struct Row {
    const char* log;
    const char* found; // "tasks node code"; empty: none
  };
  const Row rows[] = {
      {"epoch 1\nsrun: error: nid000001: task 1: Exited with exit code 3\n"
       "srun: launch/slurm: _step_signal: Terminating StepId=1.0\nsrun: error: nid000001: task 0: "
       "Terminated\n"
       "srun: error: nid000002: tasks 2-3: Terminated\nsrun: Force Terminated StepId=1.0\n",
       "1 nid000001 3"},
      {"srun: error: nid000001: task 0: Exited with exit code 143\n"
       "srun: error: nid000002: tasks 2-3: Exited with exit code 7\n",
       "2-3 nid000002 7"},
      {"srun: error: nid000001: task 1: Segmentation fault (core dumped)\nsrun: error: nid000001: task 0: "
       "Terminated\n",
       "1 nid000001 139"},
      {"srun: error: nid000001: task 0: Exited with exit code 2\nsrun: error: nid000001: task 1: Exited with "
       "exit code 9\n",
       "0 nid000001 2"},
      {"srun: error: nid000001: task 0: Terminated\nsrun: error: nid000001: task 1: Killed\n", ""},
      // One that ran out of memory is why the other lost its connection.
      {"srun: error: nid000001: task 0: Exited with exit code 2\nsrun: error: nid000002: task 1: Out Of "
       "Memory\nsrun: error: nid000003: task 2: Out Of Memory\n",
       "1 nid000002 137"},
      {"srun: error: node001: task 0: Killed\nsrun: launch/slurm: _step_signal: Terminating StepId=1.0\n"
       "srun: error: node002: task 1: Exited with exit code 1\nsrun: Force Terminated StepId=1.0\n",
       "0 node001 137"},
      {"srun: error: n1: task 0: Out Of Memory\nsrun: error: n1: task 1: Exited with exit code 1\n",
       "0 n1 137"},
      {"srun: launch/slurm: _step_signal: Terminating StepId=1.0\nsrun: error: n1: task 0: Killed\n", ""},
      {"slurmstepd-n1: error: *** STEP 1.0 ON n1 CANCELLED AT 2026-11-26T17:33:36 ***\n"
       "srun: error: n1: task 0: Exited with exit code 137\n",
       ""},
      {"srun: error: Unable to create step for job 7: More processors requested\n", ""},
      {"I say srun: error: n1: task 1: Exited with exit code 3\n", ""},
      {"srun: error: n1: task 1: Exited with exit code 3", ""}, // there may be more of the number
  };
  for (const auto& row : rows)
    for (const std::size_t piece : {1000UL, 7UL, 1UL}) {
      CAPTURE(row.log, piece);
      cli::FailedTaskSearch search;
      const std::string log = row.log;
      for (std::size_t at = 0; at < log.size(); at += piece) search.read(log.substr(at, piece));
      std::string found;
      if (const auto& faulty_rank = search.found())
        found = faulty_rank->tasks + " " + faulty_rank->node + " " + std::to_string(faulty_rank->exit_code);
      CHECK(found == row.found);
    }
}

TEST_CASE("the class of a run is that of launch's last word in the log, wherever its line begins") {
  const auto class_in = [](std::string_view log) {
    cli::FailedTaskSearch search;
    search.read(log);
    return search.reported_class() ? model::word_of(*search.reported_class()) : "none";
  };
  CHECK(class_in("epoch 1\nhpcml: the run exited with code 139: program\n") == "program");
  CHECK(class_in("0: hpcml launch: the run ended with 125: node\n") == "node"); // of an earlier version
  CHECK(class_in("0: hpcml: the run exited with code 3: program\n0: hpcml: the run exited with code 125: "
                 "node\n") == "node");
  CHECK(class_in("hpcml: the run exited with code 3: prog") == "none");
  CHECK(class_in("hpcml: the run exited with code it: program\nhpcml: the run exited with code 3: luck\n") ==
        "none");
  // A task that srun ended knows less than the one that failed, whichever writes first.
  CHECK(class_in("hpcml: the run exited with code 3: program\nhpcml: the run exited with code 143: "
                 "terminated\n") == "program");
  CHECK(class_in("hpcml: the run exited with code 143: terminated\nhpcml: the run exited with code 3: "
                 "program\n") == "program");
  CHECK(class_in("hpcml: the run exited with code 143: terminated\n") == "terminated");
  // Behind a task that ran out of memory it is read, too.
  CHECK(class_in(
            "srun: error: n1: task 0: Out Of Memory\nhpcml: the run exited with code 137: out-of-memory\n") ==
        "out-of-memory");
}

TEST_CASE("a job's class is Slurm's, or where that is only a code what its log says; one that ended well has "
          "none") {
  using model::FailureClass;
  cli::FailedTaskSearch silent, node, memory, ended, after_failure;
  ended.read("hpcml: the run exited with code 143: terminated\n");
  after_failure.read("srun: error: n1: task 1: Exited with exit code 3\n"
                     "hpcml: the run exited with code 143: terminated\n");
  CHECK(cli::class_of_job(FailureClass::program, 143, ended) == FailureClass::terminated);
  CHECK(cli::class_of_job(FailureClass::program, 3, after_failure) == FailureClass::program);
  node.read("hpcml: the run exited with code 1: node\n");
  memory.read("srun: error: n1: task 0: Out Of Memory\n");
  CHECK_FALSE(cli::class_of_job({}, 0, node)); // its first start ended so, and it was requeued
  CHECK(cli::class_of_job(FailureClass::program, 1, node) == FailureClass::node);
  CHECK(cli::class_of_job(FailureClass::user, 143, node) == FailureClass::user);
  CHECK(cli::class_of_job(FailureClass::program, 1, memory) == FailureClass::out_of_memory);
  CHECK(cli::class_of_job(FailureClass::time_limit, 1, silent) == FailureClass::time_limit);
  CHECK(cli::class_of_job(FailureClass::program, 125, silent) == FailureClass::launcher);
  CHECK(cli::class_of_job(FailureClass::program, 3, silent) == FailureClass::program);
}

TEST_CASE("log search finds programs that did not train together") {
  const auto separate = [](std::string_view log) {
    cli::FailedTaskSearch search;
    search.read(log);
    return search.trained_separately();
  };
  CHECK(separate(
      "epoch 1\n0: hpcml: error: 2 programs each set up a world of 1 although WORLD_SIZE is 2: they do "
      "not train together\n"));
  CHECK_FALSE(
      separate("hpcml: warning: no program of the 4 ranks connected to the rendezvous store: each ran as a "
               "world of 1\n"));
  CHECK_FALSE(separate(""));
}
