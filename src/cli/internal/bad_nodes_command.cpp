// SPDX-License-Identifier: MIT
// `hpcml internal bad-nodes`: which nodes a job's next start is to leave out. Generated scripts ask before
// they requeue.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/internal/internal_commands.hpp"
#include "core/model/hostlist.hpp"
#include "core/slurm/commands.hpp"
#include "core/slurm/node_exclusion.hpp"
#include "core/util/input_file.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {

namespace {

struct BadNodesOptions {
  std::string file;
  std::string job;
  std::string on;
};

/// What Slurm says of the job and of its partition's nodes.
util::Result<slurm::NodeCandidates> ask_slurm(const std::string& job, const util::EnvSnapshot& env) {
  const slurm::LiveCommands commands(env);
  const auto record = commands.ask({"scontrol", "-o", "show", "job", job});
  if (!record.ok()) return util::Error{record.command() + ": " + record.why_not};
  const auto partition = slurm::partition_of(record.output.out);
  const auto nodes = commands.ask({"sinfo", "-h", "-N", "-p", partition, "-o", "%N %t"});
  if (!nodes.ok()) return util::Error{nodes.command() + ": " + nodes.why_not};
  return slurm::parse_choice(record.output.out, nodes.output.out);
}

/// Whether one of the nodes that would be left out now is in `list`.
bool concerns(const std::string& list, const std::vector<std::string>& exclude,
              const std::vector<std::string>& excluded) {
  const auto nodes = model::Hostlist::parse(list);
  if (!nodes) return false;
  for (const auto& node : nodes->names()) {
    const auto is = [&](const std::string& name) { return name == node; };
    if (std::any_of(exclude.begin(), exclude.end(), is) && std::none_of(excluded.begin(), excluded.end(), is))
      return true;
  }
  return false;
}

int run_bad_nodes(const BadNodesOptions& options, const Context& context) {
  const auto text = util::read_input(options.file, {node_health::k_bad_nodes_limit});
  if (!text) {
    print_error(text.error(), context.colour);
    return k_world_failed;
  }
  const auto bad = node_health::parse_bad_nodes(*text);
  if (bad.empty()) return k_ok;
  const auto choice = ask_slurm(options.job, context.env);
  if (!choice) {
    print_error("the bad nodes of job " + options.job + " are not left out: " + choice.error().what,
                choice.error().hint, context.colour);
    return k_world_failed;
  }
  const auto left = slurm::leave_out(bad, *choice);
  if (!options.on.empty() && !concerns(options.on, left.exclude, choice->excluded)) return k_ok;
  for (const auto& line : left.words) print_note(line);
  if (!left.exclude.empty()) std::printf("%s\n", model::compress_hostlist(left.exclude).c_str());
  return k_ok;
}

const char* const k_bad_nodes_footer =
    R"(Scripts that requeue themselves name such a file in HPCML_BAD_NODES, and hpcml launch writes into it: a line for
each node, its name and the reason. What is printed is the job's exclude list with these nodes added; nothing
where it has them already. The reasons go to standard error. Never left out is what the job asks for by
--nodelist, and what would leave its partition fewer nodes than it needs.

Examples:
  hpcml internal bad-nodes --job 4711 checkpoints/4711/bad-nodes)";

} // namespace

void add_bad_nodes(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand(
      "bad-nodes",
      "Print which nodes a job is to leave out at its next start, from what its last one found.");
  const auto options = std::make_shared<BadNodesOptions>();
  command->add_option("FILE", options->file, "lines of a node and the reason")->required();
  command->add_option("--job", options->job, "the job, or the task of an array: 4711, 4711_3")->required();
  command->add_option("--on", options->on, "print only where one of these nodes is to be left out: n[1-4]");
  command->footer(k_bad_nodes_footer);
  command->callback([options, &context, &exit_code] { exit_code = run_bad_nodes(*options, context); });
}

} // namespace hpcml::cli
