// SPDX-License-Identifier: MIT
#include "core/shell/nested_interpreter.hpp"

#include <algorithm>
#include <array>

#include "core/shell/parse_program.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::shell {

namespace {

bool is_shell(const Argument& word) {
  static constexpr std::array<std::string_view, 3> k_shells = {"bash", "sh", "dash"};
  if (word.pieces.empty() || word.pieces.back().text.empty() || word.pieces.back().text.back() != 'h' ||
      !word.known())
    return false;
  const auto text = word.text();
  return is_one_of(util::base_name(text), k_shells);
}

/// Words of these are data, never a program that runs.
bool only_reads(const std::string& name) {
  static constexpr std::array<std::string_view, 30> k_names = {
      "echo",  "printf", "grep", "egrep", "cat", "ls", "chmod", "chown",   "test",  "[",
      "head",  "tail",   "sed",  "awk",   "cp",  "mv", "rm",    "tee",     "which", "type",
      "mkdir", "touch",  "ln",   "diff",  "cmp", "wc", "tar",   "command", "alias", "rsync"};
  return is_one_of(name, k_names);
}

std::string file_key(const std::string& name) { return name.starts_with("./") ? name.substr(2) : name; }

std::string file_key(const Argument& word) { return word.known() ? file_key(word.text()) : std::string(); }

void add_pieces(SourceText& text, const Argument& word) {
  for (const auto& piece : word.pieces)
    piece.known ? text.add(piece.text, piece.place) : text.add_hole(piece.text, piece.place);
}

/// The text that comes in by a here-document or here-string; nothing if it is another input.
const Argument* input_text(const Command& command) {
  const Argument* text = nullptr;
  for (const auto& redirect : command.redirects) {
    if (redirect.op == "<<" || redirect.op == "<<-" || redirect.op == "<<<")
      text = &redirect.target;
    else if (redirect.op == "<")
      text = nullptr;
  }
  return text;
}

/// The text of `sbatch --wrap=TEXT`, which becomes a script; nothing if there is none.
std::optional<Argument> wrapped_text(const Command& command) {
  constexpr std::string_view k_option = "--wrap";
  const auto words = command.arguments();
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto head = words[i].prefix();
    if (head == k_option && words[i].known() && i + 1 < words.size()) return words[i + 1];
    auto text = words[i];
    if (!head.starts_with("--wrap=") || text.pieces[0].text.size() < k_option.size() + 1) continue;
    text.pieces[0].text.erase(0, k_option.size() + 1);
    text.pieces[0].place.offset += k_option.size() + 1;
    return text;
  }
  return std::nullopt;
}

} // namespace

/// Remembers scripts that here-documents write, and forgets those that something else may have changed.
void NestedInterpreter::note_files(const Command& command) {
  if (command.redirects.empty() && x_state.files->empty()) return;
  const auto name = command.name().value_or("");
  const bool copies = name == "cat" || name == "tee";
  const auto* text = copies ? input_text(command) : nullptr;
  std::string target;
  bool append = false;
  for (const auto& redirect : command.redirects)
    if ((redirect.op == ">" || redirect.op == ">>" || redirect.op == ">|") &&
        (redirect.fd.empty() || redirect.fd == "1")) {
      target = file_key(redirect.target);
      append = redirect.op == ">>";
      if (target.empty() && !redirect.target.known())
        target = redirect.target.text(); // the same expansion names the same file
    }
  const auto arguments = command.arguments();
  if (name == "tee" && text)
    for (const auto& word : arguments) {
      if (word.text() == "-a")
        append = true;
      else
        target = file_key(word);
    }
  const bool plain_cat =
      name != "cat" || arguments.empty() || (arguments.size() == 1 && arguments[0].text() == "-");
  if (!target.empty() && text && plain_cat) {
    auto source = std::make_shared<SourceText>();
    if (append) {
      const auto old = x_state.files->find(target);
      if (old == x_state.files->end()) return;
      *source = *old->second.text;
      if (source->text.size() > 1'000'000 || !use_budget(source->text.size())) return;
    }
    add_pieces(*source, *text);
    x_state.files.edit()[target] = {std::move(source), true};
    return;
  }
  if (!target.empty() && x_state.files->count(target) > 0) x_state.files.edit().erase(target);
  static constexpr std::array<std::string_view, 7> k_changes = {"sed", "perl",     "mv",   "cp",
                                                                "rm",  "envsubst", "patch"};
  if (!x_state.files->empty() && is_one_of(name, k_changes))
    for (const auto& word : arguments) x_state.files.edit().erase(file_key(word));
}

