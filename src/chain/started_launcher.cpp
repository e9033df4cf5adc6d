// SPDX-License-Identifier: MIT
#include "chain/started_launcher.hpp"

#include <algorithm>
#include <cctype>

#include "chain/launches.hpp"
#include "model/launcher.hpp"
#include "util/shell_quote.hpp"
#include "util/text.hpp"

namespace hpcml::chain {
namespace {

/// hpcml's own launcher is one, too: within itself it would make a second world.
bool is_launcher(const Link& link) {
  if (link.program == "hpcml") return link.complete;
  if (link.role != Role::step && link.role != Role::agent) return false;
  const auto* wrapper = find_wrapper(link.program);
  // `accelerate config` starts nothing.
  const bool needs_subcommand = wrapper && !wrapper->subcommands.empty() && link.module.empty();
  const auto named = [&](const char* option) { return link.find(option) != nullptr; };
  return !(needs_subcommand && !link.complete) && !named("help") && !named("version") && !named("h");
}

std::string normal(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string upper(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

void add_options(const Link& link, StartedLauncher& found) {
  for (const auto& option : link.options) {
    std::optional<std::string> value;
    if (option.value) value = option.value->text();
    found.options.emplace_back(normal(option.name), value);
  }
}

/// The words of the outer command around the launcher's. They are literal, so a word's text is what was
/// written.
void add_words(const Launch& launch, std::size_t at, StartedLauncher& found) {
  const auto& words = launch.command->words;
  const auto index_of = [&](diag::Place place) {
    std::size_t i = 0;
    while (i < words.size() && words[i].place.offset < place.offset) ++i;
    return i;
  };
  const Link& link = launch.chain[at];
  const auto program = index_of(link.place);
  const bool last = at + 1 == launch.chain.size();
  std::size_t rest = words.size();
  if (!last)
    rest = index_of(launch.chain[at + 1].place);
  else if (!link.operands.empty())
    rest = index_of(link.operands.front().place);
  std::size_t options = program + 1;
  if (!link.module.empty()) // python, its own options, -m, the module
    while (options < rest && words[options - 1].text() != link.module) ++options;
  const auto* wrapper = find_wrapper(link.program);
  if (link.module.empty() && wrapper && !wrapper->subcommands.empty())
    while (options < rest && words[options].prefix().substr(0, 1) == "-") ++options;
  if (link.module.empty() && wrapper && !wrapper->subcommands.empty() && options < rest) ++options;
  std::vector<std::string> written;
  for (std::size_t i = program; i < options && i < words.size(); ++i) written.push_back(words[i].text());
  found.written = util::join(written, " ");
  for (std::size_t i = 0; i < program; ++i) found.prefixes.push_back(words[i].text());
  for (std::size_t i = options; i < rest; ++i) found.option_words.push_back(words[i].text());
  for (std::size_t i = rest; i < words.size(); ++i) found.command.push_back(words[i].text());
  found.first = found.prefixes.empty();
}

/// `names_variables`: something in the text sets variables that a launcher reads as its options.
std::optional<StartedLauncher> first_of(const std::vector<Launch>& launches, bool is_script,
                                        bool names_variables) {
  std::optional<StartedLauncher> first;
  for (const auto& launch : launches) {
    if (launch.command->context.substitution) continue;
    const auto link = std::find_if(launch.chain.begin(), launch.chain.end(), is_launcher);
    if (link == launch.chain.end()) continue;
    if (first) {
      first->sure = false;
      break;
    }
    StartedLauncher found;
    found.name = link->program;
    found.role = link->role == Role::step ? Role::step : Role::agent;
    found.in_text = is_script || !launch.command->context.script.empty();
    found.complete = link->complete;
    found.written = link->module.empty() ? link->program : "python -m " + link->module;
    add_options(*link, found);
    const bool heard = found.take_variables([&](const std::string& name) -> std::optional<std::string> {
      const auto* value = launch.variable(name);
      return value ? std::optional(value->text()) : std::nullopt;
    });
    if (names_variables && !heard) found.sure = false;
    if (!found.in_text) add_words(launch, static_cast<std::size_t>(link - launch.chain.begin()), found);
    first = std::move(found);
  }
  return first;
}

std::optional<StartedLauncher> find_in(std::string text, bool is_script) {
  const bool names_variables = text.find("PET_") != std::string::npos;
  const bool reads_file =
      text.find("source ") != std::string::npos || text.find("--env-file") != std::string::npos;
  const auto script = shell::read_script(std::move(text));
  const auto view = shell::make_view(script);
  auto found = first_of(find_launches(view), is_script, names_variables);
  if (found && reads_file) found->sure = false;
  return found;
}

} // namespace

std::optional<std::string> StartedLauncher::value(const std::string& option,
                                                  const std::string& or_option) const {
  const auto given = std::find_if(options.rbegin(), options.rend(), [&](const auto& one) {
    return one.first == option || (!or_option.empty() && one.first == or_option);
  });
  return given == options.rend() ? std::nullopt : given->second;
}

bool StartedLauncher::has(const std::string& option) const {
  return std::any_of(options.begin(), options.end(), [&](const auto& one) { return one.first == option; });
}

bool StartedLauncher::meets_other_nodes() const {
  if (has("standalone")) return false;
  const bool file = has("config_file") || has("hostfile") || has("H");
  return !complete || file || (names_place() && counts_nodes());
}

bool StartedLauncher::take_variables(
    const std::function<std::optional<std::string>(const std::string&)>& find) {
  const auto* wrapper = find_wrapper(name);
  if (!wrapper || wrapper->variables.empty()) return false;
  std::vector<std::pair<std::string, std::optional<std::string>>> told;
  const auto take = [&](std::string_view list, bool flags) {
    for (const auto& word : util::split(std::string(list), ' ')) {
      const auto option = normal(word.substr(std::min(word.size(), word.find_first_not_of('-'))));
      if (option.size() < 2) continue;
      const auto value = find(std::string(wrapper->variables) + upper(option));
      // A flag's variable is a number there.
      if (value && !(flags && (*value == "0" || value->empty())))
        told.emplace_back(option, flags ? std::nullopt : value);
    }
  };
  take(wrapper->values, false);
  take(wrapper->flags, true);
  options.insert(options.begin(), told.begin(), told.end());
  return !told.empty();
}

bool StartedLauncher::names_place() const {
  return has("rdzv_endpoint") || has("master_addr") || has("main_process_ip") || has("main_address");
}

bool StartedLauncher::counts_nodes() const {
  return has("nnodes") || has("num_machines") || has("num_nodes") || has("world_size") || has("node_rank") ||
         has("machine_rank");
}

std::optional<StartedLauncher> find_started_launcher(const std::vector<std::string>& command) {
  // Most commands name none: their words need no reading.
  static constexpr std::string_view c_hints[] = {"run",      "mpi",    "accelerate", "deepspeed",
                                                 "composer", "launch", "hpcml",      "colossalai",
                                                 "tune",     "fabric", "horovod"};
  const auto may_name = [](const std::string& word) {
    return std::any_of(std::begin(c_hints), std::end(c_hints),
                       [&](std::string_view hint) { return word.find(hint) != std::string::npos; });
  };
  if (std::none_of(command.begin(), command.end(), may_name)) return std::nullopt;
  std::string text;
  for (const auto& word : command) text += (text.empty() ? "" : " ") + util::shell_quote(word);
  // A first word is a program here, never a word of the shell's own: "time", "if".
  if (text.front() != '\'') text = "'" + command.front() + "'" + text.substr(command.front().size());
  return find_in(text + "\n", false);
}

std::optional<StartedLauncher> find_started_launcher_in(const std::string& script) {
  return find_in(script, true);
}

} // namespace hpcml::chain
