// SPDX-License-Identifier: MIT
// Launchers that stand in commands: as words, behind other programs, in a shell's text.
#include <catch2/catch.hpp>

#include "core/launch_chain/started_launcher.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
using Command = std::vector<std::string>;

namespace {

std::string describe(const std::optional<launch_chain::StartedLauncher>& found) {
  if (!found) return "";
  auto text = found->name + (found->role == launch_chain::Role::step ? " step" : " agent");
  if (found->first) text += " first";
  if (found->in_text) text += " text";
  if (!found->option_words.empty()) text += " {" + util::join(found->option_words, " ") + "}";
  if (!found->command.empty()) text += " [" + util::join(found->command, " ") + "]";
  return text;
}

} // namespace

TEST_CASE("A launcher is seen wherever a command starts it") {
  struct Row {
    Command command;
    std::string found;
  };
  const std::vector<Row> rows = {
      {{"python", "train.py", "--launcher", "torchrun"}, ""},
      {{"./train", "srun"}, ""},
      {{"torchrun", "--nproc_per_node=2", "x.py", "--lr", "1"},
       "torchrun agent first {--nproc_per_node=2} [x.py --lr 1]"},
      {{"/opt/bin/torchrun", "--nnodes", "1", "-m", "pkg.train"},
       "torchrun agent first {--nnodes 1 -m} [pkg.train]"},
      {{"python3", "-m", "torch.distributed.run", "--standalone", "x.py"},
       "torchrun agent first {--standalone} [x.py]"},
      {{"python", "-u", "-m", "torch.distributed.launch", "--nproc_per_node", "4", "x.py"},
       "torchrun agent first {--nproc_per_node 4} [x.py]"},
      {{"srun", "-n", "2", "python", "x.py"}, "srun step first {-n 2} [python x.py]"},
      {{"mpirun", "-np", "2", "./a.out", "x"}, "mpirun step first {-np 2} [./a.out x]"},
      {{"mpiexec", "-n", "2", "./a.out"}, "mpiexec step first {-n 2} [./a.out]"},
      {{"bede-mpirun", "--bede-par", "1ppg", "python", "x.py"},
       "bede-mpirun step first {--bede-par} [1ppg python x.py]"},
      {{"ibrun", "python", "x.py"}, "ibrun step first [python x.py]"},
      {{"horovodrun", "-np", "4", "python", "x.py"}, "horovodrun step first {-np 4} [python x.py]"},
      {{"flux", "run", "-n", "4", "./a"}, "flux step first {-n 4} [./a]"},
      {{"flux", "jobs"}, ""},
      {{"accelerate", "launch", "--num_processes", "4", "x.py", "--a"},
       "accelerate agent first {--num_processes 4} [x.py --a]"},
      {{"accelerate-launch", "--num_processes", "4", "x.py", "--a"},
       "accelerate agent first {--num_processes 4} [x.py --a]"},
      {{"/usr/bin/mpirun.openmpi", "-np", "2", "./a.out"}, "mpirun step first {-np 2} [./a.out]"},
      {{"mpiexec.hydra", "-n", "2", "./a.out"}, "mpiexec step first {-n 2} [./a.out]"},
      {{"orterun", "-np", "4", "./a"}, "mpirun step first {-np 4} [./a]"},
      {{"prun", "-n", "4", "./a"}, "mpirun step first {-n 4} [./a]"},
      {{"bash", "-c", "accelerate-launch x.py"}, "accelerate agent text"},
      {{"accelerate", "config"}, ""},
      {{"accelerate-config"}, ""},
      {{"mpirun_rsh.py"}, ""},
      {{"torchrun", "--help"}, ""},
      {{"deepspeed", "--num_gpus", "2", "x.py", "--deepspeed"},
       "deepspeed agent first {--num_gpus 2} [x.py --deepspeed]"},
      {{"composer", "-n", "8", "x.py"}, "composer agent first {-n 8} [x.py]"},
      {{"hpcml", "launch", "--nproc-per-node", "2", "--", "x"},
       "hpcml agent first {--nproc-per-node 2 --} [x]"},
      {{"env", "A=1", "torchrun", "x.py"}, "torchrun agent [x.py]"},
      {{"nice", "-n", "5", "time", "torchrun", "x.py"}, "torchrun agent [x.py]"},
      {{"time", "accelerate", "launch", "x.py"}, "accelerate agent [x.py]"},
      {{"timeout", "1h", "numactl", "-l", "torchrun", "x.py"}, "torchrun agent [x.py]"},
      {{"uv", "run", "torchrun", "x.py"}, "torchrun agent [x.py]"},
      {{"conda", "run", "-n", "env", "torchrun", "x.py"}, "torchrun agent [x.py]"},
      {{"apptainer", "exec", "--nv", "a.sif", "torchrun", "x.py"}, "torchrun agent [x.py]"},
      {{"podman", "run", "-v", "/a:/b", "image", "torchrun", "x.py"}, "torchrun agent [x.py]"},
      {{"bash", "-c", "cd /x && torchrun --nproc_per_node=2 x.py"}, "torchrun agent text"},
      {{"env", "B=2", "sh", "-c", "exec srun ./a"}, "srun step text"},
      {{"bash", "-lc", "source env/bin/activate; python -m torch.distributed.run x.py"},
       "torchrun agent text"},
      {{"apptainer", "exec", "a.sif", "bash", "-c", "torchrun x.py"}, "torchrun agent text"},
      {{"bash", "-c", "echo torchrun x.py"}, ""},
      {{"bash", "-c", "x=$(mpirun --version); ./a"}, ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.command);
    CHECK(describe(launch_chain::find_started_launcher(row.command)) == row.found);
  }
}

