// SPDX-License-Identifier: MIT
// `hpcml internal healthy-nodes`: whether a node of a job with spare ones may run its program.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/internal/internal_commands.hpp"
#include "core/slurm/healthy_node_selection.hpp"
#include "core/topo/live_node.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {

namespace {

/// What is wrong with this node, as a clause; empty: nothing that shows at once.
std::string find_fault(unsigned gpus, const util::EnvSnapshot& env) {
  const auto seen = topo::read_live_gpus("/").places.size();
  if (seen < gpus) return fmt::format("its driver shows {} of {}", seen, util::counted(gpus, "GPU"));
  for (const auto& directory : {env.get_or("TMPDIR", "/tmp"), std::string("/dev/shm")}) {
    auto name = directory + "/hpcml-XXXXXX";
    const int fd = ::mkstemp(name.data());
    const bool written =
        fd >= 0 && ::write(fd, name.data(), name.size()) == static_cast<ssize_t>(name.size());
    const int error = errno;
    if (fd >= 0) {
      ::close(fd);
      ::unlink(name.c_str());
    }
    if (!written && (error == EROFS || error == ENOSPC || error == EIO))
      return fmt::format("its directory {} is not writable: {}", directory, std::strerror(error));
  }
  return {};
}

int print_health(unsigned gpus, const Context& context) {
  const auto fault = find_fault(gpus, context.env);
  const auto node = context.env.get_or("SLURMD_NODENAME", "localhost");
  std::fputs(
      node_health::render_bad_node({node, fault.empty() ? std::string(slurm::k_healthy) : fault}).c_str(),
      stdout);
  return k_ok;
}

constexpr CommandHelp k_healthy_nodes_help = {
    .summary = "Check whether this node is healthy",
    .examples = "hpcml internal healthy-nodes --gpus 4",
    .notes =
        R"('hpcml internal batch' runs it on each node of a job with --spare-nodes. A node is healthy if its driver
shows its GPUs and if /tmp and /dev/shm are writable. Prints the name of the node and "ok" or the fault.)",
};

} // namespace

void add_healthy_nodes(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "healthy-nodes", k_healthy_nodes_help);
  const auto gpus = std::make_shared<unsigned>(0);
  command->add_option("--gpus", *gpus, "GPUs that this node must show")
      ->type_name("N")
      ->check(whole_number(0, 1024))
      ->capture_default_str();
  command->callback([gpus, &context, &exit_code] { exit_code = print_health(*gpus, context); });
}

} // namespace hpcml::cli
