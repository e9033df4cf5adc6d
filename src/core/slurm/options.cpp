// SPDX-License-Identifier: MIT
#include "core/slurm/options.hpp"

#include <algorithm>

#include "core/slurm/option_table.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

constexpr std::size_t k_versions = k_version_names.size();

/// Older spellings that are still taken.
constexpr std::pair<std::string_view, std::string_view> k_other_names[] = {
    {"tasks-per-node", "ntasks-per-node"},
    {"cluster", "clusters"},
    {"cpu_bind", "cpu-bind"},
    {"pack-group", "het-group"}};

/// Without a version: as its newest form takes it.
std::optional<TakesValue> argument_of(const OptionRow& row, Program program,
                                      std::optional<ComparisonTrackingVersion> version) {
  const auto& arguments = use_of(row, program).arguments;
  if (version) return version->pick(arguments);
  const auto newest =
      std::find_if(arguments.rbegin(), arguments.rend(), [](const auto& a) { return a.has_value(); });
  return newest == arguments.rend() ? std::nullopt : *newest;
}

std::string_view text_of(const OptionRow& row, Program program) {
  return program == Program::sbatch ? row.sbatch : program == Program::srun ? row.srun : row.salloc;
}

std::span<const OptionRow>::iterator first_not_before(std::string_view name) {
  const auto rows = option_rows();
  return std::lower_bound(rows.begin(), rows.end(), name,
                          [](const OptionRow& row, std::string_view n) { return row.name < n; });
}

const OptionRow* row_named(std::string_view name) {
  const auto found = first_not_before(name);
  return found == option_rows().end() || found->name != name ? nullptr : &*found;
}

} // namespace

OptionMatch find_option(Program program, std::string_view name,
                        std::optional<ComparisonTrackingVersion> version) {
  if (name.empty()) return {};
  std::vector<const OptionRow*> matches;
  const auto argument = [&](const OptionRow& row) { return argument_of(row, program, version); };
  const auto to_match = [&](const OptionRow& row) {
    return OptionMatch{Option{std::string(row.name), *argument(row)}, {}};
  };
  const auto add = [&](const OptionRow& row) {
    if (argument(row) && std::find(matches.begin(), matches.end(), &row) == matches.end())
      matches.push_back(&row);
  };
  if (const auto* exact = row_named(name); exact && argument(*exact)) return to_match(*exact);
  for (const auto& [alias, full] : k_other_names) {
    if (!alias.starts_with(name)) continue;
    const auto& row = *row_named(full);
    if (name == alias && argument(row)) return to_match(row);
    add(row);
  }
  for (auto at = first_not_before(name); at != option_rows().end() && at->name.starts_with(name); ++at)
    add(*at);
  if (matches.size() == 1) return to_match(*matches.front());
  OptionMatch result;
  for (const auto* row : matches) result.candidates.emplace_back(row->name);
  return result;
}

std::optional<Option> find_option(Program program, char letter,
                                  std::optional<ComparisonTrackingVersion> version) {
  for (const auto& row : option_rows())
    if (letter != '\0' && use_of(row, program).letter == letter)
      if (const auto argument = argument_of(row, program, version))
        return Option{std::string(row.name), *argument};
  return std::nullopt;
}

std::vector<std::string> option_names(Program program, std::optional<ComparisonTrackingVersion> version) {
  std::vector<std::string> names;
  for (const auto& row : option_rows())
    if (argument_of(row, program, version)) names.emplace_back(row.name);
  return names;
}

bool is_read_last(ValueKind kind) {
  switch (kind) {
  case ValueKind::array:
  case ValueKind::dependency:
  case ValueKind::features:
  case ValueKind::gpus:
  case ValueKind::gpus_per_task:
  case ValueKind::gres:
  case ValueKind::hint:
  case ValueKind::propagate:
  case ValueKind::tres_bind:
  case ValueKind::tres_per_task:
  case ValueKind::wckey: return true;
  default: return false;
  }
}

ValueKind value_kind_of(std::string_view name) {
  const auto* row = row_named(name);
  return row ? row->kind : ValueKind::text;
}

std::string versions_of(Program program, std::string_view name) {
  const auto* row = row_named(name);
  if (!row) return {};
  const auto has = [&](std::size_t i) { return use_of(*row, program).arguments[i].has_value(); };
  std::vector<std::string> ranges;
  for (std::size_t first = 0; first < k_versions; ++first) {
    if (!has(first)) continue;
    std::size_t last = first;
    while (last + 1 < k_versions && has(last + 1)) ++last;
    const std::string from(first == 0 ? "" : k_version_names[first]);
    const std::string to(last + 1 == k_versions ? "" : k_version_names[last]);
    ranges.push_back(from.empty() && to.empty() ? "" : from + "-" + to);
    first = last;
  }
  return util::join(ranges, ",");
}

bool is_option(Program program, std::string_view name) {
  const auto* row = row_named(name);
  return row && !text_of(*row, program).empty();
}

std::vector<OptionVariable> option_variables(ComparisonTrackingVersion version) {
  // The only ones that sbatch reads of srun's; its own come later and win.
  std::vector<OptionVariable> variables = {{"SLURM_HINT", "hint"}, {"SLURM_CLUSTERS", "clusters"}};
  for (const auto& row : option_rows()) {
    const auto name = row.variable.substr(0, row.variable.find('['));
    const auto range = name.size() == row.variable.size()
                           ? std::string_view()
                           : row.variable.substr(name.size() + 1, row.variable.size() - name.size() - 2);
    if (!name.empty() && version.is_in(range)) variables.push_back({name, row.name});
  }
  return variables;
}

bool is_per_component(std::string_view name) {
  const auto* row = row_named(name);
  return row && row->per_component;
}

} // namespace hpcml::slurm
