// SPDX-License-Identifier: MIT
// Ranks in layouts drawn by a seed, on an emulated cluster: what launch tells each of them is what srun's
// label and the host's name make of the same step. HPCML_LAYOUTS: how many (default 100); HPCML_LAYOUTS_SEED;
// HPCML_LAYOUTS_SLURM: the folder of another installed Slurm.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <regex>
#include <set>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/layouts_helper.hpp"
#include "run/launch/process_helper.hpp"
#include "skip.hpp"

using namespace hpcml;
using namespace hpcml::testing;

namespace {

unsigned from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

// Slurm's own numbers of the task, then what launch has told the rank.
const char* const k_show = "#!/bin/sh\necho \"at ${SLURM_PROCID:--} ${SLURM_LOCALID:--} ${SLURM_NODEID:--} "
                           "$(hostname) $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $NODE_RANK "
                           "$GROUP_RANK $MASTER_ADDR $MASTER_PORT\"\n";

/// The script of a job: layouts that take CPUs for themselves in turn, beside them the others in two rows.
std::string job_script(const DrawnJob& job, unsigned number) {
  // A step that Slurm never lets begin is its refusal: 20.11 lets one inside another wait for ever.
  std::string rows[3], text = "#!/bin/bash\nunset SLURM_CPU_BIND\nexport SLURM_IMMEDIATE=60\n";
  unsigned next = 0;
  for (std::size_t i = 0; i < job.layouts.size(); ++i) {
    const auto& layout = job.layouts[i];
    const std::string name = std::to_string(number) + "-" + std::to_string(i) + ".$SLURM_ARRAY_TASK_ID";
    rows[layout.alone ? 0 : 1 + next++ % 2] += "l" + std::to_string(i) + "() { " + layout.line + "\n}; l" +
                                               std::to_string(i) + " > out-" + name + " 2> err-" + name +
                                               "; echo $? > code-" + name + "\n";
  }
  for (const auto& row : rows) text += "{\n:\n" + row + "} &\n";
  return text + "wait\n";
}

/// A rank's line, as its label and its program have it.
struct ReportedRank {
  unsigned label = 0;   ///< the task's number by srun or mpirun
  unsigned started = 0; ///< where launch has started several: the number in its own label
  std::string host;
  std::map<std::string, std::string> values;
};

std::vector<ReportedRank> read_lines(const std::string& text) {
  static const std::regex k_line(R"(^(?:\[1,(\d+)\]<stdout>:)?\s*(?:(\d+): )?(?:\[(\d+)\] )?at (.*)$)");
  static const std::regex k_colours("\x1b\\[[0-9;]*m|\r"); // srun -u gives a terminal
  std::vector<ReportedRank> ranks;
  for (const auto& coloured : util::split(text, '\n')) {
    const auto line = std::regex_replace(coloured, k_colours, "");
    std::smatch found;
    if (!std::regex_match(line, found, k_line)) continue;
    ReportedRank result;
    result.label = static_cast<unsigned>(std::stoul("0" + found[1].str() + found[2].str()));
    result.started = static_cast<unsigned>(std::stoul("0" + found[3].str()));
    const auto words = util::split(found[4].str(), ' ');
    const char* const names[] = {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "host",
                                 "RANK",         "WORLD_SIZE",    "LOCAL_RANK",   "LOCAL_WORLD_SIZE",
                                 "NODE_RANK",    "GROUP_RANK",    "MASTER_ADDR",  "MASTER_PORT"};
    for (std::size_t i = 0; i < std::size(names) && i < words.size(); ++i) result.values[names[i]] = words[i];
    result.host = result.values["host"];
    ranks.push_back(result);
  }
  return ranks;
}

/// What is wrong with the ranks of a layout; empty if nothing is.
class LayoutChecker {
public:
  LayoutChecker(const DrawnLayout& layout, std::vector<ReportedRank> ranks)
      : x_layout(layout), x_ranks(std::move(ranks)) {}

