// SPDX-License-Identifier: MIT
#include "core/shell/command_interpreter.hpp"

#include <algorithm>
#include <array>

#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::shell {

namespace {

/// A program that runs another one.
struct Prefix {
  std::string_view name;
  std::string_view with_value;      ///< short options whose value may be the next word
  std::string_view long_with_value; ///< long ones, each between spaces
  std::size_t operands = 0;         ///< words before the program
};

constexpr std::array<Prefix, 14> k_prefixes = {
    {{"time", "fo", " --format --output "},
     {"exec", "a", ""},
     {"env", "uCS", " --unset --chdir --split-string "},
     {"nohup", "", ""},
     {"command", "", ""},
     {"builtin", "", ""},
     {"timeout", "ks", " --kill-after --signal ", 1},
     {"nice", "n", " --adjustment "},
     {"ionice", "cn", " --class --classdata "},
     {"stdbuf", "ioe", " --input --output --error "},
     {"setsid", "", ""},
     {"numactl", "iPpNCmLwS",
      " --interleave --preferred --cpunodebind --physcpubind --membind --weighted-interleave "},
     {"taskset", "", "", 1},
     {"unbuffer", "", ""}}};

/// "--physcpubind=$LIST": an option, whatever is in it.
bool is_option_of_unknown(const Argument& word) {
  const auto text = word.prefix();
  return text.starts_with("--") && text.find('=') != std::string::npos;
}

/// One word of unknown text can be an operand, but not a program.
bool is_operand_of_unknown(const Argument& word) {
  const auto text = word.prefix();
  return !word.many && !text.empty() && text[0] != '-';
}

/// Whether the word sets a variable for the program after `env`: "A=$B".
bool is_setting(const Argument& word) {
  const auto text = word.prefix();
  const auto equals = text.find('=');
  return equals != std::string::npos && is_name(text.substr(0, equals));
}

/// Whether the word does not even show the name of a program after the prefix's operands.
bool is_unknown(const Argument& word, std::size_t operands) {
  return !word.known() && (operands > 0 || !word.program());
}

/// Whether the option makes the prefix show something and run no program: `command -v`, `taskset -p`.
bool only_shows(const Prefix& prefix, const std::string& option) {
  if (prefix.name == "command") return option == "-v" || option == "-V";
  return prefix.name == "taskset" && option.find('c') == std::string::npos &&
         option.find('p') != std::string::npos;
}

/// The first word after the prefix's own options; nothing if an option is not known.
std::optional<std::size_t> behind(const Prefix& prefix, const std::vector<Argument>& words, std::size_t at) {
  bool options = true;
  auto operands = prefix.operands;
  for (; at < words.size(); ++at) {
    if (prefix.name == "env" && is_setting(words[at])) break;
    if (is_unknown(words[at], operands)) {
      if (options && is_option_of_unknown(words[at])) continue;
      if (operands == 0 || !is_operand_of_unknown(words[at])) return std::nullopt;
      --operands;
      continue;
    }
    const auto text = words[at].text();
    if (options && text == "--")
      options = false;
    else if (options && text.size() > 2 && text[0] == '-' && text[1] == '-') {
      if (prefix.long_with_value.find(" " + text + " ") != std::string_view::npos) ++at;
    } else if (options && text.size() > 1 && text[0] == '-') {
      if (text.size() == 2 && prefix.with_value.find(text[1]) != std::string_view::npos) ++at;
      if (only_shows(prefix, text)) return std::nullopt;
    } else if (operands > 0)
      --operands;
    else
      break;
  }
  return at;
}

const Prefix* find_prefix(const std::string& name) {
  const auto* found =
      std::find_if(k_prefixes.begin(), k_prefixes.end(), [&](const Prefix& p) { return p.name == name; });
  return found == k_prefixes.end() ? nullptr : found;
}

} // namespace

std::optional<std::size_t> skip_prefixes(const std::vector<Argument>& words, std::size_t at) {
  while (at < words.size()) {
    const auto path = words[at].program();
    if (!path) return std::nullopt;
    const auto name = util::base_name(*path);
    const auto* prefix = find_prefix(name);
    if (!prefix) return at;
    const auto next = behind(*prefix, words, at + 1);
    if (!next) return std::nullopt;
    at = *next;
    if (name == "env")
      while (at < words.size() && is_setting(words[at])) ++at;
  }
  return std::nullopt;
}

