// SPDX-License-Identifier: MIT
// What gen writes, run by real Slurm on each site's nodes with each launcher: what the ranks themselves find
// there.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "core/model/id_set.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "emulate/cluster_helper.hpp"

using namespace hpcml;
using test::Cluster;

namespace {

struct Job {
  const char* name;
  const char* request; ///< flags of gen
  unsigned nodes;
  unsigned ranks_per_node;
  unsigned cpus; ///< of each rank, where somebody binds it
  unsigned gpus; ///< of each node
};

struct SiteCase {
  const char* site;
  const char* cluster; ///< flags of emulate
  const char* common;  ///< flags of gen for each job
  std::vector<std::string> launchers;
  const char* visible; ///< the variable that tells of the GPUs; empty where the site's Slurm sets none
  bool own;            ///< a rank sees its own GPU only, by the site's rule
  std::vector<Job> jobs;
};

const std::vector<SiteCase> k_sites = {
    {"lumi",
     "",
     "--account project_1",
     {"hpcml", "srun", "torchrun"},
     "ROCR_VISIBLE_DEVICES",
     true,
     {{"one", "--partition small-g --gpus-per-node 1", 1, 1, 7, 1},
      {"some", "--partition small-g --gpus-per-node 3 --nodes 2", 2, 3, 7, 3},
      {"full", "", 1, 8, 7, 8},
      {"two", "--nodes 2", 2, 8, 7, 8},
      {"cpu", "--nodes 2 --gpus-per-node 0 --tasks-per-node 2 --cpus-per-task 4", 2, 2, 4, 0}}},
    {"zurada",
     "",
     "--mem 4G",
     {"hpcml", "srun", "torchrun"},
     "CUDA_VISIBLE_DEVICES",
     false,
     {{"one", "--gpus-per-node 1", 1, 1, 16, 1},
      {"full", "", 1, 2, 16, 2},
      {"two", "--nodes 2", 2, 2, 16, 2}}},
    {"zurada",
     "--partition cpu384g",
     "--partition cpu384g --mem 4G",
     {"hpcml", "srun", "torchrun"},
     "",
     false,
     {{"cpu", "--nodes 2 --tasks-per-node 4 --cpus-per-task 8", 2, 4, 8, 0}}},
    {"narval",
     "",
     "--mem 4G",
     {"hpcml", "srun", "torchrun"},
     "CUDA_VISIBLE_DEVICES",
     false,
     {{"one", "--gpus-per-node 1", 1, 1, 12, 1},
      {"full", "", 1, 4, 12, 4},
      {"two", "--nodes 2", 2, 4, 12, 4},
      {"cpu", "--nodes 2 --gpus-per-node 0 --tasks-per-node 4 --cpus-per-task 6", 2, 4, 6, 0}}},
    {"vista",
     "",
     "",
     {"hpcml", "ibrun", "torchrun"},
     "",
     false,
     {{"one", "", 1, 1, 72, 1}, {"two", "--nodes 2", 2, 1, 72, 1}}},
    {"vista",
     "--partition gg",
     "--partition gg",
     {"hpcml", "ibrun", "torchrun"},
     "",
     false,
     {{"cpu", "--nodes 2 --tasks-per-node 4 --cpus-per-task 8", 2, 4, 8, 0}}},
    {"lonestar6",
     "",
     "--account me",
     {"hpcml", "ibrun"},
     "",
     false,
     {{"full", "", 1, 3, 42, 3}, {"two", "--nodes 2", 2, 3, 42, 3}}},
    {"stampede3",
     "",
     "--account me",
     {"hpcml", "ibrun"},
     "",
     false,
     {{"full", "", 1, 4, 24, 4}, {"two", "--nodes 2", 2, 4, 24, 4}}},
    {"generic",
     "--gpus-per-node a100:4 --cpus-per-node 32",
     "--cpus-per-task 6",
     {"hpcml", "srun", "torchrun"},
     "CUDA_VISIBLE_DEVICES",
     false,
     {{"one", "--gpus-per-node 1", 1, 1, 6, 1},
      {"full", "--gpus-per-node 4 --gpu-type a100", 1, 4, 6, 4},
      {"two", "--nodes 2 --gpus-per-node 4", 2, 4, 6, 4},
      {"cpu", "--nodes 2 --gpus-per-node 0 --tasks-per-node 3", 2, 3, 6, 0}}},
};

// Everything is asked of the kernel, or is the variable that a training program reads.
const char* const k_probe = R"(#!/bin/bash
set -eu
read -r host < /proc/sys/kernel/hostname # HOSTNAME is inherited from the batch step
while read -r key value; do
  if [[ $key == Cpus_allowed_list: ]]; then cpus=$value; fi
done < /proc/self/status
here=no
if ((RANK == 0)); then
  read -r address _ < <(getent ahostsv4 "$MASTER_ADDR")
  [[ " $(ip -4 -o addr) " == *" $address/"* ]] && here=yes
fi
printf '%s\n' "rank=$RANK" "local=$LOCAL_RANK" "world=$WORLD_SIZE" "local_world=$LOCAL_WORLD_SIZE" "master=$MASTER_ADDR:$MASTER_PORT" \
  "host=$host" "cpus=$cpus" "here=$here" "CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES-unset}" \
  "ROCR_VISIBLE_DEVICES=${ROCR_VISIBLE_DEVICES-unset}" > "$1/$host.$$"
)";

