// SPDX-License-Identifier: MIT
// Limits for what a support engineer has to read: lines of a plain job, what each option adds, their width,
// and no packed programs. docs/decisions/0019 gives the reasons for the exceptions.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <regex>

#include "core/config/job_keys.hpp"
#include "core/config/site_store.hpp"
#include "core/util/text.hpp"
#include "flag_values.hpp"
#include "generate/plan/planner.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"

using namespace hpcml;

namespace {

constexpr std::size_t k_most_lines = 30;    ///< of a job on two nodes without options
constexpr std::size_t k_most_added = 2;     ///< by an option
constexpr std::size_t k_most_with_all = 45; ///< with everything that keeps a job alive
constexpr std::size_t k_columns = 110;

std::vector<std::string> lines_of(const std::string& script) {
  auto lines = util::split(script, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

using Options = std::vector<std::pair<std::string, std::string>>;

/// The script of a job on two nodes with these options, its command line in its head; nothing where the
/// site's rules do not allow it.
std::optional<std::string> script_of(const model::Site& site, const Options& options) {
  auto job = test::request_for(site);
  job.command = {"python", "train.py"};
  std::string line = "hpcml gen --site " + site.id + " --nodes 2 --time 15";
  if (job.account) line += " --account " + job.account->value;
  if (job.qos) line += " --qos " + job.qos->value;
  if (job.mem) line += " --mem 16G";
  test::choose_partition(job, site);
  if (job.partition) line += " --partition " + job.partition->value;
  for (const auto& [name, value] : options) {
    const auto& keys = config::job_keys();
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&](const auto& entry) { return entry.name == name; });
    REQUIRE(key != keys.end());
    if (key->from_text(job, value, test::flag(0, key->flag()).origin)) return std::nullopt;
    line += " " + key->flag() + (value == "true" ? "" : " " + value);
  }
  const auto planned = plan::make_plan(job, site, {line + " -- python train.py"});
  return planned.plan ? std::optional(render::render_script(*planned.plan)) : std::nullopt;
}

/// What makes a script hard to read, besides its length.
std::string find_packed(const std::string& script) {
  static const std::regex k_program(R"(bash -c '[^']*\n)"), k_here(R"(<<-?\s*['"\\]?\w)"),
      k_function(R"(\n\s*\w+\s*\(\))"), k_chain(R"(\n(?!if )[^#'"\n]*;[^'"\n]*;)");
  std::string found;
  if (std::regex_search(script, k_program)) found += "a program of several lines for bash -c\n";
  if (std::regex_search(script, k_here)) found += "a here-document\n";
  if (std::regex_search(script, k_function)) found += "a function\n";
  if (std::regex_search(script, k_chain)) found += "a chain of commands\n";
  for (const auto& line : lines_of(script))
    if (line.size() > k_columns && !line.starts_with("#SBATCH") &&
        line.find("--cpu-bind=mask_cpu:") == std::string::npos)
      found += "wide: " + line + "\n";
  return found;
}

const std::vector<std::string>& launchers() {
  static const std::vector<std::string> k_launchers = {"hpcml", "srun", "torchrun", "accelerate",
                                                       "deepspeed"};
  return k_launchers;
}

/// A value for each key, and the options that it needs.
const std::map<std::string, std::pair<std::string, Options>>& values() {
  static const std::map<std::string, std::pair<std::string, Options>> k_values = {
      {"account", {"", {}}}, // part of the job without options
      {"partition", {"", {}}},
      {"qos", {"", {}}},
      {"nodes", {"", {}}},
      {"time", {"", {}}},
      {"mem", {"", {}}},
      {"launcher", {"", {}}},
      {"gpu-type", {"", {}}},
      {"gpus-per-node", {"1", {}}},
      {"gpus-per-task", {"2", {}}},
      {"tasks-per-node", {"1", {}}},
      {"cpus-per-task", {"4", {}}},
      {"threads-per-core", {"2", {}}},
      {"job-name", {"experiment", {}}},
      {"output", {"logs/%j.out", {}}},
      {"backend", {"gloo", {}}},
      {"gpu-visibility", {"all", {}}},
      {"rank-order", {"cpu", {}}},
      {"idle-cores", {"package", {}}},
      {"bind-check", {"fail", {}}},
      {"signal", {"USR1@60", {}}},
      {"array", {"0-9%2", {}}},
      {"dependency", {"afterok:123", {}}},
      {"hpcml-path", {"/opt/hpcml/bin/hpcml", {}}},
      {"sbatch", {"--exclusive", {}}},
      {"srun", {"--label", {}}},
      {"save-before", {"5m", {}}},
      {"save-signal", {"USR2", {{"save-before", "5m"}}}},
      {"requeue", {"true", {}}},
      {"max-requeues", {"5", {{"save-before", "5m"}, {"requeue", "true"}}}},
      {"spare-nodes", {"1", {}}},
      {"requeue-on", {"preempted", {{"save-before", "5m"}, {"requeue", "true"}}}},
      {"checkpoint-dir", {"/scratch/me/checkpoints", {}}},
      {"nccl-debug", {"true", {}}},
      {"report", {"true", {}}},
      {"tf32", {"on", {}}},
      {"preflight", {"true", {}}},
      {"store", {"env", {}}},
      {"rendezvous-timeout", {"60", {}}},
      {"jax-coordinator", {"true", {}}},
      {"agent", {"true", {}}},
      {"log-dir", {"logs", {}}},
      {"max-restarts", {"3", {}}},
      {"stall-timeout", {"600", {}}},
      {"nnodes", {"1:2", {}}},
      {"heartbeat-interval", {"10", {{"agent", "true"}}}},
      {"heartbeat-timeout", {"60", {{"agent", "true"}}}},
      {"venv", {"/project/me/env", {}}},
      {"conda", {"pytorch", {}}},
      {"wheelhouse", {"torch", {}}},
      {"container", {"/images/torch.sif", {}}},
      {"container-engine", {"", {}}},
      {"module", {"cuda", {}}},
      {"env", {"A=b", {}}},
      {"stage", {"/project/me/data", {}}},
      {"bind", {"/project/me", {{"container", "/images/torch.sif"}}}},
      {"container-enter", {"false", {{"container", "/images/torch.sif"}}}},
  };
  return k_values;
}

/// Options that other launchers than hpcml carry out with plain commands, or with internal batch, whose lines
/// come with the first of them.
std::size_t most_added(const std::string& site, const std::string& launcher, const std::string& option) {
  // Agents in place of single ranks: srun and launch get an option each, and srun's line is full.
  if (site == "jupiter" && option == "nnodes") return 3;
  // The nodes' own disks take a constraint.
  if (site == "frontier" && (option == "venv" || option == "conda")) return 3;
  static const std::map<std::string, std::size_t> k_longer = {
      {"save-before", 8},   {"checkpoint-dir", 8}, {"stage", 4},         {"container", 3},
      {"gpus-per-node", 3}, {"gpus-per-task", 3},  {"tasks-per-node", 3}};
  const auto longer = k_longer.find(option);
  return launcher == "hpcml" || longer == k_longer.end() ? k_most_added : longer->second;
}

} // namespace

