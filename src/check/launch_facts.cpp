// SPDX-License-Identifier: MIT
#include "check/launch_facts.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "core/util/text.hpp"

namespace hpcml::check {

std::vector<std::string_view> names_in(std::string_view text) {
  std::vector<std::string_view> names;
  // Those of interest have a '_': where each is is found faster than every word.
  for (auto at = text.find('_'); at != std::string_view::npos; at = text.find('_', at)) {
    auto begin = at;
    while (begin > 0 && util::is_name_char(text[begin - 1])) --begin;
    while (at < text.size() && util::is_name_char(text[at])) ++at;
    names.push_back(text.substr(begin, at - begin));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

namespace {

/// False if the text does not have the name; names without '_' are not among its names.
bool may_be_in_text(const LintContext& subject, std::string_view name) {
  return name.find('_') == std::string_view::npos ||
         std::binary_search(subject.names.begin(), subject.names.end(), name);
}

} // namespace

std::vector<EffectiveEnvVariable> seen_variables(const LintContext& subject,
                                                 std::initializer_list<std::string_view> names) {
  std::vector<EffectiveEnvVariable> seen;
  std::set<std::pair<std::size_t, std::string_view>> known;
  // A name that the text does not have is not worth a look at every command.
  if (std::none_of(names.begin(), names.end(), [&](auto name) { return may_be_in_text(subject, name); }))
    return seen;
  const auto add = [&](std::string_view name, const shell::Argument& value, diag::TextRange set_at,
                       const Launch& launch) {
    if (known.emplace(set_at.offset, name).second) seen.push_back({name, &value, set_at, &launch});
  };
  const shell::Exports* before = nullptr;
  for (const auto& launch : subject.launches) {
    if (!launch.step() && !launch.agent() && !launch.python() && !launch.container()) continue;
    for (const auto& setting : launch.command->own)
      if (std::find(names.begin(), names.end(), setting.name) != names.end())
        add(setting.name, setting.value, setting.value.place, launch);
    const auto* exports = launch.command->exports.get();
    if (!exports || exports == before) continue;
    before = exports;
    for (const auto name : names) {
      const auto found =
          std::lower_bound(exports->begin(), exports->end(), name,
                           [](const shell::VariableRef& a, std::string_view b) { return a->name < b; });
      if (found != exports->end() && (*found)->name == name && (*found)->value.words.size() == 1)
        add(name, (*found)->value.words[0], (*found)->set_at, launch);
    }
  }
  return seen;
}

bool is_own(const Launch& launch, const Link& link) {
  const auto whole = launch.command->place;
  return link.place.offset >= whole.offset && link.place.offset < whole.offset + whole.length;
}

bool starts_python_file(const Launch& launch) {
  const auto* python = launch.python();
  return python && !python->operands.empty() && python->operands.front().text().ends_with(".py");
}

bool is_shell(const Launch& launch) {
  const auto& name = launch.last().program;
  return name == "bash" || name == "sh" || name == "env" || name == "source" || name == "eval";
}

bool is_tool(const Launch& launch) {
  static constexpr std::array<std::string_view, 74> k_tools = {
      "awk",      "basename", "bc",         "cat",      "chmod",  "comm",     "cp",       "curl", "cut",
      "date",     "df",       "dirname",    "du",       "echo",   "env",      "false",    "find", "free",
      "git",      "grep",     "gunzip",     "gzip",     "head",   "hostname", "id",       "ip",   "jq",
      "kill",     "ln",       "ls",         "lscpu",    "lstopo", "md5sum",   "mkdir",    "mv",   "netstat",
      "nproc",    "nvcc",     "nvidia-smi", "pip",      "pkill",  "printenv", "printf",   "ps",   "pwd",
      "readlink", "realpath", "rm",         "rocm-smi", "rsync",  "sbcast",   "scontrol", "sed",  "seq",
      "shuf",     "sinfo",    "sleep",      "sort",     "squeue", "ss",       "stat",     "tail", "tar",
      "tee",      "touch",    "tr",         "true",     "uname",  "uniq",     "unzip",    "wc",   "wget",
      "which",    "whoami"};
  return std::binary_search(k_tools.begin(), k_tools.end(), std::string_view(launch.last().program));
}

bool is_utility(const Launch& launch) {
  static constexpr std::array<std::string_view, 43> k_of_shell = {
      ".",          ":",       "[",        "[[",        "cd",     "clear",   "command", "conda",
      "deactivate", "declare", "exec",     "exit",      "export", "let",     "local",   "mamba",
      "micromamba", "mktemp",  "ml",       "mmlsquota", "module", "popd",    "pushd",   "pyenv",
      "quota",      "read",    "readonly", "rmdir",     "sbatch", "scancel", "set",     "shift",
      "shopt",      "source",  "ssh",      "sync",      "test",   "trap",    "ulimit",  "unset",
      "virtualenv", "wait",    "yes"};
  return is_tool(launch) ||
         std::binary_search(k_of_shell.begin(), k_of_shell.end(), std::string_view(launch.last().program));
}

bool has_word(std::span<const shell::Argument> words, std::string_view text) {
  return std::any_of(words.begin(), words.end(), [&](const auto& word) { return word.text() == text; });
}

bool reads(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    const bool whole = end == text.size() || !util::is_name_char(text[end]);
    const bool read =
        at > 0 && (text[at - 1] == '$' || (at > 1 && text[at - 1] == '{' && text[at - 2] == '$'));
    if (whole && read) return true;
  }
  return false;
}

const shell::ArgumentPiece* reading_piece(const shell::Argument& word,
                                          std::initializer_list<std::string_view> names) {
  for (const auto& piece : word.pieces)
    if (!piece.known)
      for (const auto name : names)
        if (reads(piece.text, name)) return &piece;
  return nullptr;
}

std::optional<CountArgument> find_count_argument(const Link& program,
                                                 std::span<const std::string_view> names) {
  const auto& words = program.operands;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto text = words[i].prefix();
    if (!text.starts_with("--")) continue;
    const auto equals = std::min(text.find('='), text.size());
    auto name = util::replace_all(text.substr(2, equals - 2), "-", "_");
    if (!util::contains(names, std::string_view(name))) continue;
    const bool next = equals == text.size();
    const auto& word = words[next ? std::min(i + 1, words.size() - 1) : i];
    const auto number =
        word.known() ? util::parse_unsigned(next ? word.text() : text.substr(equals + 1)) : std::nullopt;
    if (!number || *number > 10000) return std::nullopt;
    return CountArgument{std::move(name), static_cast<long>(*number), word.place};
  }
  return std::nullopt;
}

bool is_standalone(const Launch& launch, const Link& agent) {
  if (agent.find(model::OptionMeaning::alone)) return true;
  const auto* value = launch.variable(agent, model::OptionMeaning::alone);
  return value && value->known() && value->text() != "0" && !value->text().empty();
}

const GivenOption* find_any(const Link& link, std::initializer_list<std::string_view> names) {
  const GivenOption* last = nullptr;
  for (const auto name : names)
    if (const auto* found = link.find(name)) last = found;
  return last;
}

bool is_explained(const LintContext& subject, diag::TextRange place) {
  static constexpr std::array<std::string_view, 16> k_reasons = {
      "workaround", "work around", "do not remove", "don't remove", "hang",     "required",
      "necessary",  "needed",      "otherwise",     "to avoid",     "not used", "unused",
      "kept for",   "on purpose",  "deliberate",    "intention"};
  if (place.offset >= subject.text.size()) return false;
  const auto line = line_at(subject.text, place.offset);
  const auto text = subject.text.substr(line.offset, line.length);
  auto comment = util::to_lower(text.substr(std::min(text.find(" #"), text.size())));
  if (line.offset > 0) {
    const auto before = line_at(subject.text, line.offset - 1);
    const auto above = util::trim(subject.text.substr(before.offset, before.length));
    if (above.starts_with("#")) comment += util::to_lower(above);
  }
  return std::any_of(k_reasons.begin(), k_reasons.end(),
                     [&](auto reason) { return comment.find(reason) != std::string::npos; });
}

void add_match(RuleMatches& hits, RuleMatch hit) { hits.add(std::move(hit)); }

void RuleMatches::add(RuleMatch hit) {
  const auto place_of_hit = [](const RuleMatch& entry) {
    return std::pair(entry.place.offset, entry.place.length);
  };
  for (; x_counted < size(); ++x_counted) x_places.insert(place_of_hit((*this)[x_counted]));
  if (!x_places.insert(place_of_hit(hit)).second) return;
  push_back(std::move(hit));
  ++x_counted;
}

std::vector<Edit> replace_end(const LintContext& subject, diag::TextRange place, std::string_view written,
                              std::string text) {
  if (place.offset + place.length > subject.text.size() ||
      !subject.text.substr(place.offset, place.length).ends_with(written))
    return {};
  return {{place.offset + place.length - written.size(), written.size(), std::move(text)}};
}

std::vector<Edit> add_option(const LintContext& subject, const Link& link, const std::string& option) {
  const auto end = link.place.offset + link.place.length;
  if (end > subject.text.size() || subject.text.substr(link.place.offset, link.place.length) != link.program)
    return {};
  return {{end, 0, " " + option}};
}

const GivenOption* names_components(const Launch& launch) {
  const auto& link = launch.chain.front();
  if (link.program != "srun" || launch.command->parent) return nullptr;
  const auto groups = link.value("het-group");
  return groups && groups->find_first_of(",-") != std::string::npos ? link.find("het-group") : nullptr;
}

bool is_unset_before(const LintContext& subject, std::string_view name, std::size_t offset) {
  return std::any_of(subject.listing.commands.begin(), subject.listing.commands.end(),
                     [&](const auto& command) {
                       return command.place.offset <= offset && command.name() == "unset" &&
                              has_word(command.arguments(), name);
                     });
}

} // namespace hpcml::check