// What torchrun does with the options that scripts give it, without the seconds that Python's torch takes to
// start.
const char* const k_torchrun = R"(#!/bin/bash
set -eu
for option in "$1" "$2"; do
  case $option in
    --nnodes=*) nodes=${option#*=} ;;
    --nproc_per_node=*) count=${option#*=} ;;
  esac
done
shift 2
if [[ $1 == --rdzv_conf=is_host=* ]]; then # exactly the first node holds the store
  first=false
  [[ ${OMPI_COMM_WORLD_RANK-$SLURM_NODEID} != 0 ]] || first=true
  [[ ${1##*=} == "$first" ]] || nodes=
  shift
fi
if [[ $1 != --rdzv_id=[0-9]* ]]; then nodes=; fi
if [[ $2 != --rdzv_backend=c10d || $3 != --rdzv_endpoint=*:[0-9]* || $4 != --no_python ]]; then nodes=; fi
export MASTER_ADDR=${3#*=} WORLD_SIZE=$((nodes * count)) LOCAL_WORLD_SIZE=$count
export MASTER_PORT=${MASTER_ADDR#*:} MASTER_ADDR=${MASTER_ADDR%:*}
shift 4
ranks=()
for ((i = 0; i < count; i++)); do
  RANK=$((${OMPI_COMM_WORLD_RANK-$SLURM_NODEID} * count + i)) LOCAL_RANK=$i "$@" &
  ranks+=($!)
done
for rank in "${ranks[@]}"; do wait "$rank"; done # not wait -n, which misses one that ended before: 1 in 20 times
)";

using Facts = std::map<std::string, std::string>;

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> list;
  for (const auto& word : util::split(text, ' '))
    if (!word.empty()) list.push_back(word);
  return list;
}

std::vector<Facts> read_reports(const std::filesystem::path& directory) {
  std::vector<Facts> reports;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    Facts facts;
    for (const auto& line : util::split(util::read_file(entry.path()).value_or(""), '\n'))
      if (const auto equal = line.find('='); equal != std::string::npos)
        facts[line.substr(0, equal)] = line.substr(equal + 1);
    reports.push_back(facts);
  }
  return reports;
}

model::IdSet cpus_of(const Facts& rank) {
  const auto set = model::IdSet::parse_list(rank.at("cpus"));
  REQUIRE(set);
  return *set;
}

/// Ranks, their hosts and where they meet.
void check_ranks(const Job& job, const std::vector<Facts>& ranks) {
  std::set<std::string> numbers, masters;
  std::map<std::string, std::set<std::string>> locals;
  unsigned rendezvous = 0;
  for (const auto& rank : ranks) {
    numbers.insert(rank.at("rank"));
    masters.insert(rank.at("master"));
    locals[rank.at("host")].insert(rank.at("local"));
    rendezvous += rank.at("here") == "yes";
    CHECK(rank.at("world") == std::to_string(job.nodes * job.ranks_per_node));
    CHECK(rank.at("local_world") == std::to_string(job.ranks_per_node));
  }
  std::set<std::string> expected, expected_locals;
  for (unsigned rank = 0; rank < job.nodes * job.ranks_per_node; ++rank)
    expected.insert(std::to_string(rank));
  for (unsigned rank = 0; rank < job.ranks_per_node; ++rank) expected_locals.insert(std::to_string(rank));
  CHECK(ranks.size() == expected.size());
  CHECK(numbers == expected);
  CHECK(masters.size() == 1);
  CHECK(rendezvous == 1); // the address is one of rank 0's own node
  CHECK(locals.size() == job.nodes);
  for (const auto& [host, of_host] : locals) CHECK(of_host == expected_locals);
}

/// Each rank has as many CPUs as it asked for, and no two share one; where nobody binds, each has at least as
/// many.
void check_cpus(const Job& job, const std::vector<Facts>& ranks, bool bound) {
  std::map<std::string, model::IdSet> taken;
  for (const auto& rank : ranks) {
    const auto cpus = cpus_of(rank);
    CAPTURE(rank.at("rank"), rank.at("host"), rank.at("cpus"));
    if (bound) {
      CHECK(cpus.size() == job.cpus);
      CHECK_FALSE(taken[rank.at("host")].intersects(cpus));
    } else {
      CHECK(cpus.size() >= std::size_t(job.cpus) * job.ranks_per_node);
    }
    taken[rank.at("host")] = taken[rank.at("host")] | cpus;
  }
}

/// The GPU that each rank takes is one that it can see, and no other rank takes it.
void check_gpus(const SiteCase& site, const Job& job, const std::vector<Facts>& ranks, bool own) {
  std::map<std::string, std::set<std::string>> taken;
  for (const auto& rank : ranks) {
    for (const std::string name : {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"})
      if (name != site.visible) CHECK(rank.at(name) == "unset");
    if (*site.visible == '\0') continue; // all GPUs of the node
    if (job.gpus == 0) {
      CHECK_FALSE(util::parse_unsigned(rank.at(site.visible).substr(0, 1)));
      continue;
    }
    const auto visible = util::split(rank.at(site.visible), ',');
    CAPTURE(rank.at("rank"), rank.at("host"), rank.at(site.visible));
    const auto index = own ? 0ULL : *util::parse_unsigned(rank.at("local"));
    REQUIRE(visible.size() == (own ? 1 : job.gpus));
    CHECK(util::parse_unsigned(visible[index]));
    CHECK(taken[rank.at("host")].insert(visible[index]).second);
  }
}

} // namespace

TEST_CASE("each site's jobs find their ranks, cores and GPUs with each launcher", "[slurm]") {
  for (const auto& site : k_sites) {
    auto arguments = words("--nodes 4 --quiet --site " + std::string(site.site) + " " + site.cluster);
    const Cluster cluster(arguments);
    cluster.write("probe", k_probe);
    std::filesystem::create_directory(cluster.directory().path() / "bin");
    cluster.write("bin/torchrun", k_torchrun);
    std::string submit = "PATH=$PWD/bin:$PATH\n";
    for (const auto& launcher : site.launchers)
      for (const auto& job : site.jobs) {
        const auto name = std::string(job.name) + "-" + launcher;
        std::filesystem::create_directory(cluster.directory().path() / name);
        const auto made =
            cluster.generate(words(std::string("--site ") + site.site + " " + site.common + " " +
                                   job.request + " --time 5 --launcher " + launcher + " --output " + name +
                                   ".out -o " + name + ".sh -- ./probe " + name));
        CAPTURE(site.site, name, made.err);
        REQUIRE(made.exit_code == 0);
        submit += "ids[$(sbatch --parsable " + name + ".sh)]=" + name + "\n";
      }
    // Not sbatch -W: it asks after 2, 10 and 20 seconds.
    submit += "until [[ -z $(squeue -h) ]]; do sleep 0.1; done\nfor id in ${!ids[@]}; do scontrol -o show "
              "job $id | "
              "grep -q 'JobState=COMPLETED .*ExitCode=0:0' || echo \"${ids[$id]} failed\"; done\n";
    const auto result = cluster.run(submit);
    CAPTURE(site.site);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out == "");
    for (const auto& launcher : site.launchers)
      for (const auto& job : site.jobs) {
        const auto name = std::string(job.name) + "-" + launcher;
        CAPTURE(name, cluster.read(name + ".out"));
        const auto ranks = read_reports(cluster.directory().path() / name);
        REQUIRE(ranks.size() == job.nodes * job.ranks_per_node);
        check_ranks(job, ranks);
        check_cpus(job, ranks, launcher == "hpcml" || launcher == "srun");
        check_gpus(site, job, ranks, site.own && launcher != "torchrun");
      }
  }
}
