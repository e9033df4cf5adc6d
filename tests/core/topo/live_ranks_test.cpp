// SPDX-License-Identifier: MIT
// Which processes are ranks, and what the kernel's texts say of them.
#include "core/topo/live_ranks.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "core/topo/check_placement.hpp"
#include "core/util/text.hpp"
#include "skip.hpp"

using namespace hpcml;
namespace fs = std::filesystem;
using model::IdSet;

namespace {

/// A /proc below /tmp that goes with the test.
class Proc {
public:
  Proc() : x_root(fs::temp_directory_path() / ("hpcml-proc-" + std::to_string(::getpid()))) {}
  ~Proc() { fs::remove_all(x_root); }
  void add(unsigned pid, const std::vector<std::string>& env, const std::string& cpus,
           const std::string& maps = {}) const {
    const fs::path directory = x_root / "proc" / std::to_string(pid),
                   task = directory / "task" / std::to_string(pid);
    fs::create_directories(task);
    std::ofstream environ(directory / "environ");
    for (const auto& entry : env) environ << entry << '\0';
    std::ofstream(task / "status") << "Name:\tx\nCpus_allowed_list:\t" << cpus << "\n";
    if (!maps.empty()) std::ofstream(directory / "numa_maps") << maps << "\n";
  }
  const fs::path& root() const { return x_root; }

private:
  fs::path x_root;
};

} // namespace

TEST_CASE("ranks are the tasks of the largest step of the caller's job and node, and nobody else") {
  const Proc proc;
  const std::vector<std::string> job = {"SLURM_JOB_ID=7", "SLURMD_NODENAME=n1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), job.begin(), job.end());
    return more;
  };
  proc.add(10, with({"SLURM_LOCALID=0"}), "0-63"); // the batch script
  proc.add(20, with({"SLURM_STEP_ID=0", "SLURM_LOCALID=0", "UCX_NET_DEVICES=mlx5_2:1"}), "0-7",
           "5602 prefer (many):3 file=/bin/x mapped=2 N0=2");
  proc.add(21, with({"SLURM_STEP_ID=0", "SLURM_LOCALID=1", "NCCL_IB_HCA==mlx5_0,mlx5_1"}), "8-15",
           "5602 bind=static:0-1 heap anon=1");
  proc.add(30, with({"SLURM_STEP_ID=1", "SLURM_LOCALID=0"}), "1");             // the one that looks
  proc.add(31, with({"SLURM_STEP_ID=2", "SLURM_LOCALID=0"}), "2");             // a smaller step
  proc.add(40, {"SLURM_JOB_ID=8", "SLURM_STEP_ID=0", "SLURM_LOCALID=2"}, "3"); // another job
  proc.add(41, {"SLURM_JOB_ID=7", "SLURMD_NODENAME=n2", "SLURM_STEP_ID=0", "SLURM_LOCALID=3"}, "3");
  const util::EnvSnapshot own({{"SLURM_JOB_ID", "7"}, {"SLURM_STEP_ID", "1"}, {"SLURMD_NODENAME", "n1"}});
  auto found = topo::read_live_ranks(own, proc.root());
  REQUIRE(found.ranks.size() == 2);
  CHECK(found.ranks[0].pid == 20);
  CHECK(found.ranks[0].cpus == IdSet::range(0, 7));
  CHECK(found.ranks[0].nic == "mlx5_2");
  CHECK(topo::render_memory(*found.ranks[0].memory) == "memory preferred from NUMA 3");
  CHECK(found.ranks[1].nic.empty()); // it may use two
  CHECK(topo::render_memory(*found.ranks[1].memory) == "memory bound to NUMA 0-1");
  CHECK(found.notes == std::vector<std::string>{"only the ranks of step 0 on this node are checked; run this "
                                                "again after they exit to check 1 rank of step 2"});
  // LOCAL_RANK counts more than the task that started the ranks, and in the caller's own step, too.
  proc.add(50, with({"SLURM_STEP_ID=1", "SLURM_LOCALID=0", "LOCAL_RANK=0"}), "4");
  proc.add(51, with({"SLURM_STEP_ID=1", "SLURM_LOCALID=0", "LOCAL_RANK=1"}), "5");
  proc.add(52, with({"SLURM_STEP_ID=1", "SLURM_LOCALID=0", "LOCAL_RANK=2"}), "6");
  proc.add(53, with({"SLURM_STEP_ID=1", "SLURM_LOCALID=0", "LOCAL_RANK=60000"}), "7"); // no node has so many
  found = topo::read_live_ranks(own, proc.root());
  REQUIRE(found.ranks.size() == 3);
  CHECK(found.ranks[2].cpus == IdSet::of({6}));
  CHECK_FALSE(found.ranks[2].memory);
}

