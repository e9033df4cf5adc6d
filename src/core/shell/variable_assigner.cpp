// SPDX-License-Identifier: MIT
#include "core/shell/variable_assigner.hpp"

#include <algorithm>
#include <array>

#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::shell {

void VariableAssigner::run_declaration(const SyntaxNode& node, const Command& command,
                                       const std::string& name) {
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
  const bool is_local = local && flags.find('g') == std::string::npos;
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
      obscure_state();
      continue;
    }
    if (equals == std::string::npos) {
      declare(target, std::nullopt, flags, is_local, false, word.place);
      continue;
    }
    auto value = word;
    const bool whole = !value.many && value.pieces.front().text.size() > equals;
    if (whole)
      value.pieces.front().text.erase(0, equals + 1);
    else
      value = unknown_argument(word.text().substr(equals + 1), word.place, false);
    declare(target, scalar_value(std::move(value)), flags, is_local, append, word.place);
  }
  auto values = std::move(x_declared);
  for (std::size_t i = 0; i < node.declared.size() && i < values.size(); ++i) {
    const auto& assignment = node.declared[i];
    declare(assignment.name, std::move(values[i]), flags, is_local, assignment.append, assignment.place);
  }
}

void VariableAssigner::declare(const std::string& name, std::optional<Value> value, const std::string& flags,
                               bool local, bool append, TextRange place) {
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
  x_latest = x_state.set(variable);
  if (known && !value && changes != x_state.changes) { // only its attributes are new
    variable.changes = changes;
    x_state.variables.edit()[name] = std::make_shared<const Variable>(std::move(variable));
  }
  note_setting(value.has_value());
}

void VariableAssigner::make_local(const std::string& name) {
  const auto old = x_state.variables->find(name);
  x_state.frames.back().emplace(name, old == x_state.variables->end() ? nullptr : old->second);
}

Value VariableAssigner::value_of(const Assignment& assignment) {
  if (!assignment.array) return scalar_value(expand_single(assignment.value));
  Value value{Value::Kind::array, {}};
  bool indexed = false;
  for (const auto& element : assignment.elements) {
    indexed = indexed || (!element.parts.empty() && element.parts[0].kind == WordPart::Kind::literal &&
                          !element.parts[0].quoted && element.parts[0].text.starts_with("["));
    expand(element, value.words);
  }
  if (indexed) value = {};
  return value;
}

void VariableAssigner::assign(const Assignment& assignment) {
  if (!assignment.subscript.empty()) return set_element(assignment);
  set_value(assignment.name, value_of(assignment), assignment.append, assignment.place);
  note_setting();
}

void VariableAssigner::set_element(const Assignment& assignment) {
  auto word = expand_single(assignment.value);
  const auto index = util::parse_unsigned(assignment.subscript);
  const auto* old = x_state.find(assignment.name);
  if (!old || !index || assignment.append || old->value.kind != Value::Kind::array ||
      *index > old->value.words.size() ||
      std::any_of(old->value.words.begin(), old->value.words.end(),
                  [](const Argument& element) { return element.many; }))
    return x_state.forget(assignment.name, assignment.place, true);
  auto value = old->value;
  if (*index == value.words.size())
    value.words.push_back(std::move(word));
  else
    value.words[*index] = std::move(word);
  set_value(assignment.name, std::move(value), false, assignment.place);
}

void VariableAssigner::set_value(const std::string& name, Value value, bool append, TextRange place) {
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
  constexpr std::size_t k_longest_value = 65536;
  if (variable.readonly || variable.attributes || size > k_longest_value || !use_budget(size)) value = {};
  variable.value = std::move(value);
  x_latest = x_state.set(std::move(variable));
}

/// Keeps the assignment for the listing.
void VariableAssigner::note_setting(bool has_value) {
  if (has_value && x_quiet == 0 && x_context.script.empty() && x_latest->value.kind != Value::Kind::unset)
    x_listing.settings.push_back(x_latest);
}

} // namespace hpcml::shell
