// SPDX-License-Identifier: MIT
#include "slurm/options.hpp"

#include <algorithm>
#include <array>

#include "slurm/option_table.hpp"
#include "util/text.hpp"

namespace hpcml::slurm {
namespace {

constexpr std::size_t k_programs = 3;
constexpr std::size_t k_versions = k_version_names.size();

/// Older spellings that are still taken.
constexpr std::pair<std::string_view, std::string_view> k_other_names[] = {
    {"tasks-per-node", "ntasks-per-node"},
    {"cluster", "clusters"},
    {"cpu_bind", "cpu-bind"},
    {"pack-group", "het-group"}};

/// A row's text for one program as values.
struct Use {
  char letter = '\0';
  std::array<std::optional<Argument>, k_versions> arguments;

  /// Without a version: as its newest form takes it.
  std::optional<Argument> argument(std::optional<AsVersion> version) const {
    if (version) return version->pick(arguments);
    const auto newest =
        std::find_if(arguments.rbegin(), arguments.rend(), [](const auto& a) { return a.has_value(); });
    return newest == arguments.rend() ? std::nullopt : *newest;
  }
};

struct Entry {
  const OptionRow* row = nullptr;
  std::array<Use, k_programs> uses;
  const Use& use(Program program) const { return uses[static_cast<std::size_t>(program)]; }
};

bool is_mark(char c) { return c == '=' || c == '?' || c == '.'; }

Use read_use(std::string_view text) {
  Use use;
  if (!text.empty() && !is_mark(text.front())) {
    use.letter = text.front();
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    const char mark = text.front();
    text.remove_prefix(1);
    std::string_view range;
    if (!text.empty() && text.front() == '[') {
      range = text.substr(1, text.find(']') - 1);
      text.remove_prefix(range.size() + 2);
    }
    for (std::size_t i = 0; i < k_versions; ++i)
      if (is_in_range(range, static_cast<Version>(i)))
        use.arguments[i] = mark == '='   ? Argument::required
                           : mark == '?' ? Argument::optional
                                         : Argument::none;
  }
  return use;
}

std::string_view text_of(const OptionRow& row, Program program) {
  return program == Program::sbatch ? row.sbatch : program == Program::srun ? row.srun : row.salloc;
}

/// The table as values, by name.
const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> list;
    for (const auto& row : option_rows())
      list.push_back({&row, {read_use(row.sbatch), read_use(row.srun), read_use(row.salloc)}});
    std::sort(list.begin(), list.end(),
              [](const Entry& a, const Entry& b) { return a.row->name < b.row->name; });
    return list;
  }();
  return all;
}

std::vector<Entry>::const_iterator first_not_before(std::string_view name) {
  return std::lower_bound(entries().begin(), entries().end(), name,
                          [](const Entry& e, std::string_view n) { return e.row->name < n; });
}

const Entry* entry_named(std::string_view name) {
  const auto found = first_not_before(name);
  return found == entries().end() || found->row->name != name ? nullptr : &*found;
}

} // namespace

OptionMatch find_option(Program program, std::string_view name, std::optional<AsVersion> version) {
  if (name.empty()) return {};
  std::vector<const Entry*> matches;
  const auto argument = [&](const Entry& entry) { return entry.use(program).argument(version); };
  const auto to_match = [&](const Entry& entry) {
    return OptionMatch{Option{std::string(entry.row->name), *argument(entry)}, {}};
  };
  const auto add = [&](const Entry& entry) {
    if (argument(entry) && std::find(matches.begin(), matches.end(), &entry) == matches.end())
      matches.push_back(&entry);
  };
  if (const auto* exact = entry_named(name); exact && argument(*exact)) return to_match(*exact);
  for (const auto& [other, full] : k_other_names) {
    const auto& entry = *entry_named(full);
    if (name == other && argument(entry)) return to_match(entry);
    if (util::starts_with(other, name)) add(entry);
  }
  for (auto at = first_not_before(name); at != entries().end() && util::starts_with(at->row->name, name);
       ++at)
    add(*at);
  if (matches.size() == 1) return to_match(*matches.front());
  OptionMatch result;
  for (const auto* entry : matches) result.candidates.emplace_back(entry->row->name);
  return result;
}

std::optional<Option> find_option(Program program, char letter, std::optional<AsVersion> version) {
  for (const auto& entry : entries())
    if (letter != '\0' && entry.use(program).letter == letter)
      if (const auto argument = entry.use(program).argument(version))
        return Option{std::string(entry.row->name), *argument};
  return std::nullopt;
}

std::vector<std::string> option_names(Program program, std::optional<AsVersion> version) {
  std::vector<std::string> names;
  for (const auto& entry : entries())
    if (entry.use(program).argument(version)) names.emplace_back(entry.row->name);
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
  case ValueKind::tres_per_task: return true;
  default: return false;
  }
}

ValueKind value_kind_of(std::string_view name) {
  const auto* entry = entry_named(name);
  return entry ? entry->row->kind : ValueKind::text;
}

std::string versions_of(Program program, std::string_view name) {
  const auto* entry = entry_named(name);
  if (!entry) return {};
  const auto has = [&](std::size_t i) { return entry->use(program).arguments[i].has_value(); };
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
  const auto* entry = entry_named(name);
  return entry && !text_of(*entry->row, program).empty();
}

std::vector<OptionVariable> option_variables(AsVersion version) {
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
  const auto* entry = entry_named(name);
  return entry && entry->row->per_component;
}

} // namespace hpcml::slurm
