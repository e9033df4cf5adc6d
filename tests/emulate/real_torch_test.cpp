// SPDX-License-Identifier: MIT
// What needs Python's real torch on an emulated node: what `import torch` does to a rank's cores, and what
// torchrun does with a rank that fails. Debian's python3-torch is enough.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/util/text.hpp"
#include "emulate/cluster_helper.hpp"
#include "python_packages.hpp"
#include "skip.hpp"

using namespace hpcml;
using test::Cluster;

namespace {

// A line in one piece: the ranks share a file.
const std::string k_print = R"(import os

def say(*words):
    os.write(1, (" ".join(str(word) for word in words) + "\n").encode())

)";

// Data loaders are processes of the rank: they have what `import torch` and a first product leave of its
// cores.
const char* const k_loader = R"(import os
before = len(os.sched_getaffinity(0))
import torch
from torch.utils.data import DataLoader, Dataset

class Cores(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return len(os.sched_getaffinity(0))

torch.ones(300, 300) @ torch.ones(300, 300)
seen = sorted({int(cores) for batch in DataLoader(Cores(), num_workers=2) for cores in batch})
say("rank", os.environ["RANK"], "before", before, "after", len(os.sched_getaffinity(0)), "loaders", seen,
      "threads", torch.get_num_threads())
)";

// As a rank that meets a broken node once.
const char* const k_elastic = R"(import os, sys
restarts = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
say("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"], "restart", restarts, "of at most",
      os.environ["TORCHELASTIC_MAX_RESTARTS"], sys.argv[1:])
if restarts == 0 and os.environ["RANK"] == "1":
    sys.exit(7)
)";

// Debian's torch 1.13 cannot read its own "0" under Python 3.11.
const char* const k_torchrun = R"(#!/usr/bin/python3
import sys
from torch.distributed.elastic.multiprocessing import Std
Std.from_str = classmethod(lambda cls, text: Std.NONE)
from torch.distributed.run import main
sys.exit(main())
)";

const char* const k_elastic_job = R"(#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=2
#SBATCH --cpus-per-task=32
#SBATCH --mem=8G
#SBATCH --time=10
#SBATCH --partition=gpu2h100
torchrun --nnodes=1:2 --max_restarts=3 --nproc_per_node=2 --rdzv_id=$SLURM_JOB_ID --rdzv_backend=c10d \
  --rdzv_endpoint=localhost:29500 elastic.py --epochs 3
)";

std::vector<std::string> request(const std::string& words) {
  return util::split("--site zurada --partition gpu2h100 --gpus-per-node 2 --time 10 --mem 8G -o " + words,
                     ' ');
}

void generate(const Cluster& cluster, const std::vector<std::string>& arguments) {
  const auto made = cluster.generate(arguments);
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
}

} // namespace

TEST_CASE(
    "real torch on an emulated Zurada: loaders have the rank's cores, and torchrun starts again what fails",
    "[slurm]") {
  if (!test::module_version(test::k_system_python, "torch")) return test::skip_missing("python3-torch");
  const Cluster cluster({"--site", "zurada", "--partition", "gpu2h100", "--nodes", "2", "--quiet"});
  std::filesystem::create_directory(cluster.directory() / "bin");
  for (const auto* name : {"bin/python", "bin/python3"})
    cluster.write(name, "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n");
  cluster.write("bin/torchrun", k_torchrun);
  cluster.write("loader.py", k_print + k_loader);
  cluster.write("elastic.py", k_print + k_elastic);
  cluster.write("elastic.sbatch", k_elastic_job);
  generate(cluster, request("loader.sh -- python loader.py"));
  generate(cluster, request("bound.sh --env OMP_PROC_BIND=close --env OMP_PLACES=cores -- python loader.py"));
  generate(cluster, request("elastic.sh -- torchrun --max-restarts=3 --nproc-per-node=2 elastic.py"));
  generate(cluster, {"--from", "elastic.sbatch", "--site", "zurada", "-o", "from.sh"});
  const auto result = cluster.run(R"sh(for name in loader bound elastic from; do
  # Its Python is this test's: the stand-in for conda goes before it otherwise.
  sed -i -E "s#^(conda activate|source .*/bin/activate\"?) .*#&; PATH=$PWD/bin:\$PATH#" $name.sh
  ids+=" $(sbatch --parsable -o $name.out $name.sh)"
done
until [[ -z $(squeue -h) ]]; do sleep 0.2; done
for id in $ids; do scontrol -o show job $id | grep -o 'ExitCode=[0-9:]*'; done)sh");
  INFO(result.err << cluster.read("loader.out") << cluster.read("bound.out") << cluster.read("elastic.out")
                  << cluster.read("from.out"));
  CHECK(result.out == "ExitCode=0:0\nExitCode=0:0\nExitCode=0:0\nExitCode=0:0\n");
  for (const std::string rank : {"0", "1"}) {
    CHECK(cluster.read("loader.out").find("rank " + rank + " before 16 after 16 loaders [16] threads 16\n") !=
          std::string::npos);
    // Why the page's setting is left out: see that it still does what docs/concepts/launch-modes.md says of
    // it.
    CHECK(cluster.read("bound.out").find("rank " + rank + " before 16 after 1 loaders [1]") !=
          std::string::npos);
    for (const auto& [log, arguments] :
         {std::pair{"elastic.out", "[]"}, std::pair{"from.out", "['--epochs', '3']"}})
      for (const std::string restart : {"0", "1"}) {
        CAPTURE(log, rank, restart);
        CHECK(cluster.read(log).find("rank " + rank + " of 2 restart " + restart + " of at most 3 " +
                                     arguments + "\n") != std::string::npos);
      }
  }
}