  std::vector<std::string> faults() {
    const unsigned each = std::max(1U, x_layout.per_task);
    if (x_ranks.size() != std::size_t{x_layout.tasks} * each)
      x_faults.push_back(std::to_string(x_ranks.size()) + " ranks of " +
                         std::to_string(x_layout.tasks * each));
    if (x_ranks.empty()) return x_faults;
    for (auto& rank : x_ranks) rank.label = x_layout.per_task > 0 ? rank.started : rank.label;
    std::sort(x_ranks.begin(), x_ranks.end(),
              [](const ReportedRank& a, const ReportedRank& b) { return a.label < b.label; });
    for (std::size_t i = 0; i < x_ranks.size(); ++i) x_of_host[x_ranks[i].host].push_back(i);
    for (std::size_t i = 0; i < x_ranks.size(); ++i) checker(i);
    evaluate_nodes();
    return x_faults;
  }

  std::string port() const { return x_ranks.empty() ? "" : x_ranks.front().values.at("MASTER_PORT"); }

private:
  void expect(std::size_t i, const std::string& name, const std::string& value) {
    const auto& actual = x_ranks[i].values[name];
    if (actual != value)
      x_faults.push_back("rank " + std::to_string(i) + " on " + x_ranks[i].host + ": " + name + "=" + actual +
                         " instead of " + value);
  }

  void checker(std::size_t i) {
    auto& rank = x_ranks[i];
    if (rank.label != i)
      x_faults.push_back("label " + std::to_string(rank.label) + " instead of " + std::to_string(i));
    const auto& local_ranks = x_of_host[rank.host];
    const auto local =
        static_cast<std::size_t>(std::find(local_ranks.begin(), local_ranks.end(), i) - local_ranks.begin());
    expect(i, "RANK", std::to_string(i));
    expect(i, "WORLD_SIZE", std::to_string(x_ranks.size()));
    expect(i, "LOCAL_RANK", std::to_string(local));
    expect(i, "LOCAL_WORLD_SIZE", std::to_string(local_ranks.size()));
    expect(i, "GROUP_RANK", rank.values["NODE_RANK"]);
    expect(i, "MASTER_PORT", x_ranks.front().values["MASTER_PORT"]);
    expect(i, "MASTER_ADDR",
           x_layout.per_task > 0 && x_of_host.size() == 1 ? "127.0.0.1" : x_ranks.front().host);
    if (x_layout.mpi) return;
    expect(i, "NODE_RANK", rank.values["SLURM_NODEID"]);
    if (x_layout.per_task > 0) return;
    expect(i, "SLURM_PROCID", std::to_string(i));
    expect(i, "SLURM_LOCALID", std::to_string(local));
    if (!x_layout.hosts.empty()) expect(i, "host", x_layout.hosts[i]);
  }

  /// Each host has a number of its own, from 0 on.
  void evaluate_nodes() {
    std::map<std::string, std::set<std::string>> hosts;
    for (const auto& rank : x_ranks) hosts[rank.values.at("NODE_RANK")].insert(rank.host);
    for (std::size_t node = 0; node < x_of_host.size(); ++node)
      if (hosts[std::to_string(node)].size() != 1)
        x_faults.push_back("NODE_RANK " + std::to_string(node) + " is on " +
                           std::to_string(hosts[std::to_string(node)].size()) + " hosts");
  }

  const DrawnLayout& x_layout;
  std::vector<ReportedRank> x_ranks; ///< by their labels
  std::map<std::string, std::vector<std::size_t>> x_of_host;
  std::vector<std::string> x_faults;
};

struct Tally {
  unsigned right = 0;
  unsigned refused = 0; ///< by srun itself
  std::vector<std::string> wrong;
};

void evaluate_layout(const DrawnLayout& layout, const std::string& directory, const std::string& name,
                     std::set<std::string>& ports, Tally& tally) {
  const auto read = [&](const char* what) {
    return util::read_file(directory + "/" + what + name).value_or("");
  };
  const auto err = read("err-");
  LayoutChecker checker(layout, read_lines(read("out-")));
  auto faults = checker.faults();
  const bool launched = err.find("hpcml: ") != std::string::npos;
  if (checker.port().empty() && !launched && err.find("srun: error: ") != std::string::npos) {
    ++tally.refused;
    std::cerr << "refused by srun: " << layout.line << "\n  " << util::split(err, '\n').front() << "\n";
    return;
  }
  if (!checker.port().empty() && !ports.insert(checker.port()).second && layout.tasks > 1 &&
      layout.per_task == 0)
    faults.push_back("another step of the job has MASTER_PORT " + checker.port());
  if (faults.empty()) {
    ++tally.right;
    return;
  }
  if (faults.size() > 4) faults.resize(4);
  tally.wrong.push_back(layout.line + "\n    " + util::join(faults, "\n    ") + "\n    exit code " +
                        std::string(util::trim(read("code-"))) + ": " + err.substr(0, 600));
}

} // namespace

