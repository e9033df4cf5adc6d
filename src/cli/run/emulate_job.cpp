// SPDX-License-Identifier: MIT
#include "cli/run/emulate_job.hpp"

#include <cerrno>
#include <chrono>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/run/submit_watch.hpp"
#include "core/slurm/submission.hpp"
#include "core/util/child.hpp"
#include "core/util/input_file.hpp"
#include "emulate/script_requirements.hpp"

namespace hpcml::cli {

namespace {

/// Reads up to the first line break or the end.
std::string read_line(int fd) {
  std::string line;
  for (char byte = 0; line.empty() || line.back() != '\n';) {
    const auto count = ::read(fd, &byte, 1);
    if (count > 0)
      line += byte;
    else if (count == 0 || errno != EINTR)
      break;
  }
  return line;
}

/// The first line that sbatch prints; empty if it refuses the job, and has printed why. It is not waited for
/// then: with `#SBATCH --wait` it runs as long as the job, and ends with the cluster.
util::Result<std::string> start_sbatch(const Context& context) {
  std::vector<std::string> words = {"sbatch", "--parsable"};
  words.insert(words.end(), context.program.begin(), context.program.end());
  util::ChildOptions options;
  options.pipes_output = true;
  TRY(auto sbatch, util::ChildProcess::run(words, context.env, options));
  auto line = read_line(sbatch.output());
  if (line.empty()) sbatch.wait();
  return line;
}

} // namespace

bool has_script(const Context& context) { return !context.has_program && !context.program.empty(); }

int run_script_job(const Context& context, bool is_quiet) {
  const auto script = util::read_input(context.program.front(), {std::size_t{64} << 20U}).value_or("");
  const EarlierLogCriteria earlier{std::chrono::system_clock::now().time_since_epoch(),
                                   emulate::read_script_requirements(script).appends};
  const auto line = start_sbatch(context);
  const auto submitted = line ? slurm::parse_submitted(*line, "") : line.error();
  if (!submitted) {
    print_error(fmt::format("sbatch did not submit '{}' to the emulated cluster{}", context.program.front(),
                            line ? ", for the reason above" : ": " + line.error().what),
                fmt::format("run hpcml check --site {} {} for an explanation",
                            context.env.get_or("HPCML_SITE", "SITE"), context.program.front()),
                context.colour);
    return k_world_failed;
  }
  int exit_code = k_ok;
  const auto jobs = find_running(submitted->id, context, exit_code);
  if (jobs.empty()) return exit_code;
  // The controller and the nodes are on this machine, and no other user's: it may be asked often, and what a
  // job has written is visible at once.
  FollowOptions options;
  options.min_interval = options.max_interval = std::chrono::milliseconds(250);
  options.log_delay = std::chrono::milliseconds(0);
  options.max_failures = 2400; // `--fault slurmctld-restart` may last minutes
  options.earlier_log = earlier;
  options.copies_all = options.ends_jobs = true;
  options.is_quiet = is_quiet;
  return run_watch(jobs, context, options);
}

} // namespace hpcml::cli
