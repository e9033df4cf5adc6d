// SPDX-License-Identifier: MIT
// hpcml why: reads a job's log: which network carries the ranks' traffic, what failed, what to do.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/chosen_site.hpp"
#include "cli/command.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "core/util/input_file.hpp"
#include "diagnose/joblog/log_reader.hpp"

namespace hpcml::cli {
namespace {

struct WhyOptions {
  std::string log;
  std::optional<std::string> site;
  std::string format = "text";
};

/// An open log; the error says why there is none.
util::Result<int> open_log(const std::string& path) {
  if (path == "-") return STDIN_FILENO;
  struct stat found {};
  const bool exists = ::stat(path.c_str(), &found) == 0;
  if (exists && S_ISDIR(found.st_mode))
    return util::Error{fmt::format("hpcml why reads the log of a job, but '{}' is a directory", path),
                       "use the path of a log in it, such as slurm-JOBID.out"};
  // A device may have no end.
  if (exists && S_ISCHR(found.st_mode) && path != "/dev/stdin" && path != "/dev/null")
    return util::Error{fmt::format("hpcml why reads the log of a job, but '{}' is a device", path),
                       "use the path of a log, such as slurm-JOBID.out, or - for standard input"};
  auto fd = util::open_input(path);
  if (fd || exists) return fd;
  return util::Error{fd.error().what,
                     "use the file of --output, or slurm-JOBID.out in the directory of sbatch"};
}

int run_why(const WhyOptions& options, const Context& context) {
  joblog::SiteNetwork network;
  if (const auto named = options.site ? options.site : context.env.get("HPCML_SITE")) {
    int exit_code = k_ok;
    const auto site = choose_site(named, context, exit_code);
    if (!site) return exit_code;
    network = {site->name, site->network.fabric};
  } else if (const auto own_site = find_own_site(context)) {
    network = {own_site->name, own_site->network.fabric};
  }
  const auto fd = open_log(options.log);
  if (!fd) {
    print_error(fd.error(), context.colour);
    return k_world_failed;
  }
  joblog::LogReader reading;
  const auto read = joblog::read_log(*fd, reading);
  if (*fd != STDIN_FILENO) ::close(*fd);
  if (!read) {
    print_error(fmt::format("cannot read the whole log '{}': {}", options.log, read.error().what),
                "run hpcml why again, or on a copy of the log", context.colour);
    return k_world_failed;
  }
  const auto report = joblog::make_report(options.log == "-" ? "<stdin>" : options.log, reading, network);
  std::fputs((options.format == "json" ? joblog::render_json(report) : joblog::render_text(report)).c_str(),
             stdout);
  return report.is_bad() ? k_findings : k_ok;
}

constexpr CommandHelp k_why_help = {
    .summary = "Find out from a job's log why it failed or is slow",
    .examples = R"(hpcml why slurm-1234.out
# Compare the network with that of LUMI
hpcml why --site lumi slurm-1234.out
# Read standard input
hpcml why --format json - < slurm-1234.out)",
    .notes =
        R"(Recognises known failures of PyTorch, CUDA, NCCL, MPI and Slurm, and the network that NCCL and RCCL
report with NCCL_DEBUG=INFO (hpcml gen --nccl-debug).

Exit codes: 0 nothing found, 1 a failure, or TCP instead of a faster network, 5 the log cannot be
read.)",
};

} // namespace

void add_why(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "why", k_why_help);
  const auto options = std::make_shared<WhyOptions>();
  command->add_option("LOG", options->log, "Log file of the job, or - for standard input")->required();
  command->add_option("--site", options->site, "Site whose network is expected")
      ->type_name("SITE")
      ->default_str("this machine's");
  add_format(*command, options->format, {"text", "json"});
  command->callback([options, &context, &exit_code] { exit_code = run_why(*options, context); });
}

} // namespace hpcml::cli
