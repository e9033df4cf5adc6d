// SPDX-License-Identifier: MIT
// `hpcml internal healthy-nodes`: whether a node of a job with spare ones may run its program.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

#include "cli/internal/internal_commands.hpp"
#include "core/slurm/node_choice.hpp"
#include "core/topo/live_node.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {

namespace {

/// What is wrong with this node, as a clause; empty: nothing that shows at once.
std::string find_fault(unsigned gpus, const util::EnvSnapshot& env) {
  const auto seen = topo::read_live_gpus("/").places.size();
  if (seen < gpus) return "its driver shows " + std::to_string(seen) + " of " + util::counted(gpus, "GPU");
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
      return "nothing can be written into its " + directory + ": " + std::strerror(error);
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

const char* const k_healthy_nodes_footer =
    R"(hpcml internal batch runs it on each node of a job with --spare-nodes. A node is healthy if its driver shows its
GPUs, and if something can be written into its /tmp and /dev/shm. Prints the node's name and "ok", or what is wrong.

Examples:
  hpcml internal healthy-nodes --gpus 4)";

} // namespace

void add_healthy_nodes(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand("healthy-nodes", "Check whether this node is healthy.");
  const auto gpus = std::make_shared<unsigned>(0);
  command->add_option("--gpus", *gpus, "number of GPUs that this node must show [default: 0]");
  command->footer(k_healthy_nodes_footer);
  command->callback([gpus, &context, &exit_code] { exit_code = print_health(*gpus, context); });
}

} // namespace hpcml::cli
