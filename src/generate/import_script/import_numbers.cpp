// SPDX-License-Identifier: MIT
#include "generate/import_script/import_numbers.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/layout_arithmetic.hpp"

namespace hpcml::import_script {
namespace {

/// The numbers that the same variables have in the new job.
SizeEvaluator sizes_of_new_job(const ImportState& porting, const SizeEvaluator& before) {
  SizeEvaluator after = before;
  const auto& layout = *porting.new_layout;
  const bool by_agents = porting.result.job.launcher && porting.result.job.launcher->value.name() != "srun";
  after.nodes = layout.nodes;
  after.tasks_per_node = by_agents ? 1 : layout.ranks_per_node;
  after.gpus_per_node = layout.gpus_per_node;
  // With one task for each rank these are the rank's cores; the old job's were those of all ranks.
  if (after.tasks_per_node * after.nodes != std::max(1U, before.tasks_per_node) * before.nodes)
    after.cpus_per_task = 0;
  after.vendor = vendor_of_target(porting);
  after.lists_gpus = porting.to.gpu_request.style != model::GpuOptionStyle::none;
  return after;
}

/// The launch that the place is part of, other than one that the batch script runs itself.
std::vector<FoundLaunch>::const_iterator find_launch(const std::vector<FoundLaunch>& launches,
                                                     std::size_t at) {
  return std::find_if(launches.begin(), launches.end(), [&](const FoundLaunch& found) {
    return !found.in_batch && at >= found.begin && at < found.end;
  });
}

/// The end of the command substitution that begins at `at`, if it is in one line; npos if it is not.
std::size_t end_of_command(std::string_view text, std::size_t at) {
  const auto line = text.substr(at, text.find('\n', at) - at);
  const auto first = line.find(')');
  if (first == std::string_view::npos || line.substr(2, 1) == "(") return std::string_view::npos;
  // With brackets inside, only an assignment shows the end.
  const bool is_plain = line.find('(', 2) > first;
  const bool is_value = at > 0 && text[at - 1] == '=';
  if (!is_plain && !is_value) return std::string_view::npos;
  return at + (is_plain ? first : line.rfind(')')) + 1;
}

/// Writes the number of GPUs in place of a command that cannot count them on the new site.
void replace_counts(ImportState& porting, TextCuts& cuts, const std::vector<FoundLaunch>& launches,
                    const SizeEvaluator& after, std::vector<ArgumentReplacement>& edits) {
  const auto text = porting.text;
  for (auto at = text.find("$("); at != std::string_view::npos; at = text.find("$(", at + 1)) {
    const auto end = end_of_command(text, at);
    if (end == std::string_view::npos || cuts.holds(at) || cuts.in_comment(at)) continue;
    const auto command = text.substr(at, end - at);
    if (!counts_gpus(command) || after.counted_gpus(command) > 0) continue;
    const auto launch = find_launch(launches, at);
    if (launch != launches.end() && at < launch->program_begin) continue; // an option of the launcher
    const auto number = std::to_string(after.gpus_per_node);
    if (launch == launches.end())
      cuts.replace({at, end}, number);
    else
      edits.push_back({std::string(command), number});
    porting.note({at, end - at}, "port/numbers",
                 fmt::format("'{}' is replaced by {}, the GPUs per node: it cannot count the GPUs of {}",
                             command, after.gpus_per_node, porting.to.id),
                 "add --gpus-per-node N to hpcml gen to set another number");
  }
}

/// The tasks of the old job were one per node, each with an agent, but those of the new job are its ranks.
void keep_number_of_nodes(ImportState& porting, TextCuts& cuts, const std::vector<FoundLaunch>& launches,
                          std::vector<ArgumentReplacement>& edits) {
  constexpr std::string_view k_nodes = "SLURM_NNODES";
  const auto text = porting.text;
  for (const std::string_view name : {"SLURM_NTASKS", "SLURM_NPROCS"})
    for (auto at = shell::find_name(text, name); at != std::string_view::npos;
         at = shell::find_name(text, name, at + 1)) {
      const auto launch = find_launch(launches, at);
      const bool is_read = at > 0 && (text[at - 1] == '$' || text[at - 1] == '{');
      if (!is_read || cuts.holds(at) || cuts.in_comment(at) ||
          (launch != launches.end() && at < launch->program_begin))
        continue;
      if (launch == launches.end())
        cuts.replace({at, at + name.size()}, std::string(k_nodes));
      else
        edits.push_back({text[at - 1] + std::string(name), text[at - 1] + std::string(k_nodes)});
      porting.note(
          {at, name.size()}, "port/numbers",
          fmt::format("{} is replaced by {}: the old job had one task per node, and the job on {} has one "
                      "per rank",
                      name, k_nodes, porting.to.id),
          fmt::format("use {} in the new script if it is to count ranks", name));
    }
}

/// A program of one vendor, and that of the other.
struct VendorTool {
  std::string_view before, after;
};

/// Whether a place in a text looks for the program and does not run it: `command -v nvidia-smi`.
bool is_looked_for(std::string_view before) {
  return before.ends_with("command -v ") || before.ends_with("which ") || before.ends_with("type ") ||
         before.ends_with("hash ");
}

/// Returns the place after a command that only prints the table, or whose failure would stop what follows;
/// npos for another one.
std::size_t end_of_tool(std::string_view text, std::size_t end) {
  const auto stop = std::min(text.find_first_of(";&|\n)\"'>", end), text.size());
  if (text.substr(stop, 1) == "|" &&
      counts_gpus("nvidia-smi" + std::string(text.substr(stop, text.find('\n', stop) - stop))))
    return std::string_view::npos;
  const auto options = util::trim(text.substr(end, stop - end));
  const bool continues = options == "\\"; // in the next line
  const bool prints_table = options.empty() || continues || options == "-L" || options == "--list-gpus";
  if (!prints_table && text.substr(stop, 2) != "&&") return std::string_view::npos;
  return options.empty() || continues ? end : text.find(options, end) + options.size();
}

/// Returns the text with the other vendor's program.
std::string with_tool(std::string_view text, const VendorTool& tool) {
  std::string result;
  std::size_t begin = 0;
  for (auto at = text.find(tool.before); at != std::string_view::npos; at = text.find(tool.before, at + 1)) {
    const auto end = at + tool.before.size();
    const bool starts =
        at == 0 || !(shell::is_name_char(text[at - 1]) || text[at - 1] == '-' || text[at - 1] == '/');
    const bool ends =
        end == text.size() || !(shell::is_name_char(text[end]) || text[end] == '-' || text[end] == '.');
    if (!starts || !ends || is_looked_for(text.substr(0, at))) continue;
    const auto last = end_of_tool(text, end);
    if (last == std::string_view::npos) continue;
    result += std::string(text.substr(begin, at - begin)) + std::string(tool.after);
    begin = last;
  }
  return result + std::string(text.substr(begin));
}

} // namespace

std::vector<ArgumentReplacement> keep_old_numbers(ImportState& porting, TextCuts& cuts,
                                                  const std::vector<FoundLaunch>& launches,
                                                  const SizeEvaluator& sizes) {
  std::vector<ArgumentReplacement> edits;
  if (!porting.new_layout) return edits;
  const auto after = sizes_of_new_job(porting, sizes);
  for (const auto& expression : find_layout_expressions(porting.text, sizes, after)) {
    const auto [begin, end] = expression.range;
    if (cuts.holds(begin) || cuts.in_comment(begin)) continue;
    const auto launch = find_launch(launches, begin);
    const auto old_text = std::string(porting.text.substr(begin, end - begin));
    if (launch == launches.end())
      cuts.replace(expression.range, expression.text);
    else if (begin >= launch->program_begin)
      edits.push_back({old_text, expression.text});
    else
      continue; // an option of the launcher
    porting.note({begin, end - begin}, "port/numbers",
                 fmt::format("'{}' keeps the numbers of the old job: {}, so that its result is the same",
                             old_text, util::join(expression.names, ", ")),
                 "use the variables in the new script if it is to compute with the numbers of the new job");
  }
  if (sizes.tasks_per_node == 1 && after.tasks_per_node > 1)
    keep_number_of_nodes(porting, cuts, launches, edits);
  replace_counts(porting, cuts, launches, after, edits);
  return edits;
}

void replace_vendor_tools(ImportState& porting, model::ImportedBody& body) {
  const auto vendor = vendor_of_target(porting);
  if (vendor != model::GpuVendor::amd && vendor != model::GpuVendor::nvidia) return;
  const VendorTool tool = vendor == model::GpuVendor::amd ? VendorTool{"nvidia-smi", "rocm-smi"}
                                                          : VendorTool{"rocm-smi", "nvidia-smi"};
  bool replaced = false;
  const auto replace = [&](std::string& text) {
    auto changed = with_tool(text, tool);
    replaced = replaced || changed != text;
    text = std::move(changed);
  };
  for (auto& piece : body.pieces) {
    replace(piece.text);
    for (auto* words : {&piece.launch.source, &piece.launch.command})
      for (auto& word : *words) replace(word);
  }
  if (replaced)
    porting.note({porting.text.find(tool.before), tool.before.size()}, "port/gpus",
                 fmt::format("{} is replaced by {} in the script for {}, whose GPUs only {} shows",
                             tool.before, tool.after, porting.to.id, tool.after));
}

std::string counting_argument(const FoundLaunch& found) {
  static constexpr std::array<std::string_view, 15> k_names = {
      "nodes",         "num_nodes",         "num-nodes",     "nnodes", "num_machines", "gpus",
      "num_gpus",      "num-gpus",          "ngpus",         "n_gpus", "devices",      "gpus_per_node",
      "gpus-per-node", "num_gpus_per_node", "ngpus_per_node"};
  const auto& words = found.command;
  for (std::size_t i = 0; i < words.size(); ++i) {
    // "--devices 4", "--trainer.devices=4", "trainer.devices=4".
    const auto equals = words[i].find('=');
    const bool option = words[i].starts_with("--");
    if (!option && equals == std::string::npos) continue;
    auto name = words[i].substr(0, equals);
    name.erase(0, name.find_first_not_of("-+"));
    name.erase(0, name.rfind('.') + 1); // npos + 1 is 0
    if (std::find(k_names.begin(), k_names.end(), name) == k_names.end()) continue;
    const auto value = equals != std::string::npos ? words[i].substr(equals + 1)
                       : i + 1 < words.size()      ? words[i + 1]
                                                   : "";
    if (util::parse_unsigned(value)) return equals != std::string::npos ? words[i] : words[i] + " " + value;
  }
  return {};
}

} // namespace hpcml::import_script