TEST_CASE("plain scripts of all sites stay short and narrow") {
  // Frontier prescribes 8 options, 5 modules and 19 variables, one of them a search path on a line by itself.
  const std::map<std::pair<std::string, std::string>, std::size_t> longer = {{{"frontier", "srun"}, 32},
                                                                             {{"frontier", "torchrun"}, 31},
                                                                             {{"frontier", "accelerate"}, 32},
                                                                             {{"frontier", "deepspeed"}, 36}};
  std::size_t scripts = 0;
  for (const auto& id : config::list_sites({})) {
    const auto load = config::load_site(id, {});
    REQUIRE(load.site);
    for (const auto& launcher : launchers()) {
      const auto script = script_of(*load.site, {{"launcher", launcher}});
      if (!script) continue;
      CAPTURE(id, launcher, *script);
      const auto exception = longer.find({id, launcher});
      CHECK(lines_of(*script).size() <= (exception == longer.end() ? k_most_lines : exception->second));
      CHECK(find_packed(*script) == "");
      ++scripts;
    }
  }
  CHECK(scripts > 250);
}

TEST_CASE("an option adds at most two lines") {
  for (const auto& key : config::job_keys()) {
    CAPTURE(key.name);
    CHECK(values().count(key.name) == 1);
  }
  std::size_t pairs = 0;
  for (const auto& id :
       {"lumi", "frontier", "perlmutter", "alps_daint", "alps_clariden", "vista", "jean_zay", "leonardo",
        "narval", "snellius", "jupiter", "marenostrum5_acc", "delta", "generic"}) {
    const auto load = config::load_site(id, {});
    REQUIRE(load.site);
    const auto check = [&](const std::string& launcher, const std::string& key, const std::string& value,
                           const Options& needs) {
      Options options = {{"launcher", launcher}};
      options.insert(options.end(), needs.begin(), needs.end());
      const auto without = script_of(*load.site, options);
      options.emplace_back(key, value);
      const auto with = script_of(*load.site, options);
      if (!without || !with) return;
      CAPTURE(id, launcher, key, *without, *with);
      CHECK(lines_of(*with).size() <= lines_of(*without).size() + most_added(id, launcher, key));
      CHECK(find_packed(*with) == "");
      ++pairs;
    };
    for (const auto& launcher : launchers())
      for (const auto& [key, value] : values())
        if (!value.first.empty()) check(launcher, key, value.first, value.second);
    check("hpcml", "requeue", "true", {{"save-before", "5m"}});
    check("hpcml", "venv", "/project/me/env.tar.gz", {});
    check("hpcml", "conda", "/project/me/env.tar.gz", {});
    check("hpcml", "wheelhouse", "torch numpy", {});
    check("hpcml", "stage", "/project/me/set.tar", {{"venv", "/project/me/env.tar.gz"}});
  }
  CHECK(pairs > 2000);
}