TEST_CASE("a rank's own list of GPUs is told from one that all ranks see") {
  topo::Node node;
  node.gpus.resize(8);
  for (unsigned i = 0; i < 8; ++i) {
    node.gpus[i].place.index = i;
    node.gpus[i].uuid = "GPU-" + std::string(1, static_cast<char>('a' + i));
  }
  struct Row {
    std::vector<std::pair<unsigned, const char*>> ranks; // local rank and list; "all": no list
    unsigned count, per_rank;
    std::vector<std::vector<unsigned>> gpus; // of all local ranks
  };
  using Lists = std::vector<std::vector<unsigned>>;
  for (const auto& row : std::vector<Row>{
           {{{0, "0,1"}, {1, "2,3"}, {2, "4,5"}, {3, "6,7"}}, 4, 0, Lists{{0, 1}, {2, 3}, {4, 5}, {6, 7}}},
           {{{0, "4"}, {1, "5"}, {2, "2"}}, 3, 0, Lists{{4}, {5}, {2}}},
           {{{0, "GPU-c,GPU-d"}, {1, "GPU-a,GPU-b"}}, 2, 0, Lists{{2, 3}, {0, 1}}},
           {{{0, "0,1,2,3"}, {1, "0,1,2,3"}}, 2, 0, Lists{{0, 1}, {2, 3}}},
           {{{0, "0,1,2,3"}, {1, "0,1,2,3"}}, 2, 1, Lists{{0}, {1}}},
           {{{0, "4,5,2,3"}, {1, "4,5,2,3"}, {2, "4,5,2,3"}, {3, "4,5,2,3"}},
            4,
            0,
            Lists{{4}, {5}, {2}, {3}}},
           {{{0, "0,1"}, {1, "0,1"}, {2, "0,1"}, {3, "0,1"}}, 4, 0, Lists{{0}, {0}, {1}, {1}}},
           {{{0, "0"}, {1, "0"}, {2, "1"}, {3, "1"}}, 4, 0, Lists{{0}, {0}, {1}, {1}}},
           {{{0, "0,1,2,3,4,5,6,7"}}, 1, 0, Lists{{0, 1, 2, 3, 4, 5, 6, 7}}},
           {{{0, "all"}}, 1, 0, Lists{{0, 1, 2, 3, 4, 5, 6, 7}}},
           {{{0, "all"}, {1, "all"}}, 2, 1, Lists{{0}, {1}}},
           // Ranks that have gone: the rest of a shared list, or GPUs that nobody else has.
           {{{0, "0,1,2,3"}, {2, "0,1,2,3"}}, 4, 0, Lists{{0}, {1}, {2}, {3}}},
           {{{0, "0,1"}, {2, "4,5"}}, 3, 0, Lists{{0, 1}, {2, 3}, {4, 5}}},
           {{{1, "2,3"}}, 2, 0, Lists{{0, 1}, {2, 3}}},
           {{{1, "0,1,2,3,4,5,6,7"}}, 2, 0, Lists{{0, 1, 2, 3}, {4, 5, 6, 7}}},
           {{{0, "-1"}, {1, "-1"}}, 2, 0, Lists{{}, {}}}}) {
    std::vector<topo::LiveRank> ranks;
    for (const auto& [number, list] : row.ranks) {
      ranks.emplace_back();
      ranks.back().local_rank = number;
      ranks.back().sees_all = std::string(list) == "all";
      if (!ranks.back().sees_all) ranks.back().devices = util::split(list, ',');
    }
    CAPTURE(row.ranks, row.count, row.per_rank);
    CHECK(topo::gpus_of_ranks(node, ranks, row.count, row.per_rank) == row.gpus);
  }
}