std::optional<std::string> Command::name() const {
  if (!program) return std::nullopt;
  const auto& word = words[*program];
  if (word.pieces.size() == 1 && word.pieces[0].known)
    return util::base_name(word.pieces[0].text); // many ask: without a copy of the path
  return util::base_name(word.program().value_or(word.text()));
}

std::span<const Argument> Command::arguments() const {
  return program ? std::span(words).subspan(*program + 1) : std::span<const Argument>();
}

void CommandInterpreter::walk_simple(const SyntaxNode& node) {
  Command command;
  command.place = node.place;
  command.words.reserve(node.words.size() + node.declared.size());
  for (const auto& word : node.words) expand(word, command.words);
  command.redirects = expand_redirects(node);
  if (node.words.empty()) return assign_all(node);
  if (command.words.empty()) return assign_all(node); // everything expanded to nothing
  for (const auto& assignment : node.assignments) {
    auto value = value_of(assignment);
    command.own.push_back(
        {assignment.name, value.words.size() == 1
                              ? std::move(value.words[0])
                              : unknown_argument(assignment.name + "=(…)", assignment.place, false)});
  }
  auto declared = add_declared(node, command);
  find_program(command);
  const auto index = record(command);
  x_declared = std::move(declared);
  act(node, command, index);
  // Only now: what it runs has been recorded after it.
  if (x_quiet == 0) x_listing.commands[index] = std::move(command);
}

void CommandInterpreter::assign_all(const SyntaxNode& node) {
  for (const auto& assignment : node.assignments) assign(assignment);
}

/// `export A=1` as the words that export gets. Bash expands all of them before it assigns the first.
std::vector<Value> CommandInterpreter::add_declared(const SyntaxNode& node, Command& command) {
  std::vector<Value> values;
  for (const auto& assignment : node.declared) {
    auto value = value_of(assignment);
    auto head = known_argument(assignment.name + (assignment.append ? "+=" : "="), assignment.place);
    if (assignment.array || !assignment.subscript.empty())
      head.pieces.push_back({false, assignment.array ? "(…)" : "[…]", assignment.place});
    else {
      const auto& word = value.words[0];
      head.pieces.insert(head.pieces.end(), word.pieces.begin(), word.pieces.end());
      head.caveat = word.caveat;
    }
    if (!assignment.subscript.empty()) value = {};
    command.words.push_back(std::move(head));
    values.push_back(std::move(value));
  }
  return values;
}

void CommandInterpreter::find_program(Command& command) const {
  std::size_t at = 0;
  while (at < command.words.size()) {
    const auto path = command.words[at].program();
    if (!path) return;
    const auto name = util::base_name(*path);
    const auto* prefix = find_prefix(name);
    const bool shadowed = prefix && x_state.functions->count(name) > 0;
    // Without a program after it the prefix is the program.
    const auto after = !prefix || shadowed ? std::nullopt : behind(*prefix, command.words, at + 1);
    std::size_t next = after.value_or(command.words.size());
    if (name == "env")
      for (; next < command.words.size(); ++next) {
        const auto& word = command.words[next];
        if (!is_setting(word)) break;
        const auto text = word.prefix();
        const auto equals = text.find('=');
        auto value = word;
        value.many = false; // A=$N is one word wherever N is one
        value.pieces.front().text.erase(0, std::min(equals + 1, value.pieces.front().text.size()));
        if (word.pieces.front().text.size() <= equals)
          value = unknown_argument(word.text().substr(equals + 1), word.place, false);
        command.own.push_back({text.substr(0, equals), std::move(value)});
      }
    if (next >= command.words.size()) {
      const bool runs_unknown =
          prefix && !shadowed && at + 1 < command.words.size() && name != "command" && name != "exec";
      if (!runs_unknown) command.program = at;
      return;
    }
    command.prefixes.push_back(name);
    at = next;
  }
}

/// Keeps a place for the command, as it is found.
std::size_t CommandInterpreter::record(Command& command) {
  if (x_quiet > 0) return 0;
  use_budget(256);
  command.exports = x_state.snapshot();
  command.context = x_context;
  command.context.errexit = x_state.errexit;
  command.context.pipefail = x_state.pipefail;
  command.context.unreached = command.context.unreached || x_state.ended != ExitScope::nothing;
  command.context.guarded = command.context.guarded || x_state.guarded != ExitScope::nothing;
  command.parent = x_parent;
  x_listing.commands.emplace_back();
  return x_listing.commands.size() - 1;
}