TEST_CASE("ranks connect when node names resolve to loopback addresses", "[slurm]") {
  if (!test::module_version(test::k_system_python, "torch")) return test::skip_missing("python3-torch");
  const Cluster cluster({"--site", "generic", "--nodes", "2", "--quiet"});
  // As Debian's installer writes it: the node's own name is 127.0.1.1, the others' are what they are.
  cluster.write("wrap.sh", R"sh(hosts=$(mktemp)
{ echo "127.0.0.1 localhost"; echo "127.0.1.1 $(hostname)"; grep -vw -e "$(hostname)" -e localhost /etc/hosts; } > "$hosts"
exec unshare --map-root-user --mount bash -c 'mount --bind "$1" /etc/hosts; shift; exec "$@"' wrap "$hosts" "$@"
)sh");
  cluster.write("sum.py", k_print + R"(
import socket, torch, torch.distributed as dist
dist.init_process_group("gloo")
value = torch.ones(1)
dist.all_reduce(value)
say("sum", int(value.item()), socket.gethostbyname(socket.gethostname()), os.environ.get("GLOO_SOCKET_IFNAME"))
dist.destroy_process_group()
)");
  const auto result = cluster.run(
      "salloc -Q --nodes=2 --ntasks-per-node=2 --time=5 bash -c 'srun timeout 100 bash wrap.sh " HPCML_BINARY
      " launch -- /usr/bin/python3 sum.py; srun --ntasks=2 --ntasks-per-node=1 timeout 100 bash "
      "wrap.sh " HPCML_BINARY " launch --agent --nproc-per-node 2 -- /usr/bin/python3 sum.py'");
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
  std::size_t right = 0;
  for (const auto& line : util::split(result.out, '\n'))
    right +=
        line.find("sum 4 127.0.1.1 ") != std::string::npos && line.find("None") == std::string::npos ? 1 : 0;
  CHECK(right == 8);
}

TEST_CASE(
    "the interactive shell is on the first node, and what is typed there meets over the site's interface",
    "[slurm]") {
  const Cluster cluster({"--site", "zurada", "--partition", "gpu2h100", "--nodes", "2", "--quiet"});
  cluster.write("where.py", k_print + R"(
say("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"], "on", os.uname().nodename, "at",
      os.environ["MASTER_ADDR"], "in", os.environ.get("CONDA_DEFAULT_ENV"))
)");
  const auto made = cluster.generate({"--interactive",
                                      "--site",
                                      "zurada",
                                      "--partition",
                                      "gpu2h100",
                                      "--nodes",
                                      "2",
                                      "--gpus-per-node",
                                      "2",
                                      "--time",
                                      "5",
                                      "--mem",
                                      "4G",
                                      "--conda",
                                      "pytorch",
                                      "--module",
                                      "miniforge3/25.3.1-gcc-11.4.1",
                                      "--",
                                      "python",
                                      "where.py"});
  INFO(made.out << made.err);
  REQUIRE(made.exit_code == 0);
  cluster.write("line.sh", made.out);
  cluster.write("typed", "hostname > on\nip -4 -o addr show dev bond0 > address\n" +
                             made.err.substr(0, made.err.rfind('\n')) +
                             " < /dev/null\nexit\n"); // or srun passes the rest on to its tasks
  // What is typed before the prompt is there srun takes for its own terminal's, and drops.
  const auto result = cluster.run("(until [[ -s terminal ]]; do sleep 0.1; done; cat typed; "
                                  "until [[ -z $(squeue -h) ]]; do sleep 0.2; done) "
                                  "| timeout 600 script -qfec \"$(cat line.sh)\" terminal");
  INFO(result.out << result.err);
  CHECK(cluster.read("on") == "gpumd01\n");
  const auto words = util::split(cluster.read("address"), ' ');
  std::string address;
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "inet") address = words[i + 1].substr(0, words[i + 1].find('/'));
  CHECK_FALSE(address.empty());
  // Two ranks lie on each node in turn, as in a batch job: the shell's own step says otherwise to its srun.
  for (unsigned rank = 0; rank < 4; ++rank) {
    const auto line = "rank " + std::to_string(rank) + " of 4 on gpumd0" + std::to_string(1 + rank / 2) +
                      " at " + address + " in pytorch";
    CAPTURE(line);
    CHECK(result.out.find(line) != std::string::npos);
  }
}