TEST_CASE("a script with everything that keeps a job alive has at most 45 lines") {
  const Options all = {{"save-before", "5m"},
                       {"requeue", "true"},
                       {"requeue-on", "node,preempted"},
                       {"max-requeues", "5"},
                       {"spare-nodes", "1"},
                       {"checkpoint-dir", "/scratch/me/runs"},
                       {"log-dir", "logs"},
                       {"agent", "true"},
                       {"max-restarts", "2"},
                       {"stall-timeout", "600"},
                       {"preflight", "true"},
                       {"report", "true"},
                       {"store", "own"},
                       {"bind-check", "warn"},
                       {"tf32", "on"},
                       {"nccl-debug", "true"},
                       {"env", "A=b"},
                       {"output", "logs/%j.out"},
                       {"job-name", "experiment"},
                       {"hpcml-path", "/opt/hpcml/bin/hpcml"}};
  std::size_t scripts = 0;
  for (const auto& id : config::list_sites({})) {
    const auto load = config::load_site(id, {});
    REQUIRE(load.site);
    for (const Options& more : {Options{},
                                {{"stage", "/project/me/data"}, {"venv", "/project/me/env.tar.gz"}},
                                {{"wheelhouse", "torch"}},
                                {{"container", "/images/torch.sif"}}}) {
      auto options = all;
      options.insert(options.end(), more.begin(), more.end());
      const auto script = script_of(*load.site, options);
      if (!script) continue;
      CAPTURE(id, *script);
      CHECK(lines_of(*script).size() <= k_most_with_all);
      CHECK(find_packed(*script) == "");
      CHECK(test::script_faults(*script) == "");
      ++scripts;
    }
  }
  CHECK(scripts > 60);
}

TEST_CASE("data and environments on the nodes need no packed programs") {
  const auto load = config::load_site("lumi", {});
  REQUIRE(load.site);
  for (const std::string launcher : {"hpcml", "srun", "torchrun"}) {
    CAPTURE(launcher);
    const auto script = script_of(*load.site, {{"launcher", launcher},
                                               {"venv", "/project/me/env.tar.gz"},
                                               {"stage", "/project/me/a directory"},
                                               {"stage", "/project/me/labels"}});
    REQUIRE(script);
    CAPTURE(*script);
    CHECK(find_packed(*script) == "");
    CHECK(test::script_faults(*script) == "");
  }
}
