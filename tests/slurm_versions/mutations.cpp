// SPDX-License-Identifier: MIT
#include "mutations.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::agree {
namespace {

constexpr const char* k_prefix = "#SBATCH ";

/// "--mem=4G" of "#SBATCH --mem=4G" as option and value; nothing where the line is any other.
struct Parts {
  std::string option;
  std::string value;
};

std::optional<Parts> parts_of(const std::string& line) {
  const std::string prefix = std::string(k_prefix) + "--";
  const auto equals = line.find('=');
  if (!line.starts_with(prefix) || equals == std::string::npos || line.find(' ', prefix.size()) < equals)
    return std::nullopt;
  const auto match =
      slurm::find_option(slurm::Program::sbatch, line.substr(prefix.size(), equals - prefix.size()));
  if (!match.option) return std::nullopt;
  return Parts{match.option->name, line.substr(equals + 1)};
}

/// Values of one kind go into each other's options.
std::string pool_of(const std::string& option) {
  const auto kind = slurm::value_kind_of(option);
  return kind == slurm::ValueKind::text ? option : std::to_string(static_cast<int>(kind));
}

/// What cannot be asked: it would wait for the job's end, or read the machine.
bool is_askable(const Case& item) {
  const std::string all = item.script + util::join(item.arguments, " ");
  for (const char* word :
       {"--wait\n", "--wait ", "-W", "--wai\n", "get-user-env", "--immediate", "hetjob", "packjob"})
    if (all.find(word) != std::string::npos) return false;
  return item.environment.count("SBATCH_WAIT") == 0 && item.environment.count("SBATCH_GET_USER_ENV") == 0 &&
         item.group != "het";
}

} // namespace

Mutator::Mutator(std::vector<Case> base, unsigned seed) : x_random(seed), x_seed(seed) {
  for (auto& item : base) {
    if (!is_askable(item)) continue;
    for (const auto& variable : item.environment) x_variables.emplace_back(variable);
    for (const auto& line : util::split(item.script, '\n')) {
      if (!line.starts_with(k_prefix) || line.find("hetjob") != std::string::npos ||
          line.find("packjob") != std::string::npos)
        continue;
      x_directives.push_back(line);
      if (const auto parts = parts_of(line)) x_values[pool_of(parts->option)].push_back(parts->value);
    }
    x_base.push_back(std::move(item));
  }
}

void Mutator::change_value(std::string& line) {
  const auto parts = parts_of(line);
  if (!parts) return change_characters(line);
  const auto& values = x_values[pool_of(parts->option)];
  if (values.empty()) return change_characters(line); // no case gives such an option a value
  line.resize(line.find('=') + 1);
  line += values[pick(values.size())];
}

void Mutator::change_characters(std::string& line) {
  static const std::string alphabet = "0123456789:-,=%@+*.|&[]()_ \"'\\#kKMGTabxN";
  const std::size_t from = std::min<std::size_t>(line.size(), 8);
  const std::size_t at = from + pick(line.size() - from + 1);
  const char c = alphabet[pick(alphabet.size())];
  switch (pick(3)) {
  case 0: line.insert(at, 1, c); break;
  case 1:
    if (at < line.size()) line[at] = c;
    break;
  default:
    if (at < line.size()) line.erase(at, 1);
    break;
  }
}

/// The directive as the variable or the argument that says the same.
void Mutator::move_to_environment(Case& item, std::string& line) {
  const auto parts = parts_of(line);
  if (!parts || parts->value.find_first_of("\"'\\# ") != std::string::npos) return;
  for (const auto& [variable, option] : slurm::option_variables(slurm::k_newest_version))
    if (option == parts->option && pick(2) == 0) {
      item.environment[std::string(variable)] = parts->value;
      line = "# moved";
      return;
    }
  item.arguments.push_back("--" + parts->option + "=" + parts->value);
  line = "# moved";
}

void Mutator::change(Case& item, Lines& lines) {
  std::vector<std::size_t> directives;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].starts_with(k_prefix)) directives.push_back(i);
  if (directives.empty()) {
    lines.insert(lines.begin() + (lines.size() > 1 ? 1 : 0), any_directive());
    return;
  }
  const std::size_t at = directives[pick(directives.size())];
  switch (pick(10)) {
  case 0:
  case 1:
  case 2: change_value(lines[at]); break;
  case 3: change_characters(lines[at]); break;
  case 4:
  case 5:
  case 6: lines.insert(lines.begin() + static_cast<long>(at + pick(2)), any_directive()); break;
  case 7: // the same option again
    lines.insert(lines.begin() + static_cast<long>(at), lines[at]);
    change_value(lines[at + pick(2)]);
    break;
  case 8: move_to_environment(item, lines[at]); break;
  default:
    std::swap(lines[at], lines[directives[pick(directives.size())]]);
    if (!x_variables.empty() && pick(2) == 0) item.environment.insert(x_variables[pick(x_variables.size())]);
    break;
  }
}

Case Mutator::next() {
  for (;;) {
    Case item = x_base[pick(x_base.size())];
    auto lines = util::split(item.script, '\n');
    for (std::size_t changes = 1 + pick(3); changes > 0; --changes) change(item, lines);
    item.script = util::join(lines, "\n");
    if (!is_askable(item)) continue;
    item.id = fmt::format("{}-{}-{}", item.group, x_seed, ++x_count);
    return item;
  }
}

} // namespace hpcml::agree
