// SPDX-License-Identifier: MIT
#include "core/shell/shell_state.hpp"

#include <algorithm>

namespace hpcml::shell {

const Variable* ShellState::find(std::string_view name) const {
  const auto found = variables->find(name);
  return found == variables->end() ? nullptr : found->second.get();
}

const VariableRef& ShellState::set(Variable variable) {
  variable.changes = changes;
  auto& slot = variables.edit()[variable.name];
  if (variable.exported || (slot && slot->exported)) exports.reset();
  slot = std::make_shared<const Variable>(std::move(variable));
  return slot;
}

void ShellState::forget(const std::string& name, TextRange where, bool array) {
  const auto* old = find(name);
  Variable variable;
  if (old) variable = *old;
  variable.name = name;
  variable.value = {};
  variable.array = variable.array || array;
  variable.set_at = where;
  set(std::move(variable));
}

void ShellState::forget_all(TextRange where) {
  std::vector<std::string> names;
  for (const auto& [name, variable] : *variables) names.push_back(name);
  for (const auto& name : names) forget(name, where);
}

void ShellState::obscure_all() {
  const auto is_known = [](const Value& value) {
    return value.kind != Value::Kind::unknown &&
           std::all_of(value.words.begin(), value.words.end(), [](const Argument& word) {
             return !(word.pieces.size() == 1 && !word.pieces[0].known);
           });
  };
  for (auto& [name, slot] : variables.edit()) {
    if (slot->readonly || !is_known(slot->value)) continue;
    Variable variable = *slot;
    variable.value = {};
    if (slot->value.kind == Value::Kind::scalar) {
      const auto& old = slot->value.words[0];
      variable.value = scalar_value(unknown_argument("$" + name, old.place, false));
      if (old.known())
        variable.value.words[0].pieces[0].fallback = std::make_shared<const std::string>(old.text());
    }
    slot = std::make_shared<const Variable>(std::move(variable));
  }
  exports.reset();
}

std::shared_ptr<const Exports> ShellState::snapshot() {
  if (!exports) {
    auto list = std::make_shared<Exports>();
    for (const auto& [name, variable] : *variables)
      if (variable->exported) list->push_back(variable);
    exports = std::move(list);
  }
  return exports;
}

namespace {

/// The words that both lists begin with if one of them only has more; nothing if that is not so.
template <typename List, typename Same> const List* common_list(const List& a, const List& b, Same is_same) {
  const auto& first = a.size() <= b.size() ? a : b;
  const auto& second = a.size() <= b.size() ? b : a;
  return std::equal(first.begin(), first.end(), second.begin(), is_same) ? &first : nullptr;
}

/// As common_beginning, of two arrays.
Value common_words(const Variable& a, const Variable& b) {
  const auto* words = common_list(a.value.words, b.value.words,
                                  [](const Argument& x, const Argument& y) { return same(x, y); });
  if (!words) return {};
  Value value{Value::Kind::array, *words};
  const auto rest = "${" + a.name + "[@]}";
  if (words->empty() || words->back().unknown() != rest)
    value.words.push_back(unknown_argument(rest, a.set_at, true));
  return value;
}

/// As common_beginning, of two texts.
Value common_text(const Variable& a, const Variable& b) {
  const auto& first = a.value.words[0].pieces;
  const auto& second = b.value.words[0].pieces;
  const auto* pieces = common_list(first, second, [](const ArgumentPiece& x, const ArgumentPiece& y) {
    return x.known == y.known && x.text == y.text;
  });
  if (!pieces || pieces->empty() || !pieces->front().known) return {};
  auto value = pieces == &first ? a.value : b.value;
  const auto rest = "$" + a.name;
  if (!pieces->back().known && pieces->back().text == rest) return value;
  const auto& longer = pieces == &first ? second : first;
  if (pieces->size() == longer.size() || !longer[pieces->size()].text.starts_with(' ')) return {};
  auto& kept = value.words[0].pieces;
  kept.push_back({true, " ", a.set_at});
  kept.push_back({false, rest, a.set_at});
  return value;
}

/// What a variable holds if one path only added words at the end; unknown if that is not so. The words that
/// may follow are one unknown word.
Value common_beginning(const VariableRef& a, const VariableRef& b, bool keeps_beginnings) {
  if (!keeps_beginnings || !a || !b || a->value.kind != b->value.kind) return {};
  if (a->value.kind == Value::Kind::array) return common_words(*a, *b);
  return a->value.kind == Value::Kind::scalar ? common_text(*a, *b) : Value();
}

/// One variable on two paths; a null pointer is what came from outside.
VariableRef joined(const VariableRef& a, const VariableRef& b, bool keeps_beginnings) {
  if (a == b) return a;
  const auto& base = a ? a : b;
  Variable variable = *base;
  const bool same_value = a && b && same(a->value, b->value);
  if (!same_value) variable.value = common_beginning(a, b, keeps_beginnings);
  const bool first = a && a->exported, second = b && b->exported;
  variable.exported = first || second;
  variable.on_all_paths = first == second && (!a || a->on_all_paths) && (!b || b->on_all_paths);
  variable.readonly = (a && a->readonly) || (b && b->readonly);
  variable.array = (a && a->array) || (b && b->array);
  variable.attributes = (a && a->attributes) || (b && b->attributes);
  if (a && b) variable.changes = std::min(a->changes, b->changes);
  return std::make_shared<const Variable>(std::move(variable));
}

void join_variables(ShellState& state, const ShellState& branch) {
  if (state.variables.is_same(branch.variables)) return;
  auto& variables = state.variables.edit();
  for (auto& [name, variable] : variables) {
    const auto found = branch.variables->find(name);
    variable =
        joined(variable, found == branch.variables->end() ? nullptr : found->second, state.keeps_beginnings);
  }
  for (const auto& [name, variable] : *branch.variables)
    if (variables.find(name) == variables.end())
      variables[name] = joined(variable, nullptr, state.keeps_beginnings);
}

/// Functions or files of two paths: what is not the same on both may be or not.
template <typename Map, typename Same>
void join_maps(CopyOnWrite<Map>& map, const CopyOnWrite<Map>& branch, Same is_same) {
  if (map.is_same(branch)) return;
  auto& all = map.edit();
  for (auto& [name, value] : all) {
    const auto found = branch->find(name);
    if (found == branch->end() || !is_same(found->second, value)) value.on_all_paths = false;
  }
  for (const auto& [name, value] : *branch)
    if (const auto [added, is_new] = all.emplace(name, value); is_new) added->second.on_all_paths = false;
}

void join_options(ShellState& state, const ShellState& branch) {
  state.no_glob = state.no_glob && branch.no_glob;
  state.export_all = state.export_all && branch.export_all;
  state.errexit = state.errexit && branch.errexit;
  state.pipefail = state.pipefail && branch.pipefail;
}

} // namespace

void join(ShellState& state, const ShellState& branch) {
  const bool over = state.ended != ExitScope::nothing, other_over = branch.ended != ExitScope::nothing;
  auto guarded = std::max(state.guarded, branch.guarded);
  if (over != other_over) guarded = std::max({guarded, state.ended, branch.ended});
  if (over && other_over)
    state.ended = std::min(state.ended, branch.ended);
  else if (over)
    state = branch;
  state.guarded = guarded;
  if (over || other_over) return;
  join_variables(state, branch);
  join_maps(state.functions, branch.functions,
            [](const FunctionState& a, const FunctionState& b) { return a.body == b.body; });
  join_maps(state.files, branch.files,
            [](const HereDocumentFile& a, const HereDocumentFile& b) { return a.text == b.text; });
  // What only one path made local is restored to something unknown.
  for (std::size_t i = 0; i < state.frames.size() && i < branch.frames.size(); ++i) {
    const auto unknown = [](const std::string& name) {
      Variable variable;
      variable.name = name;
      return std::make_shared<const Variable>(std::move(variable));
    };
    for (auto& [name, hidden] : state.frames[i])
      if (branch.frames[i].count(name) == 0) hidden = unknown(name);
    for (const auto& [name, hidden] : branch.frames[i])
      if (state.frames[i].count(name) == 0) state.frames[i][name] = unknown(name);
  }
  const auto equal = [](const Argument& a, const Argument& b) { return same(a, b); };
  if (!state.positional || !branch.positional ||
      !std::equal(state.positional->begin(), state.positional->end(), branch.positional->begin(),
                  branch.positional->end(), equal))
    state.positional.reset();
  join_options(state, branch);
  state.changes = std::max(state.changes, branch.changes);
  state.exports.reset();
}

bool same(const ShellState& a, const ShellState& b) {
  const auto equal = [](const auto& x, const auto& y) {
    return x.first == y.first && (x.second == y.second || (same(x.second->value, y.second->value) &&
                                                           x.second->exported == y.second->exported &&
                                                           x.second->on_all_paths == y.second->on_all_paths &&
                                                           x.second->attributes == y.second->attributes));
  };
  return a.ended == b.ended && a.positional.has_value() == b.positional.has_value() &&
         a.functions->size() == b.functions->size() && a.files->size() == b.files->size() &&
         (a.variables.is_same(b.variables) || std::equal(a.variables->begin(), a.variables->end(),
                                                         b.variables->begin(), b.variables->end(), equal));
}

} // namespace hpcml::shell
