// SPDX-License-Identifier: MIT
#include "core/shell/builtin_interpreter.hpp"

#include <algorithm>
#include <array>

#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::shell {

namespace {

/// The names that a command sets from the outside: `read a b`, `mapfile a`, `printf -v a`, `getopts x a`.
std::vector<std::string> read_names(const std::string& command, std::span<const Argument> words,
                                    bool& all_known) {
  std::vector<std::string> names;
  const std::string_view valued = command == "read" ? "adinNptu" : command == "printf" ? "v" : "dnOsuCc";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto text = words[i].text();
    all_known =
        all_known && (words[i].known() || command == "printf" || command == "getopts" || command == "wait");
    const bool option = text.size() > 1 && text[0] == '-';
    if (option && command != "getopts" && valued.find(text.back()) != std::string_view::npos) {
      const char kind = text.back();
      if (++i < words.size() && ((kind == 'a' && command == "read") || (kind == 'v' && command == "printf")))
        names.push_back(words[i].text());
    } else if (!option && (command != "printf") && (command != "getopts" || i == 1))
      names.push_back(text);
  }
  if (command == "printf" && !words.empty() && words[0].text().size() > 2 &&
      words[0].text().starts_with("-v"))
    names.push_back(words[0].text().substr(2));
  if (names.empty() && command == "read") names.emplace_back("REPLY");
  if (names.empty() && (command == "mapfile" || command == "readarray")) names.emplace_back("MAPFILE");
  return names;
}

/// True if the file prepares a shell and sets no variable that a script uses for its launches: the files of
/// environments, modules and logins.
bool prepares_shell(const std::string& file) {
  static constexpr std::array<std::string_view, 18> k_names = {
      "activate", "activate.sh", "conda.sh",     ".bashrc",    "bashrc",          ".bash_profile",
      ".profile", "profile",     "mamba.sh",     "lmod.sh",    "modules.sh",      "bash",
      "sh",       "setvars.sh",  "setup-env.sh", "mpivars.sh", "compilervars.sh", "virtualenvwrapper.sh"};
  return is_one_of(util::base_name(file), k_names) || file.find("/etc/profile") != std::string::npos;
}

/// True if the text of an `eval` cannot set variables of the script: a program whose arguments alone are
/// unknown, or the setup of an environment.
bool only_runs_program(const std::vector<ArgumentPiece>& pieces) {
  static constexpr std::array<std::string_view, 8> k_setups = {"conda",     "mamba",     "pyenv",     "hook",
                                                               "ssh-agent", "dircolors", "modulecmd", "lmod"};
  if (pieces.empty()) return true;
  std::string unknown;
  for (const auto& piece : pieces)
    if (!piece.known) unknown += piece.text;
  if (std::any_of(k_setups.begin(), k_setups.end(),
                  [&](auto setup) { return unknown.find(setup) != std::string::npos; }))
    return true;
  const auto first = pieces[0].known ? util::trim(pieces[0].text) : std::string_view();
  const auto program = first.substr(0, first.find_first_of(" \t\n"));
  return !program.empty() && program != "export" && program.find('=') == std::string_view::npos;
}

/// True if it may set any variable of the shell. `conda run` starts a program, as any other command does.
bool changes_shell(std::string_view name, std::span<const Argument> arguments) {
  static constexpr std::array<std::string_view, 10> k_names = {
      "module", "ml", "conda", "mamba", "micromamba", "spack", "activate", "deactivate", "enable", "use"};
  return is_one_of(name, k_names) && (arguments.empty() || arguments[0].text() != "run");
}

} // namespace

/// True if bash itself runs the command and nothing else has to be looked for in it.
bool BuiltinInterpreter::run_builtin(const SyntaxNode& node, const Command& command, std::size_t index) {
  static constexpr std::array<std::string_view, 5> k_declarations = {"export", "declare", "typeset", "local",
                                                                     "readonly"};
  static constexpr std::array<std::string_view, 4> k_readers = {"read", "mapfile", "readarray", "getopts"};
  const auto program = command.words[*command.program].text();
  const std::string_view name = program;
  const auto arguments = command.arguments();
  if (run_flow(name, command)) return true;
  if (is_one_of(name, k_declarations))
    run_declaration(node, command, program);
  else if (is_one_of(name, k_readers) ||
           (name == "printf" && !arguments.empty() && arguments[0].text().starts_with("-v")))
    run_reader(command, program);
  else if (name == "unset")
    run_unset(command);
  else if (name == "set")
    run_set(command);
  else if (name == "trap")
    run_trap(command, index);
  else if (name == "let") {
    for (const auto& word : arguments)
      word.known() ? walk_arithmetic(word.text(), word.place) : invalidate_state();
  } else if (name == "eval") {
    run_eval(command, index);
  } else if (name == "source" || name == ".") {
    run_source(command, index);
  } else if (changes_shell(name, arguments))
    invalidate_state();
  else
    return false;
  return true;
}

void BuiltinInterpreter::run_eval(const Command& command, std::size_t index) {
  SourceText text;
  std::vector<ArgumentPiece> pieces;
  for (const auto& word : command.arguments()) {
    pieces.insert(pieces.end(), word.pieces.begin(), word.pieces.end());
    if (!text.text.empty()) text.add(" ", {word.place.offset, 0});
    for (const auto& piece : word.pieces)
      piece.known ? text.add(piece.text, piece.place) : text.add_hole(piece.text, piece.place);
  }
  const auto arguments = command.arguments();
  const bool inexact =
      std::any_of(arguments.begin(), arguments.end(), [](const Argument& word) { return !word.known(); });
  with_settings(command, [&] { run_in_shell(text, "eval", index, inexact); });
  if (inexact) only_runs_program(pieces) ? invalidate_state() : obscure_state();
}

