// SPDX-License-Identifier: MIT
#include "slurm/foreign_directives.hpp"

#include <utility>

#include "util/text.hpp"

namespace hpcml::slurm {
namespace {

struct Letter {
  char letter;
  std::string_view option; ///< empty: takes a value that sbatch ignores
};

constexpr Letter k_pbs[] = {{'a', "begin"},     {'A', "account"}, {'e', "error"},     {'J', "array"}, {'m', ""},
                            {'M', "mail-user"}, {'N', "job-name"}, {'o', "output"},    {'p', "nice"},  {'q', "partition"},
                            {'S', ""},          {'t', "array"},    {'v', "export"},    {'W', ""}};
constexpr Letter k_bsub[] = {{'e', "error"},     {'E', ""},          {'J', "job-name"}, {'m', "nodelist"},
                             {'M', "mem-per-cpu"}, {'n', "ntasks"},    {'o', "output"},   {'q', "partition"},
                             {'R', ""},          {'W', "time"}};
/// Resources of PBS's -l.
constexpr std::pair<std::string_view, std::string_view> k_resources[] = {
    {"nodes", "nodes"}, {"walltime", "time"}, {"mem", "mem"}};

void add(std::vector<Setting>& settings, std::string_view option, std::string value, Place place) {
  if (!option.empty()) settings.push_back({std::string(option), std::move(value), place, Source::script});
}

/// "nodes=2:ppn=8,walltime=1:00:00" after -l.
void add_resources(std::vector<Setting>& settings, const std::string& list, Place place) {
  for (const auto& item : util::split(list, ',')) {
    const auto equals = item.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = item.substr(0, equals);
    std::string value = item.substr(equals + 1);
    if (name == "nodes") {
      const auto parts = util::split(value, ':');
      value = parts.front();
      const auto nodes = util::parse_unsigned(value);
      for (const auto& part : parts)
        if (const auto per_node = util::starts_with(part, "ppn=") ? util::parse_unsigned(part.substr(4)) : std::nullopt; nodes && per_node)
          add(settings, "ntasks", std::to_string(*nodes * *per_node), place);
    }
    for (const auto& [resource, option] : k_resources)
      if (name == resource) add(settings, option, value, place);
  }
}

template <std::size_t N>
const Letter* find_letter(const Letter (&letters)[N], char c) {
  for (const auto& letter : letters)
    if (letter.letter == c) return &letter;
  return nullptr;
}

} // namespace

std::vector<Setting> translate_foreign(const Directive& directive) {
  std::vector<Setting> settings;
  const auto& words = directive.words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i].text;
    if (word.size() < 2 || word.front() != '-') continue;
    const bool resources = directive.magic == Magic::pbs && word[1] == 'l';
    const auto* letter = directive.magic == Magic::pbs ? find_letter(k_pbs, word[1]) : find_letter(k_bsub, word[1]);
    if (!letter && !resources) continue;
    std::string value = word.substr(2);
    if (value.empty() && i + 1 < words.size()) value = words[++i].text;
    if (resources) add_resources(settings, value, words[i].place);
    else add(settings, letter->option, std::move(value), words[i].place);
  }
  return settings;
}

} // namespace hpcml::slurm
