// SPDX-License-Identifier: MIT
#include "shell/walker.hpp"

#include <algorithm>
#include <array>

#include "shell/names.hpp"
#include "util/text.hpp"

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
      util::starts_with(words[0].text(), "-v"))
    names.push_back(words[0].text().substr(2));
  if (names.empty() && command == "read") names.emplace_back("REPLY");
  if (names.empty() && (command == "mapfile" || command == "readarray")) names.emplace_back("MAPFILE");
  return names;
}

} // namespace

/// True if bash itself runs the command and nothing else has to be looked for in it.
bool Walker::run_builtin(const Node& node, const Command& command, std::size_t index) {
  static constexpr std::array<std::string_view, 5> k_declarations = {"export", "declare", "typeset", "local",
                                                                     "readonly"};
  static constexpr std::array<std::string_view, 4> k_readers = {"read", "mapfile", "readarray", "getopts"};
  static constexpr std::array<std::string_view, 10> k_unseen = {
      "module", "ml", "conda", "mamba", "micromamba", "spack", "activate", "deactivate", "enable", "use"};
  const auto name = command.words[*command.program].text();
  const auto arguments = command.arguments();
  if (run_flow(name, command)) return true;
  if (is_one_of(name, k_declarations))
    run_declaration(node, command, name);
  else if (is_one_of(name, k_readers) ||
           (name == "printf" && !arguments.empty() && util::starts_with(arguments[0].text(), "-v")))
    run_reader(command, name);
  else if (name == "unset")
    run_unset(command);
  else if (name == "set")
    run_set(command);
  else if (name == "trap")
    run_trap(command, index);
  else if (name == "let") {
    for (const auto& word : arguments) word.known() ? walk_arithmetic(word.text(), word.place) : opaque();
  } else if (name == "eval") {
    Source text;
    bool inexact = false;
    for (const auto& word : arguments) {
      if (!text.text.empty()) text.add(" ", {word.place.offset, 0});
      for (const auto& piece : word.pieces)
        piece.known ? text.add(piece.text, piece.place) : text.add_hole(piece.text, piece.place);
      inexact = inexact || !word.known();
    }
    with_settings(command, [&] { run_here(text, "eval", index, inexact); });
    if (inexact) opaque();
  } else if (name == "source" || name == ".") {
    const auto file = arguments.empty() || !arguments[0].known() ? x_state.files->end()
                                                                 : x_state.files->find(arguments[0].text());
    if (file == x_state.files->end())
      opaque();
    else
      with_settings(command, [&, name = file->first, text = file->second] {
        run_here(*text.text, name, index, !text.on_all_paths);
      });
  } else if (is_one_of(name, k_unseen))
    opaque();
  else
    return false;
  return true;
}