std::vector<ResolvedRedirect> CommandInterpreter::expand_redirects(const SyntaxNode& node) {
  std::vector<ResolvedRedirect> list;
  for (const auto& redirect : node.redirects) {
    ResolvedRedirect view{redirect.fd, redirect.op, {}, redirect.place};
    if (redirect.here_document) {
      view.target = expand_single(redirect.here_document->body);
      if (redirect.here_document->quoted && view.target.pieces.empty())
        view.target.pieces.push_back({true, "", redirect.place});
    } else if (redirect.op == "<<<")
      view.target = expand_single(redirect.target);
    else {
      std::vector<Argument> words;
      expand(redirect.target, words);
      view.target =
          words.size() == 1 ? std::move(words[0]) : unknown_argument("several words", redirect.place, false);
    }
    list.push_back(std::move(view));
  }
  return list;
}

/// What the command does to what is known.
void CommandInterpreter::act(const SyntaxNode& node, Command& command, std::size_t index) {
  note_files(command);
  if (!command.program) return;
  const auto name = command.words[*command.program].text();
  const bool direct = command.prefixes.empty();
  const auto function = x_state.functions->find(name);
  if (direct && function != x_state.functions->end()) {
    const auto found = function->second;
    command.calls_function = true;
    if (found.on_all_paths)
      call_function(found, command, index);
    else
      on_both_paths([&] { call_function(found, command, index); });
    return;
  }
  const bool builtin =
      std::all_of(command.prefixes.begin(), command.prefixes.end(),
                  [](const std::string& p) { return p == "command" || p == "builtin" || p == "exec"; });
  if (builtin && run_builtin(node, command, index)) return;
  walk_nested(command, index);
  if (std::find(command.prefixes.begin(), command.prefixes.end(), "exec") != command.prefixes.end())
    x_state.ended = ExitScope::script;
}

/// Runs `body` with the command's own variables set, as bash does for functions, `eval` and `source`.
void CommandInterpreter::with_settings(const Command& command, const std::function<void()>& body) {
  std::vector<std::pair<std::string, VariableRef>> hidden;
  for (const auto& setting : command.own) {
    const auto old = x_state.variables->find(setting.name);
    hidden.emplace_back(setting.name, old == x_state.variables->end() ? nullptr : old->second);
    Variable variable;
    variable.name = setting.name;
    variable.value = scalar_value(setting.value);
    variable.exported = true;
    variable.set_at = setting.value.place;
    x_state.set(std::move(variable));
  }
  body();
  std::reverse(hidden.begin(), hidden.end());
  for (auto& [name, variable] : hidden) {
    if (variable)
      x_state.variables.edit()[name] = std::move(variable);
    else
      x_state.variables.edit().erase(name);
  }
  if (!hidden.empty()) x_state.exports.reset();
}

void CommandInterpreter::call_function(const FunctionState& function, const Command& command, std::size_t) {
  constexpr std::size_t k_deepest_call = 12;
  if (x_state.frames.size() >= k_deepest_call) {
    x_listing.complete = false;
    return invalidate_state();
  }
  x_called.insert(function.body);
  const auto arguments = command.arguments();
  const auto outer = x_context;
  x_context.function = function.body->text;
  auto saved = std::move(x_state.positional);
  x_state.positional = std::vector<Argument>(arguments.begin(), arguments.end());
  x_state.frames.emplace_back();
  const auto guarded = x_state.guarded;
  std::vector<ShellState> returns;
  x_returns.push_back(&returns);
  with_settings(command, [&] {
    walk(function.body->children[0]);
    for (const auto& state : returns) join(x_state, state);
  });
  x_returns.pop_back();
  if (x_state.guarded <= ExitScope::function) x_state.guarded = guarded;
  if (!x_state.frames.empty()) {
    for (auto& [name, variable] : x_state.frames.back()) {
      if (variable)
        x_state.variables.edit()[name] = variable;
      else
        x_state.variables.edit().erase(name);
    }
    x_state.frames.pop_back();
  }
  x_state.exports.reset();
  x_state.positional = std::move(saved);
  x_context = outer;
}

} // namespace hpcml::shell
