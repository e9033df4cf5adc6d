// SPDX-License-Identifier: MIT
#include "core/launch_chain/started_launcher.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/launch_chain/launches.hpp"
#include "core/launch_chain/unknown_arguments.hpp"
#include "core/model/launcher.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch_chain {
namespace {

using model::OptionMeaning;

bool is_hpcml(const std::string& program) {
  const auto* launcher = model::find_launcher(program);
  return launcher && launcher->ranks == model::RankStartMethod::launch;
}

/// hpcml's own launcher is one as well: within itself it would make a second world.
bool is_launcher(const Link& link) {
  if (is_hpcml(link.program)) return link.complete;
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
  const auto index_of = [&](diag::TextRange place) {
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
  const auto name = util::base_name(words[program].text());
  const bool subcommand = link.module.empty() && wrapper && !wrapper->subcommands.empty() &&
                          !has_subcommand_in_name(*wrapper, name);
  if (subcommand)
    while (options < rest && words[options].prefix().starts_with("-")) ++options;
  if (subcommand && options < rest) ++options;
  std::vector<std::string> written;
  for (std::size_t i = program; i < options && i < words.size(); ++i) written.push_back(words[i].text());
  found.written = util::join(written, " ");
  for (std::size_t i = 0; i < program; ++i) found.prefixes.push_back(words[i].text());
  for (std::size_t i = options; i < rest; ++i) found.option_words.push_back(words[i].text());
  for (std::size_t i = rest; i < words.size(); ++i) found.command.push_back(words[i].text());
  found.first = found.prefixes.empty();
}

/// True if the launcher may read settings that this text does not show: a variable with an unknown value, or
/// a file of variables.
bool may_be_set_elsewhere(const Launch& launch, const Link& launcher) {
  const auto* wrapper = find_wrapper(launcher.program);
  if (wrapper && !wrapper->variables.empty()) {
    const auto names = launch.variables(wrapper->variables);
    if (std::any_of(names.begin(), names.end(), [&](const auto& name) { return !launch.variable(name); }))
      return true;
  }
  return std::any_of(launch.chain.begin(), launch.chain.end(),
                     [](const Link& link) { return link.find("env-file") != nullptr; });
}

/// True if the command reads a text that is not visible in the script: a file or the output of a program.
bool takes_unseen_text(const shell::ScriptCommands& listing, std::size_t index) {
  const auto& command = listing.commands[index];
  const auto name = command.name();
  if (!name || (*name != "source" && *name != "." && *name != "eval")) return false;
  if (command.context.substitution || command.context.uncalled || command.context.unreached) return false;
  const auto words = command.arguments();
  if (*name == "eval")
    return std::any_of(words.begin(), words.end(), [](const auto& word) { return !word.known(); });
  // A file that this text wrote before is read with it.
  return std::none_of(listing.commands.begin(), listing.commands.end(),
                      [&](const auto& inner) { return inner.parent == index; });
}

/// The first launcher that the text starts.
std::optional<StartedLauncher> first_of(const shell::ScriptCommands& listing, bool is_script) {
  std::optional<StartedLauncher> first;
  for (const auto& launch : find_launches(listing)) {
    if (launch.command->context.substitution) continue;
    const auto link = std::find_if(launch.chain.begin(), launch.chain.end(), is_launcher);
    if (link == launch.chain.end()) continue;
    if (first) {
      first->sure = false;
      break;
    }
    StartedLauncher found;
    found.name = link->program;
    found.row = model::find_launcher(link->program);
    found.role = link->role == Role::step ? Role::step : Role::agent;
    found.in_text = is_script || !launch.command->context.script.empty();
    found.complete = link->complete;
    found.written = link->module.empty() ? link->program : fmt::format("python -m {}", link->module);
    add_options(*link, found);
    found.take_variables([&](const std::string& name) -> std::optional<std::string> {
      const auto* value = launch.variable(name);
      return value ? std::optional(value->text()) : std::nullopt;
    });
    found.sure = !may_be_set_elsewhere(launch, *link);
    const auto before = static_cast<std::size_t>(launch.command - listing.commands.data());
    for (std::size_t i = 0; i < before; ++i)
      if (takes_unseen_text(listing, i)) found.sure = false;
    if (!found.in_text) add_words(launch, static_cast<std::size_t>(link - launch.chain.begin()), found);
    first = std::move(found);
  }
  return first;
}

std::optional<StartedLauncher> find_in(std::string text, bool is_script) {
  const auto script = shell::read_script(std::move(text));
  return first_of(shell::list_commands(script), is_script);
}

} // namespace

std::optional<std::string> StartedLauncher::value(const std::string& option,
                                                  const std::string& or_option) const {
  const auto found = std::find_if(options.rbegin(), options.rend(), [&](const auto& given_option) {
    return given_option.first == option || (!or_option.empty() && given_option.first == or_option);
  });
  return found == options.rend() ? std::nullopt : found->second;
}

std::optional<std::string> StartedLauncher::value(model::OptionMeaning what) const {
  const auto found = std::find_if(options.rbegin(), options.rend(), [&](const auto& given_option) {
    return row->meaning_of(given_option.first) == what;
  });
  return found == options.rend() ? std::nullopt : found->second;
}

bool StartedLauncher::has(const std::string& option) const {
  return std::any_of(options.begin(), options.end(),
                     [&](const auto& given_option) { return given_option.first == option; });
}

bool StartedLauncher::has(std::initializer_list<model::OptionMeaning> what) const {
  return std::any_of(options.begin(), options.end(), [&](const auto& given_option) {
    return std::find(what.begin(), what.end(), row->meaning_of(given_option.first)) != what.end();
  });
}

bool StartedLauncher::is_hpcml() const { return row->ranks == model::RankStartMethod::launch; }

bool StartedLauncher::joins_other_nodes() const {
  if (has({OptionMeaning::alone})) return false;
  return !complete || has({OptionMeaning::config, OptionMeaning::hosts}) || (names_place() && counts_nodes());
}

void StartedLauncher::take_variables(
    const std::function<std::optional<std::string>(const std::string&)>& find) {
  if (row->words.variables.empty()) return;
  std::vector<std::pair<std::string, std::optional<std::string>>> variables;
  const auto take = [&](std::string_view list, bool flags) {
    for (const auto& word : util::split(std::string(list), ' ')) {
      const auto option = normal(word.substr(std::min(word.size(), word.find_first_not_of('-'))));
      if (option.size() < 2) continue;
      const auto value = find(row->variable_for(option));
      // A flag's variable is a number there.
      if (value && !(flags && (*value == "0" || value->empty())))
        variables.emplace_back(option, flags ? std::nullopt : value);
    }
  };
  take(row->words.values, false);
  take(row->words.flags, true);
  options.insert(options.begin(), variables.begin(), variables.end());
}

bool StartedLauncher::names_place() const { return has({OptionMeaning::endpoint, OptionMeaning::address}); }

bool StartedLauncher::counts_nodes() const {
  return has({OptionMeaning::nodes, OptionMeaning::world, OptionMeaning::node_rank});
}

std::optional<StartedLauncher> find_started_launcher(const std::vector<std::string>& command) {
  // Most commands name none: their words need no reading.
  if (std::none_of(command.begin(), command.end(),
                   [](const auto& word) { return model::may_name_launcher(word); }))
    return std::nullopt;
  auto text = util::shell_line(command);
  // A first word is a program here, never a word of the shell's own: "time", "if".
  if (text.front() != '\'') text = "'" + command.front() + "'" + text.substr(command.front().size());
  return find_in(text + "\n", false);
}

std::optional<StartedLauncher> find_started_launcher_in(const std::string& script) {
  return find_in(script, true);
}

} // namespace hpcml::launch_chain