void BuiltinInterpreter::run_source(const Command& command, std::size_t index) {
  const auto arguments = command.arguments();
  const auto file = arguments.empty() || !arguments[0].known() ? x_state.files->end()
                                                               : x_state.files->find(arguments[0].text());
  if (file == x_state.files->end())
    arguments.empty() || prepares_shell(arguments[0].text()) ? invalidate_state() : obscure_state();
  else
    with_settings(command, [&, name = file->first, text = file->second] {
      run_in_shell(*text.text, name, index, !text.on_all_paths);
    });
}

/// exit, return, break, continue, shift.
bool BuiltinInterpreter::run_flow(std::string_view name, const Command& command) {
  const auto leave = [this](std::vector<std::vector<ShellState>*>& targets, ExitScope what) {
    if (targets.empty() || x_state.ended != ExitScope::nothing) return;
    targets.back()->push_back(x_state);
    x_state.ended = what;
  };
  if (name == "exit" || name == "logout")
    x_state.ended = ExitScope::script;
  else if (name == "return")
    leave(x_returns, ExitScope::function);
  else if (name == "break" || name == "continue") {
    const auto arguments = command.arguments();
    // `break 2` leaves more than one loop: its state goes to all of them.
    if (!arguments.empty())
      for (std::size_t i = 0; i + 1 < x_loops.size(); ++i) x_loops[i]->push_back(x_state);
    leave(x_loops, ExitScope::loop);
  } else if (name == "shift") {
    const auto arguments = command.arguments();
    const auto count = arguments.empty()      ? std::optional<unsigned long long>(1)
                       : arguments[0].known() ? util::parse_unsigned(arguments[0].text())
                                              : std::nullopt;
    auto& words = x_state.positional;
    if (!words) return true;
    const bool several =
        !count || std::any_of(words->begin(), words->end(), [](const Argument& word) { return word.many; });
    if (several)
      words.reset();
    else if (*count <= words->size())
      words->erase(words->begin(), words->begin() + static_cast<std::ptrdiff_t>(*count));
  } else
    return false;
  return true;
}

void BuiltinInterpreter::run_set(const Command& command) {
  const auto arguments = command.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto text = arguments[i].text();
    const bool option =
        arguments[i].known() && text.size() > 1 && (text[0] == '-' || text[0] == '+') && text != "--";
    if (!option) {
      const auto first =
          arguments.begin() + static_cast<std::ptrdiff_t>(i) + (text == "--" && arguments[i].known() ? 1 : 0);
      x_state.positional = std::vector<Argument>(first, arguments.end());
      return;
    }
    const auto long_name =
        text.back() == 'o' && i + 1 < arguments.size() ? arguments[++i].text() : std::string();
    const auto apply = [&](char letter, std::string_view name, bool& value) {
      if (text.find(letter) != std::string::npos || long_name == name) value = text[0] == '-';
    };
    apply('f', "noglob", x_state.no_glob);
    apply('a', "allexport", x_state.export_all);
    apply('e', "errexit", x_state.errexit);
    if (long_name == "pipefail") x_state.pipefail = text[0] == '-';
  }
}

void BuiltinInterpreter::run_unset(const Command& command) {
  bool functions = false;
  for (const auto& word : command.arguments()) {
    const auto text = word.text();
    if (text == "-f")
      functions = true;
    else if (text == "-v" || text == "-n")
      continue;
    else if (!word.known())
      invalidate_state();
    else if (functions)
      x_state.functions.edit().erase(text);
    else if (!is_name(text))
      x_state.forget(text.substr(0, text.find('[')), word.place);
    else {
      const auto* old = x_state.find(text);
      if (!old && x_state.functions.edit().erase(text) > 0) continue;
      Variable variable;
      variable.name = text;
      variable.value.kind = Value::Kind::unset;
      variable.set_at = word.place;
      if (old && (old->readonly || old->attributes || !x_state.frames.empty()))
        variable.value = {}; // a caller's variable may come to light
      x_state.set(std::move(variable));
    }
  }
}

void BuiltinInterpreter::run_reader(const Command& command, const std::string& name) {
  bool all_known = true;
  for (const auto& target : read_names(name, command.arguments(), all_known))
    x_state.forget(target.substr(0, target.find('[')), command.place, name != "getopts");
  if (!all_known) invalidate_state();
}

/// The handler may run at any time after this point.
void BuiltinInterpreter::run_trap(const Command& command, std::size_t index) {
  const auto arguments = command.arguments();
  std::size_t at = 0;
  while (at < arguments.size() &&
         (arguments[at].text() == "--" || arguments[at].text() == "-l" || arguments[at].text() == "-p"))
    ++at;
  if (at + 1 >= arguments.size() || arguments[at].text() == "-" || arguments[at].text().empty()) return;
  SourceText text;
  for (const auto& piece : arguments[at].pieces)
    piece.known ? text.add(piece.text, piece.place) : text.add_hole(piece.text, piece.place);
  const auto outer = x_context;
  const auto ended = x_state.ended, guarded = x_state.guarded;
  x_context.trap = true;
  on_both_paths([&] {
    run_in_shell(text, "trap", index, !arguments[at].known());
    x_state.ended = ended;
    x_state.guarded = guarded;
  });
  x_context = outer;
}

} // namespace hpcml::shell