TEST_CASE("A launcher in a script is seen by the script's text") {
  const auto found = launch_chain::find_started_launcher_in(
      "#!/bin/bash\nN=2\ntorchrun --nnodes=$N --rdzv-endpoint=$A:1 x.py\n");
  REQUIRE(found);
  CHECK(found->name == "torchrun");
  CHECK(found->joins_other_nodes());
  CHECK(found->value("nnodes") == "2");
  CHECK_FALSE(launch_chain::find_started_launcher_in("#!/bin/bash\npython x.py\n"));
}

TEST_CASE("A launcher is sure of what it is told unless something that nobody reads may tell it more") {
  struct Row {
    std::string script;
    bool sure;
  };
  const std::string torchrun = "torchrun --nproc_per_node=4 x.py";
  const std::vector<Row> rows = {
      {torchrun, true},
      {"echo 'the source of PET_NNODES'; " + torchrun + " --data 'open source '", true},
      {torchrun + " --config PET_base.yml", true},
      {"export PET_NNODES=2; " + torchrun, true}, // it is known, and taken
      {"module load pytorch; " + torchrun, true},
      {"source env.sh; " + torchrun, false},
      {". ./env.sh; " + torchrun, false},
      {"[ -f env.sh ] && . ./env.sh; " + torchrun, false},
      {torchrun + "; source later.sh", true},
      {"x=$(source a.sh; echo $A); " + torchrun, true},
      {"cat > env.sh <<'E'\nexport PET_NNODES=2\nE\nsource env.sh; " + torchrun, true},
      {"eval \"$(cat settings)\"; " + torchrun, false},
      {"eval 'A=1'; " + torchrun, true},
      {"export PET_NNODES; " + torchrun, false},
      {"export PET_NNODES=2 PET_NODE_RANK; " + torchrun, false},
      {"[ -n \"$N\" ] && export PET_NNODES=$N; " + torchrun, false},
      {"apptainer exec --env PET_NNODES=2 a.sif " + torchrun, true},
      {"export APPTAINERENV_PET_NNODES; apptainer exec a.sif " + torchrun, false},
      {"podman run -e PET_NNODES image " + torchrun, false},
      {"podman run --env-file vars image " + torchrun, false},
      {"podman run -e A --env B=1 image " + torchrun, true},
      {"mpirun -x PET_NNODES -np 2 ./a; " + torchrun, false}, // two launchers
  };
  for (const auto& row : rows) {
    CAPTURE(row.script);
    const auto found = launch_chain::find_started_launcher({"bash", "-c", row.script});
    REQUIRE(found);
    CHECK(found->sure == row.sure);
  }
}