TEST_CASE("in layouts drawn by a seed each rank is told what srun's label and its host say of it",
          "[slurm]") {
  const unsigned seed = from_environment("HPCML_LAYOUTS_SEED", 16),
                 count = from_environment("HPCML_LAYOUTS", 100);
  auto env = util::EnvSnapshot::of_process();
  std::string path = "/usr/sbin:/usr/bin:/sbin:/bin";
  if (const char* slurm = std::getenv("HPCML_LAYOUTS_SLURM"))
    path = std::string(slurm) + "/bin:" + slurm + "/sbin:" + path;
  env.set("PATH", path);
  env.set("H", HPCML_BINARY);
  const bool has_mpi = util::find_program("mpirun", env).has_value();
  if (!has_mpi) test::skip_missing("mpirun");
  const auto jobs = draw_layouts(seed, count, has_mpi);
  const std::string directory = make_directory();
  REQUIRE(util::write_file(directory + "/show.sh", k_show, 0755));
  // Ranks of a world are there together: Slurm forgets a component whose tasks have ended.
  REQUIRE(util::write_file(directory + "/late.sh", std::string(k_show) + "sleep 2\n", 0755));
  std::string all;
  for (unsigned i = 0; i < jobs.size(); ++i) {
    const auto name = "job-" + std::to_string(i) + ".sh";
    REQUIRE(util::write_file(directory + "/" + name, job_script(jobs[i], i), 0755));
    const auto tasks = jobs[i].array > 0 ? " -a 1-" + std::to_string(jobs[i].array) : std::string();
    all += (jobs[i].script
                ? "sbatch -W -o batch-" + std::to_string(i) + " -t 9" + tasks + jobs[i].request + " ./" + name
                : "salloc -Q -t 9" + jobs[i].request + " bash ./" + name) +
           "\n";
  }
  REQUIRE(util::write_file(directory + "/all.sh", all, 0755));
  const auto output = util::run_process({"env", "-C", directory, HPCML_BINARY, "emulate", "--site", "generic",
                                         "--nodes", "6", "--cpus-per-node", "32", "--", "bash", "./all.sh"},
                                        env, std::chrono::seconds(3000));
  REQUIRE(output);
  Tally tally;
  for (unsigned i = 0; i < jobs.size(); ++i) {
    for (unsigned task = std::min(1U, jobs[i].array); task <= jobs[i].array; ++task) {
      std::set<std::string> ports;
      const std::string end = "." + (task > 0 ? std::to_string(task) : "");
      for (std::size_t k = 0; k < jobs[i].layouts.size(); ++k)
        evaluate_layout(jobs[i].layouts[k], directory, std::to_string(i) + "-" + std::to_string(k) + end,
                        ports, tally);
    }
  }
  INFO(output->err.substr(0, 2000));
  const auto evaluated = tally.right + tally.refused + tally.wrong.size();
  std::cout << "layouts, seed " << seed << ": " << tally.right << " of " << evaluated << " right, "
            << tally.refused << " refused by srun itself, " << tally.wrong.size() << " wrong\n";
  if (!tally.wrong.empty()) std::cout << "in " << directory << ":\n";
  for (const auto& wrong : tally.wrong) std::cout << "WRONG: " << wrong << "\n";
  CHECK(tally.wrong.empty());
  CHECK(evaluated >= count); // arrays run theirs more than once
  CHECK(tally.refused * 10 <= count);
  if (tally.wrong.empty()) std::filesystem::remove_all(directory);
}
