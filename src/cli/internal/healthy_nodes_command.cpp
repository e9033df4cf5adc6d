// SPDX-License-Identifier: MIT
// `hpcml internal healthy-nodes`: which nodes of a job with spare ones run its program. Generated scripts ask
// it.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iostream>
#include <iterator>
#include <memory>
#include <unistd.h>

#include "cli/internal/internal_commands.hpp"
#include "core/model/hostlist.hpp"
#include "core/slurm/node_choice.hpp"
#include "core/topo/live_node.hpp"
#include "core/util/input_file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/launch/report_bad_node.hpp"

namespace hpcml::cli {

namespace {

struct HealthOptions {
  bool this_node = false, list = false;
  unsigned gpus = 0;
  std::string of;
  unsigned need = 1;
};

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

int print_health(const HealthOptions& options, const Context& context) {
  const auto fault = find_fault(options.gpus, context.env);
  const auto node = context.env.get_or("SLURMD_NODENAME", "localhost");
  std::fputs(
      node_health::render_bad_node({node, fault.empty() ? std::string(slurm::k_healthy) : fault}).c_str(),
      stdout);
  return k_ok;
}

void print_choice(const slurm::NodeChoice& run, unsigned need) {
  for (const auto& [node, why] : run.bad) print_note(node + ": " + why + "; it does not take part");
  if (!run.was_informed) print_note("no node says that it is well: they are taken as they come");
  if (run.chosen.size() < need)
    return print_note("the program needs " + util::counted(need, "node") + ", and " +
                      std::to_string(run.chosen.size()) + " of this job's are healthy");
  print_note("the program runs on " + model::compress_hostlist(run.chosen) +
             (run.spare.empty() ? "; no node is spare" : "; spare: " + model::compress_hostlist(run.spare)));
}

int run_healthy_nodes(const HealthOptions& options, const Context& context) {
  if (options.this_node) return print_health(options, context);
  const auto nodes = model::Hostlist::parse(options.of);
  if (!nodes) {
    print_error(nodes.error(), context.colour);
    return k_usage;
  }
  const auto file = context.env.get_or(node_health::k_bad_nodes_variable, "");
  const bool exists = !file.empty() && (::access(file.c_str(), F_OK) == 0 || errno != ENOENT);
  const auto text =
      exists ? util::read_input(file, {node_health::k_bad_nodes_limit}) : util::Result<std::string>("");
  if (!text) print_note(text.error().what + "; no node is excluded because of it");
  const auto known = node_health::parse_bad_nodes(text.value_or(""));
  if (options.list) {
    const auto left = slurm::without_bad(nodes->names(), known);
    std::printf("%zu %s\n", left.size(), model::compress_hostlist(left).c_str());
    return k_ok;
  }
  const std::string answers{std::istreambuf_iterator<char>(std::cin), {}};
  const auto run = slurm::choose_nodes(nodes->names(), answers, known, options.need);
  for (const auto& bad : run.bad) launch::report_bad_node(bad, context.env);
  print_choice(run, options.need);
  if (run.chosen.size() < options.need) return k_findings;
  std::printf("%s\n", model::compress_hostlist(run.chosen).c_str());
  return k_ok;
}

const char* const k_healthy_nodes_footer =
    R"(Scripts of jobs with --spare-nodes ask each node with --here, hand the answers to the second form, and run on
what that prints. A node is healthy that answers, whose driver shows its GPUs, and in whose /tmp and /dev/shm
something can be written. Exit code 1: too few are. The others are said on standard error and written into the
file that HPCML_BAD_NODES names.

Examples:
  hpcml internal healthy-nodes --here
  echo "n1 ok" | hpcml internal healthy-nodes --of 'n[1-2]' --need 1)";

} // namespace

void add_healthy_nodes(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand("healthy-nodes",
                                     "Print which nodes of a job with spare ones are to run its program.");
  const auto options = std::make_shared<HealthOptions>();
  auto* this_node = command->add_flag("--here", options->this_node, "say whether this node is healthy");
  command->add_option("--gpus", options->gpus, "so many GPUs are to be on this node")->needs(this_node);
  auto* of = command
                 ->add_option("--of", options->of,
                              "the job's nodes: n[1-4]; what they said is read from standard input")
                 ->excludes(this_node);
  command->add_option("--need", options->need, "so many are to run the program")
      ->needs(of)
      ->capture_default_str();
  command->add_flag("--list", options->list, "print how many and which of them are worth asking")->needs(of);
  command->footer(k_healthy_nodes_footer);
  command->callback([options, &context, &exit_code] {
    if (!options->this_node && options->of.empty()) {
      print_error("neither --here nor --of is given", "hpcml internal healthy-nodes --help", context.colour);
      exit_code = k_usage;
      return;
    }
    exit_code = run_healthy_nodes(*options, context);
  });
}

} // namespace hpcml::cli