TEST_CASE("the kernel's words for memory policies are read, and this process's own") {
  struct Row {
    const char* line;
    const char* text;
  };
  for (const auto& row :
       {Row{"55 default file=/bin/head mapped=2 N0=2", "memory of the NUMA node that the thread runs on"},
        Row{"55 local", "memory of the NUMA node that the thread runs on"},
        Row{"55 prefer:2 anon=1", "memory preferred from NUMA 2"},
        Row{"55 interleave:0-3", "memory interleaved over NUMA 0-3"},
        Row{"55 weighted interleave:0,2 heap", "memory interleaved over NUMA 0,2"}}) {
    CAPTURE(row.line);
    const auto policy = topo::parse_numa_maps(row.line);
    REQUIRE(policy);
    CHECK(topo::render_memory(*policy) == row.text);
  }
  for (const char* bad : {"", "55", "55 prefer", "55 bind:x", "55 something:1"})
    CHECK_FALSE(topo::parse_numa_maps(bad));
  // Two ways to ask the same kernel.
  std::ifstream maps("/proc/thread-self/numa_maps");
  std::string line;
  const auto own = topo::read_memory_policy();
  if (!std::getline(maps, line) || !own) return test::skip("the kernel has no NUMA memory policies");
  CHECK(topo::render_memory(*own) == topo::render_memory(topo::parse_numa_maps(line).value()));
}

TEST_CASE("memory is judged by the NUMA nodes of the rank's CPUs, and a GPU's memory is never right") {
  topo::Node node;
  node.cpus = model::make_regular_cpus(1, 8, 1, 2, 0);
  node.numa = {{0, IdSet::range(0, 3), topo::NumaMemoryOwner::cpu},
               {1, IdSet::range(4, 7), topo::NumaMemoryOwner::cpu},
               {4, {}, topo::NumaMemoryOwner::device}};
  struct Row {
    IdSet nodes;
    const char* text;
    bool wrong;
  };
  for (const auto& row :
       {Row{IdSet::of({1}), "", false},
        Row{IdSet::of({0}), "its memory preferred from NUMA 0, its CPUs are in NUMA 1", true},
        Row{IdSet::of({0, 1}), "its memory preferred from NUMA 0-1, its CPUs are in NUMA 1", false},
        Row{IdSet::of({1, 4}), "its memory preferred from NUMA 1,4: NUMA 4 is memory of a GPU", true}}) {
    const auto report = topo::check_placement(
        node,
        {{0, {}, IdSet::range(4, 7), "", topo::MemoryPolicy{topo::MemoryPolicyMode::preferred, row.nodes}}});
    const std::string text = report.findings.empty() ? "" : report.findings.front().text;
    CHECK(text == row.text);
    CHECK(report.wrong(0) == row.wrong);
  }
  // A NIC is judged by where it is, also where the profile names the nearest one.
  node.gpus.resize(1);
  node.gpus[0].place.numa = 1;
  node.gpus[0].place.nic = "hsn1";
  for (unsigned i : {0u, 1u}) {
    node.nics.emplace_back();
    node.nics.back().name = "hsn" + std::to_string(i);
    node.nics.back().numa = i;
  }
  topo::complete_node(node);
  CHECK(topo::check_placement(node, {{0, {0}, IdSet::range(4, 7), "hsn1"}}).findings.empty());
  const auto far = topo::check_placement(node, {{0, {0}, IdSet::range(4, 7), "hsn0"}}).findings;
  REQUIRE(far.size() == 1);
  CHECK(far.front().kind == topo::PlacementFault::remote_nic);
  CHECK(topo::check_placement(node, {{0, {0}, IdSet::range(4, 7), "elsewhere"}}).findings.empty());
  // Nobody else needs the other half; but none of this rank's CPUs is where its GPU is.
  const auto away = topo::check_placement(node, {{0, {0}, IdSet::range(0, 3), ""}});
  CHECK(away.wrong(0));
  CHECK(away.score == 0);
}