/// Looks for a script among the words: `bash -c '…'`, a file that was written before, a here-document for a
/// shell.
void NestedInterpreter::walk_nested(const Command& command, std::size_t index) {
  const auto name = command.name().value_or("");
  if (only_reads(name)) return;
  for (auto i = *command.program; i < command.words.size(); ++i)
    if (is_shell(command.words[i]) && walk_shell(command, index, i)) return;
  for (auto i = *command.program; i < command.words.size() && !x_state.files->empty(); ++i) {
    auto found = x_state.files->find(file_key(command.words[i]));
    if (found == x_state.files->end()) found = x_state.files->find(command.words[i].text());
    if (found == x_state.files->end()) continue;
    // `python train.py` after `cat > train.py <<EOF`: not a shell's.
    const bool shell =
        found->second.text->text.starts_with("#!")
            ? found->second.text->text.substr(0, found->second.text->text.find('\n')).find("sh") !=
                  std::string::npos
            : found->first.ends_with(".sh") || found->first.ends_with(".sbatch") ||
                  found->first.ends_with(".slurm");
    if (!shell) continue;
    std::vector<Argument> rest(command.words.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                               command.words.end());
    const auto file = found->second;
    const auto label = found->first;
    run_text(*file.text, label, index, [&] {
      enter_process(command, i == *command.program, std::move(rest));
      x_context.inexact = x_context.inexact || !file.on_all_paths;
    });
    return;
  }
  walk_submitted(command, index, name);
}

/// Looks for the text of a job, or of a remote shell: `sbatch --wrap=TEXT`, a here-document.
void NestedInterpreter::walk_submitted(const Command& command, std::size_t index, const std::string& name) {
  if (name == "sbatch")
    if (const auto wrapped = wrapped_text(command)) {
      SourceText source;
      add_pieces(source, *wrapped);
      return run_text(source, "sbatch --wrap", index, [&] { enter_process(command, false, {}); });
    }
  static constexpr std::array<std::string_view, 2> k_takers = {"sbatch", "ssh"};
  const auto* text = input_text(command);
  if (!text || !is_one_of(name, k_takers)) return;
  SourceText source;
  add_pieces(source, *text);
  run_text(source, "here-document", index, [&] { enter_process(command, false, {}); });
}

/// Follows what the shell words[shell] runs. Returns false if that is not visible.
bool NestedInterpreter::walk_shell(const Command& command, std::size_t index, std::size_t shell) {
  const auto& words = command.words;
  bool takes_text = false;
  auto at = shell + 1;
  for (; at < words.size() && words[at].known(); ++at) {
    const auto option = words[at].text();
    if (option.size() < 2 || (option[0] != '-' && option[0] != '+')) break;
    if (option == "--") {
      ++at;
      break;
    }
    if (option[1] != '-' && option.find('c') != std::string::npos) takes_text = true;
    if (option == "-o" || option == "+o" || option == "-O" || option == "+O" || option == "--rcfile" ||
        option == "--init-file")
      ++at;
  }
  const bool direct = shell == *command.program;
  // After an option the word may be that option's value: `srun -J bash`.
  const auto before = direct ? std::string() : words[shell - 1].text();
  const bool guess =
      !direct && before.size() > 1 && before[0] == '-' && before.find('=') == std::string::npos;
  SourceText text;
  std::string how = "bash -c";
  std::vector<Argument> rest;
  bool inexact = guess;
  if (takes_text) {
    if (at >= words.size()) return false;
    add_pieces(text, words[at]);
    inexact = inexact || !words[at].known();
    if (at + 2 < words.size()) rest.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 2, words.end());
  } else if (at < words.size() && words[at].text() != "-") {
    auto found = x_state.files->find(file_key(words[at]));
    if (found == x_state.files->end()) found = x_state.files->find(words[at].text());
    if (found == x_state.files->end()) return direct;
    text = *found->second.text;
    how = found->first;
    inexact = inexact || !found->second.on_all_paths;
    rest.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
  } else {
    const auto* input = input_text(command);
    if (!input) return direct;
    add_pieces(text, *input);
    how = "here-document";
    inexact = inexact || !input->known();
  }
  run_text(text, how, index, [&] {
    enter_process(command, direct, std::move(rest));
    x_context.inexact = x_context.inexact || inexact;
  });
  return true;
}

