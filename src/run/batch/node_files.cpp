// SPDX-License-Identifier: MIT
#include "run/batch/node_files.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "core/model/hostlist.hpp"
#include "core/slurm/commands.hpp"
#include "core/util/child.hpp"
#include "core/util/log.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/batch/script_environment.hpp"

namespace hpcml::batch {

namespace {

constexpr std::chrono::seconds k_removal_limit(5);

using Words = std::vector<std::string>;

/// Runs a command with the standard streams of this process. Returns its exit code.
int run_here(const Words& words, const util::EnvSnapshot& env) {
  auto child = util::ChildProcess::run(words, env);
  return child ? util::exit_code_of_status(child->wait()) : 127;
}

class Stage {
public:
  Stage(const StageRequest& request, util::EnvSnapshot env)
      : x_request(request), x_env(std::move(env)), x_directory(x_env.get_or(k_stage_variable, "")),
        x_environment(x_directory + "/env") {}

  util::Status fill() {
    if (x_directory.empty())
      return util::Error{
          fmt::format("{} is not set, so no directory for staged files exists", k_stage_variable),
          "use this command only in a script of 'hpcml gen --stage', which sets the variable"};
    Words make = {"mkdir", "-m", "700", x_directory};
    if (!x_request.archive.empty()) make.push_back(x_environment);
    TRY_DONE(on_nodes(make)); // fails if another user has made it
    TRY_DONE(copy_sources());
    if (!x_request.archive.empty()) TRY_DONE(unpack());
    if (!x_request.wheels.empty() || !x_request.requirements.empty()) TRY_DONE(build());
    return util::Success{};
  }

private:
  util::Status run(const Words& words) const {
    const auto code = run_here(words, x_env);
    if (code == 0) return util::Success{};
    return util::Error{
        fmt::format("cannot copy files to the disks of the nodes: '{}' failed with exit code {}",
                    util::join(words, " "), code),
        "check the message of this command above, and the free space of the nodes' disks"};
  }
  util::Status on_nodes(const Words& command) const {
    return run(on_each_node({.launcher = x_request.node_launcher}, command, x_env));
  }

  /// True if Slurm can send the file to all nodes that need it: it reads it once and relays it from node to
  /// node, but cannot choose nodes.
  bool can_broadcast(const std::string& source) const {
    std::error_code error;
    return !x_env.get(k_nodes_variable) && std::filesystem::is_regular_file(source, error);
  }
  std::string broadcast_target(const std::string& source) const {
    return x_directory + "/" + util::base_name(source);
  }

  util::Status copy_sources() const {
    // -H: what a link in the request points to; -p: times, by which Python knows compiled files.
    Words copy = {"cp", "-rpH", "--"};
    const auto count = copy.size();
    for (const auto& source : x_request.sources) {
      if (can_broadcast(source))
        TRY_DONE(run({"sbcast", "--preserve", source, broadcast_target(source)}));
      else
        copy.push_back(source);
    }
    if (copy.size() == count) return util::Success{};
    copy.push_back(x_directory);
    return on_nodes(copy);
  }

  util::Status unpack() {
    auto archive = x_request.archive;
    const bool is_broadcast = can_broadcast(archive);
    if (is_broadcast) {
      archive = broadcast_target(archive);
      TRY_DONE(run({"sbcast", x_request.archive, archive}));
    }
    TRY_DONE(on_nodes({"tar", "-C", x_environment, "-xf", archive}));
    if (is_broadcast) TRY_DONE(on_nodes({"rm", archive}));
    // conda-pack leaves a program that corrects paths in the environment, and runs with its Python.
    if (::access((x_environment + "/bin/conda-unpack").c_str(), X_OK) != 0) return util::Success{};
    activate();
    return on_nodes({"conda-unpack"});
  }

  util::Status build() {
    TRY_DONE(on_nodes({"virtualenv", "--no-download", "--quiet", x_environment}));
    activate();
    TRY_DONE(on_nodes({"pip", "install", "--no-index", "--quiet", "--upgrade", "pip"}));
    Words install = {"pip", "install", "--no-index", "--quiet"};
    if (!x_request.requirements.empty()) install.insert(install.end(), {"-r", x_request.requirements});
    install.insert(install.end(), x_request.wheels.begin(), x_request.wheels.end());
    return on_nodes(install);
  }

  /// For the commands that follow.
  void activate() {
    x_env.set("VIRTUAL_ENV", x_environment);
    x_env.set("PATH", x_environment + "/bin:" + x_env.get_or("PATH", "/usr/bin:/bin"));
  }

  const StageRequest& x_request;
  util::EnvSnapshot x_env;
  std::string x_directory, x_environment;
};

void add_step_options(const PerNodeStep& step, const util::EnvSnapshot& env, Words& words) {
  auto count = env.get_or("SLURM_JOB_NUM_NODES", env.get_or("SLURM_NNODES", "1"));
  auto list = env.get_or(k_nodes_variable, "");
  if (!step.nodes.empty()) {
    count = std::to_string(step.nodes.size());
    list = model::compress_hostlist(step.nodes);
  } else if (const auto nodes = model::Hostlist::parse(list); nodes && !list.empty()) {
    count = std::to_string(nodes->names().size());
  }
  if (!list.empty()) words.insert(words.end(), {"--nodes=" + count, "--nodelist=" + list});
  words.insert(words.end(), {"--ntasks=" + count, "--ntasks-per-node=1", "--overlap"});
  // A step on fewer nodes cannot have the number of the whole job, which srun reads there (Slurm 22.05).
  if (env.get("SLURM_GPUS")) words.emplace_back("--gpus=0");
  if (step.is_independent)
    words.insert(words.end(), {"--cpu-bind=none", "--no-kill", "--kill-on-bad-exit=0"});
}

} // namespace

std::string stage_directory(const std::string& base, unsigned restarts, const util::EnvSnapshot& env) {
  return fmt::format("{}/hpcml-{}-{}-{}-stage", base == "/" ? "" : base, ::getuid(),
                     env.get_or("SLURM_JOB_ID", "0"), restarts);
}

Words on_each_node(const PerNodeStep& step, const Words& command, const util::EnvSnapshot& env) {
  Words words;
  for (const auto& word : util::split(step.launcher, ' '))
    if (!word.empty()) words.push_back(word);
  if (step.launcher == "srun") add_step_options(step, env, words);
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

util::Status stage_files(const StageRequest& request, const util::EnvSnapshot& env) {
  return Stage(request, env).fill();
}

void remove_stage(const std::string& node_launcher, const util::EnvSnapshot& env) {
  const auto directory = env.get_or(k_stage_variable, "");
  const auto command =
      on_each_node({.launcher = node_launcher, .is_independent = true}, {"rm", "-rf", "--", directory}, env);
  const auto removed = slurm::run_command(command, env, k_removal_limit);
  if (!removed.ok())
    util::log_warning(
        fmt::format("cannot remove the staged files in '{0}' on every node: {1}\n"
                    "hint: remove '{0}' on the job's nodes, unless the site does after each job",
                    directory, removed.why_not));
}

} // namespace hpcml::batch