/// exit, return, break, continue, shift.
bool Walker::run_flow(const std::string& name, const Command& command) {
  const auto leave = [this](std::vector<std::vector<State>*>& targets, Leaves what) {
    if (targets.empty() || x_state.ended != Leaves::nothing) return;
    targets.back()->push_back(x_state);
    x_state.ended = what;
  };
  if (name == "exit" || name == "logout")
    x_state.ended = Leaves::script;
  else if (name == "return")
    leave(x_returns, Leaves::function);
  else if (name == "break" || name == "continue") {
    const auto arguments = command.arguments();
    // `break 2` leaves more than one loop: its state goes to all of them.
    if (!arguments.empty())
      for (std::size_t i = 0; i + 1 < x_loops.size(); ++i) x_loops[i]->push_back(x_state);
    leave(x_loops, Leaves::loop);
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

void Walker::run_declaration(const Node& node, const Command& command, const std::string& name) {
  std::string flags = name == "export" ? "x" : name == "readonly" ? "r" : "";
  std::string removed;
  const bool local = !x_state.frames.empty() && (name == "local" || name == "declare" || name == "typeset");
  std::vector<Argument> plain;
  const auto arguments = command.arguments();
  for (std::size_t i = 0; i + node.declared.size() < arguments.size(); ++i) {
    const auto text = arguments[i].text();
    if (arguments[i].known() && text.size() > 1 && (text[0] == '-' || text[0] == '+'))
      (text[0] == '-' ? flags : removed) += text.substr(1);
    else
      plain.push_back(arguments[i]);
  }
  const bool here = local && flags.find('g') == std::string::npos;
  if (flags.find('f') != std::string::npos || flags.find('F') != std::string::npos) {
    for (const auto& word : plain)
      if (const auto name_of = word.text();
          x_state.functions->count(name_of) > 0 && flags.find('x') != std::string::npos)
        x_state.functions.edit()[name_of].exported = true;
    return;
  }
  if (name == "export" && flags.find('n') != std::string::npos) flags = "-";
  if (flags.find('p') != std::string::npos) return;
  for (const auto& word : plain) {
    const auto prefix = word.prefix();
    const auto equals = prefix.find('=');
    const bool append = equals != std::string::npos && equals > 0 && prefix[equals - 1] == '+';
    const auto target = prefix.substr(0, equals == std::string::npos ? equals : equals - (append ? 1 : 0));
    if (!is_name(target) || (equals == std::string::npos && !word.known())) {
      opaque();
      continue;
    }
    if (equals == std::string::npos) {
      declare(target, std::nullopt, flags, here, false, word.place);
      continue;
    }
    auto value = word;
    const bool whole = !value.many && value.pieces.front().text.size() > equals;
    if (whole)
      value.pieces.front().text.erase(0, equals + 1);
    else
      value = unknown_argument(word.text().substr(equals + 1), word.place, false);
    declare(target, scalar_value(std::move(value)), flags, here, append, word.place);
  }
  auto values = std::move(x_declared);
  for (std::size_t i = 0; i < node.declared.size() && i < values.size(); ++i) {
    const auto& assignment = node.declared[i];
    declare(assignment.name, std::move(values[i]), flags, here, assignment.append, assignment.place);
  }
}

void Walker::declare(const std::string& name, std::optional<Value> value, const std::string& flags,
                     bool local, bool append, Place place) {
  if (local) {
    make_local(name);
    if (const auto* outer = x_state.find(name)) { // a new variable: only `exported` is inherited
      Variable fresh;
      fresh.name = name;
      fresh.value.kind = Value::Kind::unset;
      fresh.exported = outer->exported;
      fresh.on_all_paths = outer->on_all_paths;
      fresh.set_at = place;
      x_state.set(std::move(fresh));
    }
    if (!value)
      value =
          Value{flags.find_first_of("aA") == std::string::npos ? Value::Kind::unset : Value::Kind::array, {}};
  }
  if (value) set_value(name, std::move(*value), append, place);
  Variable variable;
  if (const auto* old = x_state.find(name)) variable = *old;
  const auto changes = variable.changes;
  const bool known = x_state.find(name) != nullptr;
  variable.name = name;
  if (flags == "-")
    variable.exported = false;
  else if (flags.find('x') != std::string::npos)
    variable.exported = variable.on_all_paths = true;
  variable.array = variable.array || flags.find_first_of("aA") != std::string::npos;
  variable.readonly = variable.readonly || flags.find('r') != std::string::npos;
  variable.attributes = variable.attributes || flags.find_first_of("ilucnA") != std::string::npos;
  if (variable.attributes) variable.value = {};
  if (!known || flags == "-" || flags.find('x') != std::string::npos) variable.set_at = place;
  x_state.set(variable);
  if (known && !value && changes != x_state.changes) { // only its attributes are new
    variable.changes = changes;
    x_state.variables.edit()[name] = std::make_shared<const Variable>(std::move(variable));
  }
}

void Walker::make_local(const std::string& name) {
  const auto old = x_state.variables->find(name);
  x_state.frames.back().emplace(name, old == x_state.variables->end() ? nullptr : old->second);
}

Value Walker::value_of(const Assignment& assignment) {
  if (!assignment.array) return scalar_value(expand_single(assignment.value));
  Value value{Value::Kind::array, {}};
  bool indexed = false;
  for (const auto& element : assignment.elements) {
    indexed = indexed || (!element.parts.empty() && element.parts[0].kind == Part::Kind::literal &&
                          !element.parts[0].quoted && util::starts_with(element.parts[0].text, "["));
    expand(element, value.words);
  }
  if (indexed) value = {};
  return value;
}

void Walker::assign(const Assignment& assignment) {
  if (!assignment.subscript.empty()) return set_element(assignment);
  set_value(assignment.name, value_of(assignment), assignment.append, assignment.place);
}

void Walker::set_element(const Assignment& assignment) {
  auto word = expand_single(assignment.value);
  const auto index = util::parse_unsigned(assignment.subscript);
  const auto* old = x_state.find(assignment.name);
  if (!old || !index || assignment.append || old->value.kind != Value::Kind::array ||
      *index > old->value.words.size() ||
      std::any_of(old->value.words.begin(), old->value.words.end(),
                  [](const Argument& one) { return one.many; }))
    return x_state.forget(assignment.name, assignment.place, true);
  auto value = old->value;
  if (*index == value.words.size())
    value.words.push_back(std::move(word));
  else
    value.words[*index] = std::move(word);
  set_value(assignment.name, std::move(value), false, assignment.place);
}

void Walker::set_value(const std::string& name, Value value, bool append, Place place) {
  Variable variable;
  const auto* old = x_state.find(name);
  const bool known = old != nullptr;
  if (known) variable = *old;
  const bool stale = known && old->changes < x_state.changes;
  variable.name = name;
  variable.set_at = place;
  if (x_state.export_all) variable.exported = variable.on_all_paths = true;
  if (append) {
    auto base = known ? variable.value : Value();
    if (base.kind == Value::Kind::unset)
      base = {value.kind,
              value.kind == Value::Kind::scalar ? std::vector{Argument()} : std::vector<Argument>()};
    const bool array = value.kind == Value::Kind::array;
    if (base.kind == Value::Kind::unknown)
      base = array ? Value{Value::Kind::array, {unknown_argument("${" + name + "[@]}", place, true)}}
                   : scalar_value(unknown_argument("$" + name, place, false));
    if (base.kind == Value::Kind::scalar && array) base.kind = Value::Kind::array;
    if (stale)
      for (auto& word : base.words) word.caveat = true;
    variable.array = variable.array || array;
    if (array)
      std::move(value.words.begin(), value.words.end(), std::back_inserter(base.words));
    else if (base.kind == Value::Kind::scalar && value.kind == Value::Kind::scalar && !variable.array) {
      auto& word = base.words[0];
      word.caveat = word.caveat || value.words[0].caveat;
      std::move(value.words[0].pieces.begin(), value.words[0].pieces.end(), std::back_inserter(word.pieces));
    } else
      base = {};
    value = std::move(base);
  } else if (variable.array && value.kind == Value::Kind::scalar)
    value = {}; // sets the first element only
  variable.array = variable.array || value.kind == Value::Kind::array;
  std::size_t size = value.words.size();
  for (const auto& word : value.words) size += word.text().size();
  constexpr std::size_t k_longest = 65536;
  if (variable.readonly || variable.attributes || size > k_longest || !spend(size)) value = {};
  variable.value = std::move(value);
  x_state.set(std::move(variable));
}

void Walker::run_set(const Command& command) {
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
    if (text.find('f') != std::string::npos) x_state.no_glob = text[0] == '-';
    if (text.find('a') != std::string::npos) x_state.export_all = text[0] == '-';
    if (text.back() == 'o' && ++i < arguments.size() && arguments[i].text() == "allexport")
      x_state.export_all = text[0] == '-';
  }
}

void Walker::run_unset(const Command& command) {
  bool functions = false;
  for (const auto& word : command.arguments()) {
    const auto text = word.text();
    if (text == "-f")
      functions = true;
    else if (text == "-v" || text == "-n")
      continue;
    else if (!word.known())
      opaque();
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

void Walker::run_reader(const Command& command, const std::string& name) {
  bool all_known = true;
  for (const auto& target : read_names(name, command.arguments(), all_known))
    x_state.forget(target.substr(0, target.find('[')), command.place, name != "getopts");
  if (!all_known) opaque();
}

/// The handler may run at any time behind this point.
void Walker::run_trap(const Command& command, std::size_t index) {
  const auto arguments = command.arguments();
  std::size_t at = 0;
  while (at < arguments.size() &&
         (arguments[at].text() == "--" || arguments[at].text() == "-l" || arguments[at].text() == "-p"))
    ++at;
  if (at + 1 >= arguments.size() || arguments[at].text() == "-" || arguments[at].text().empty()) return;
  Source text;
  for (const auto& piece : arguments[at].pieces)
    piece.known ? text.add(piece.text, piece.place) : text.add_hole(piece.text, piece.place);
  const auto outer = x_context;
  const auto ended = x_state.ended, guarded = x_state.guarded;
  x_context.trap = true;
  maybe([&] {
    run_here(text, "trap", index, !arguments[at].known());
    x_state.ended = ended;
    x_state.guarded = guarded;
  });
  x_context = outer;
}

} // namespace hpcml::shell