/// What a new shell knows: the exported variables and functions.
void NestedInterpreter::enter_process(const Command& command, bool direct, std::vector<Argument> positional) {
  ShellState inner;
  inner.keeps_beginnings = x_state.keeps_beginnings;
  inner.changes = x_state.changes + (direct ? 0 : 1); // the program in between may change the environment
  for (const auto& [name, variable] : *x_state.variables) {
    if (variable->value.kind == Value::Kind::unset && !variable->exported) {
      inner.variables.edit()[name] = variable;
      continue;
    }
    const bool kept = variable->exported && variable->on_all_paths &&
                      variable->value.kind == Value::Kind::scalar && name != "IFS" && name != "PS4";
    if (kept)
      inner.variables.edit()[name] = variable;
    else if (variable->exported) {
      auto unknown = *variable;
      unknown.value = {};
      inner.variables.edit()[name] = std::make_shared<const Variable>(std::move(unknown));
    }
  }
  for (const auto& setting : command.own) {
    Variable variable;
    variable.name = setting.name;
    variable.value = scalar_value(setting.value);
    variable.exported = true;
    variable.set_at = setting.value.place;
    const bool last = direct;
    inner.set(std::move(variable));
    if (!last) {
      auto stale = *inner.variables->at(setting.name);
      stale.changes = 0;
      inner.variables.edit()[setting.name] = std::make_shared<const Variable>(std::move(stale));
    }
  }
  for (const auto& [name, function] : *x_state.functions)
    if (function.exported) inner.functions.edit()[name] = function;
  inner.files = x_state.files;
  inner.positional = std::move(positional);
  inner.ended = x_state.ended;
  x_state = std::move(inner);
  x_context.function.clear();
  x_context.subshell = x_context.pipeline = x_context.background = false;
}

/// Reads and follows a text that runs as its own process.
void NestedInterpreter::run_text(const SourceText& text, const std::string& how, std::size_t parent,
                                 const std::function<void()>& prepare) {
  const auto outer = x_context;
  auto state = x_state;
  std::vector<ShellState> lost;
  x_loops.push_back(&lost);
  x_returns.push_back(&lost);
  prepare();
  run_in_shell(text, how, parent, false);
  x_loops.pop_back();
  x_returns.pop_back();
  state.files = std::move(x_state.files);
  x_state = std::move(state);
  x_context = outer;
}

/// Reads and follows a text in the shell that is running.
void NestedInterpreter::run_in_shell(const SourceText& text, const std::string& how, std::size_t parent,
                                     bool inexact) {
  constexpr int k_deepest_text = 60;
  if (x_depth > k_deepest_text || !use_budget(8 * text.text.size() + 64)) {
    x_listing.complete = false;
    return invalidate_state();
  }
  auto script = std::make_unique<Script>();
  script->source = text;
  if (!script->source.places.empty() && script->source.places.size() == text.text.size())
    script->source.places.push_back(script->source.places.back() + 1);
  script->program = parse_program(script->source);
  const auto outer = x_context;
  const auto outer_parent = x_parent;
  x_context.script = how;
  x_context.inexact = x_context.inexact || inexact || !text.holes.empty();
  x_parent = x_quiet > 0 ? outer_parent : std::optional(parent);
  x_depth += 5;
  x_scripts.push_back(std::move(script));
  walk(x_scripts.back()->program);
  x_depth -= 5;
  x_context = outer;
  x_parent = outer_parent;
}

} // namespace hpcml::shell
