// SPDX-License-Identifier: MIT
#include "generate/import_script/assignments.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>

#include "core/util/text.hpp"
#include "generate/import_script/visible_devices.hpp"
#include "hpcml/rank_env.hpp"

namespace hpcml::import_script {
namespace {

std::string_view text_of(const ImportState& porting, const AssignmentStatement& assigning) {
  return std::string_view(porting.text)
      .substr(assigning.range.begin, assigning.range.end - assigning.range.begin);
}

/// Whether programs see what it sets.
bool exports(std::string_view text) {
  return text.starts_with("export") || text.find(" -x") != std::string_view::npos ||
         text.find(" -gx") != std::string_view::npos;
}

void note(ImportState& porting, const AssignmentStatement& assigning, const std::string& what,
          const std::string& hint) {
  porting.note({assigning.range.begin, assigning.range.end - assigning.range.begin}, "port/variable", what,
               hint);
}

/// Settings that srun reads as its options.
constexpr std::array<std::string_view, 3> k_of_srun = {"SRUN_CPUS_PER_TASK", "SLURM_CPU_BIND",
                                                       "SLURM_CPU_BIND_TYPE"};

/// Whether only the new script may set the variable for ranks and steps.
bool is_of_steps(const std::string& name) {
  return is_rank_variable(name) || util::contains(k_of_srun, std::string_view(name));
}

/// A variable of ranks or steps that stays is the script's own commands' alone: exported it would contradict
/// the launcher or the new options of srun. False where there is none.
bool keep_from_ranks(ImportState& porting, TextCuts& cuts, const AssignmentStatement& assigning, bool inner) {
  constexpr std::string_view c_export = "export ";
  if (std::none_of(assigning.names.begin(), assigning.names.end(), is_of_steps)) return false;
  const auto text = text_of(porting, assigning);
  const auto names = util::join(assigning.names, ", ");
  if (!text.starts_with(c_export) ||
      !std::all_of(assigning.names.begin(), assigning.names.end(), is_of_steps)) {
    note(porting, assigning,
         fmt::format("{} stays exported as in the script, but hpcml launch exits if it differs from the "
                     "rank's own value",
                     names),
         "remove the assignments of variables that the launcher sets for the ranks");
    return true;
  }
  const bool values = text.find('=') != std::string_view::npos;
  note(porting, assigning,
       values ? fmt::format("{} stays for the script's own commands, but is not exported: the launcher sets "
                            "it for the ranks",
                            names)
              : fmt::format("{} is not exported: the launcher sets it for the ranks", names),
       "");
  if (values)
    cuts.cut({assigning.range.begin, assigning.range.begin + c_export.size()});
  else if (inner)
    cuts.replace(assigning.range, "true"); // it may be the only statement of a branch
  else
    cuts.cut_lines(assigning.range);
  return true;
}

/// Drops "export CUDA_VISIBLE_DEVICES=0,1,2,3" of an if or a function: the new job has other devices. False
/// where it is something else.
bool drop_device_list(ImportState& porting, TextCuts& cuts, const AssignmentStatement& assigning) {
  const auto text = text_of(porting, assigning);
  const auto value = text.substr(std::min(text.size(), text.find('=') + 1)); // npos + 1 is 0
  const auto& names = assigning.names;
  if (!std::all_of(names.begin(), names.end(), is_device_list) || names.size() != 1 ||
      value.find_first_not_of("0123456789,\"' ") != std::string_view::npos)
    return false;
  note(porting, assigning,
       fmt::format("{} is removed: it lists devices of the old site's nodes", names.front()),
       "use --gpu-visibility to choose what each rank sees");
  cuts.replace(assigning.range, "true");
  return true;
}

} // namespace

bool is_owned(const std::string& name) {
  static constexpr std::array<std::string_view, 3> k_names = {"MASTER_ADDR", "MASTER_PORT",
                                                              "OMP_NUM_THREADS"};
  static const auto c_of_images = model::engine_variables({"_BIND"});
  // Of the old network, its adapters and its nodes' disks; how ranks communicate is the program's affair.
  static constexpr std::array<std::string_view, 19> k_prefixes = {
      "GLOO_",      "FI_",          "UCX_",           "CXI_",         "MPICH_",
      "OFI_",       "NCCL_SOCKET_", "NCCL_IB_",       "NCCL_NET",     "NCCL_CROSS_NIC",
      "NCCL_TOPO_", "NCCL_GRAPH_",  "NCCL_CONF_FILE", "NCCL_COMM_ID", "NCCL_NSOCKS_",
      "NCCL_OOB_",  "NCCL_GDR",     "NCCL_DMABUF",    "NCCL_HOME"};
  const auto is_in = [&](const auto& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return is_in(k_names) || is_in(k_of_srun) || is_in(c_of_images) || is_in(k_rank_variables) ||
         is_device_list(name) ||
         std::any_of(k_prefixes.begin(), k_prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool keeps_threads(std::string_view text) {
  constexpr std::string_view k_name = "OMP_NUM_THREADS=";
  const auto at = text.find(k_name);
  if (at == std::string_view::npos) return false;
  const auto value = text.substr(at + k_name.size());
  return !value.empty() && value.find_first_of("(`") == std::string_view::npos &&
         value.find("SLURM") == std::string_view::npos;
}

bool is_rank_variable(const std::string& name) {
  return name == "MASTER_ADDR" || name == "MASTER_PORT" ||
         std::find(k_rank_variables.begin(), k_rank_variables.end(), name) != k_rank_variables.end();
}

bool is_of_image(const std::string& name) {
  static const auto c_names = model::engine_variables({"_BIND"});
  return std::find(c_names.begin(), c_names.end(), name) != c_names.end();
}

std::optional<AssignmentStatement> as_assignment(const shell::SyntaxNode& node) {
  if (node.kind != shell::SyntaxNode::Kind::simple || !node.redirects.empty()) return std::nullopt;
  AssignmentStatement result;
  result.range = {node.place.offset, node.place.offset + node.place.length};
  const auto word = node.words.empty()                 ? std::string()
                    : node.words.front().parts.empty() ? std::string("?")
                                                       : node.words.front().parts.front().text;
  if (!node.words.empty() && word != "export" && word != "declare" && word != "typeset" && word != "readonly")
    return std::nullopt;
  for (const auto& assignment : node.assignments) result.names.push_back(assignment.name);
  for (const auto& assignment : node.declared) result.names.push_back(assignment.name);
  // `export A B` without values says nothing by itself.
  for (std::size_t i = 1; i < node.words.size(); ++i)
    for (const auto& part : node.words[i].parts)
      if (!part.text.starts_with("-")) result.names.push_back(part.text);
  return result.names.empty() ? std::nullopt : std::optional(result);
}

void note_exports(ImportState& porting, TextCuts& cuts, const std::vector<AssignmentStatement>& outermost,
                  const std::vector<AssignmentStatement>& inner) {
  for (const auto& assigning : outermost) {
    if (assigning.names.empty() || !exports(text_of(porting, assigning))) continue;
    keep_from_ranks(porting, cuts, assigning, false);
    if (keeps_threads(text_of(porting, assigning)))
      note(porting, assigning,
           "OMP_NUM_THREADS stays as in the script: without it, each rank has a thread per core",
           "add --env OMP_NUM_THREADS=N to hpcml gen to set another number");
  }
  for (const auto& assigning : inner) {
    if (!exports(text_of(porting, assigning)) || cuts.holds(assigning.range.begin) ||
        keep_from_ranks(porting, cuts, assigning, true) || drop_device_list(porting, cuts, assigning))
      continue;
    std::vector<std::string> names;
    std::copy_if(assigning.names.begin(), assigning.names.end(), std::back_inserter(names), is_owned);
    if (!names.empty())
      note(porting, assigning,
           fmt::format("{} stays because it is set in an if, a loop or a function; it may override what the "
                       "new script sets for {}",
                       util::join(names, ", "), porting.to.id),
           "remove it if it belongs to the old site");
  }
}

} // namespace hpcml::import_script
