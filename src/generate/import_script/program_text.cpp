// SPDX-License-Identifier: MIT
// The words of a program after its starter, as bash text for the new script.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <unordered_map>

#include "check/launch_facts.hpp"
#include "core/model/launcher.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/import_state.hpp"
#include "generate/import_script/program_text.hpp"
#include "generate/import_script/quoted_word.hpp"
#include "generate/import_script/startup_files.hpp"
#include "generate/import_script/unknown_words.hpp"

namespace hpcml::import_script {
namespace {

using check::Launch;
using check::Link;
using model::OptionMeaning;
using shell::Argument;

bool is_starter(const Link& link) {
  return link.role != check::Role::other || model::find_launcher(link.program) || link.program == "numactl";
}

/// Returns the place after the link's last word, so that settings before the next program (`env X=1 python`)
/// belong to the program.
std::size_t end_of_words(const Link& link) {
  auto end = end_of(link.place);
  for (const auto& option : link.options) end = std::max(end, end_of(option.place));
  for (const auto& operand : link.operands) end = std::max(end, end_of(operand.place));
  return end;
}

/// Whether the link is written in the command itself, not in a text that it starts.
bool holds(const shell::Command& command, const Link& link) {
  return std::any_of(command.words.begin(), command.words.end(),
                     [&](const Argument& word) { return word.place.offset == link.place.offset; });
}

/// Returns the link's program among the words. One variable may contain several links: they are known by
/// name.
auto find_word(const std::vector<Argument>& words, const Link& link,
               std::vector<Argument>::const_iterator from) {
  const auto is_there = [&](const Argument& word) { return word.place.offset == link.place.offset; };
  const auto named = std::find_if(from, words.end(), [&](const Argument& word) {
    const std::string_view name = link.module.empty() ? std::string_view(link.program) : "python";
    return is_there(word) && util::base_name(word.text()).starts_with(name);
  });
  return named == words.end() ? std::find_if(from, words.end(), is_there) : named;
}

/// Returns the words after a link and before the next one, which belong to neither.
std::vector<Argument> words_between(const shell::Command& command, const Link& link, const Link& next) {
  std::vector<Argument> words;
  for (const auto& word : command.words)
    if (word.place.offset >= end_of_words(link) && end_of(word.place) <= next.place.offset)
      words.push_back(word);
  return words;
}

/// Returns the command's words after the starter: its program and arguments.
std::vector<Argument> words_behind(std::string_view script, const shell::Command& command,
                                   const Link& starter, const Link& program) {
  // numactl binds, and so does the new launch; other prefixes are the program's.
  const bool bound = runs_numactl(command);
  const auto end = bound ? std::string::npos : end_of_words(starter);
  const auto first = std::find_if(command.words.begin(), command.words.end(), [&](const Argument& word) {
    if (word.place.offset != program.place.offset)
      return word.place.offset >= end && word.place.offset < program.place.offset &&
             !is_unknown_option(script, starter, word);
    // One variable may also contain the starter.
    const auto text = word.text();
    const auto slash = text.rfind('/');
    return text.substr(slash == std::string::npos ? 0 : slash + 1).starts_with(program.program) ||
           !program.module.empty();
  });
  return {first, command.words.end()};
}

/// Returns the Python that an agent runs scripts with: the one in its directory. `pip install --user` writes
/// agents to ~/.local/bin, where no Python is.
std::string interpreter_of(const Launch& launch, const Link& agent) {
  const auto& words = launch.command->words;
  const auto word = std::find_if(words.begin(), words.end(), [&](const Argument& argument) {
    return argument.place.offset == agent.place.offset;
  });
  if (word == words.end() || !word->program() || word->place.length == 0) return "python";
  auto text = word->text();
  const auto slash = text.rfind('/');
  if (!agent.module.empty() &&
      text.find("python", slash == std::string::npos ? 0 : slash) != std::string::npos)
    return text;
  const auto directory = text.substr(0, slash + 1); // npos + 1 is 0
  return directory.ends_with("/.local/bin/") ? "python" : directory + "python";
}

/// Whether the text for another shell does more than start this one command, and whether that may be done by
/// every rank.
struct Siblings {
  bool any = false;
  std::string heavy; ///< the first that must not run once per rank
};

Siblings siblings_of(const Launch& launch, const shell::ScriptCommands& listing) {
  static constexpr std::array<std::string_view, 17> k_light = {
      ".",     "cd",       "conda", "date", "declare", "echo",   "export", "hostname", "module",
      "nproc", "printenv", "pwd",   "set",  "source",  "ulimit", "unset",  "true"};
  Siblings result;
  for (const auto& command : listing.commands) {
    if (&command == launch.command || command.parent != launch.command->parent ||
        command.context.substitution)
      continue;
    result.any = true;
    const auto name = command.name();
    if (result.heavy.empty() && name && !name->empty() &&
        std::find(k_light.begin(), k_light.end(), std::string_view(*name)) == k_light.end())
      result.heavy = *name;
  }
  if (!launch.command->own.empty() || !launch.command->redirects.empty()) result.any = true;
  for (const auto& redirect : launch.command->redirects)
    if (result.heavy.empty() && redirect.op == ">" && redirect.target.text() != "/dev/null")
      result.heavy = "> " + redirect.target.text();
  return result;
}

/// Returns the first variable of a rank that the text of a shell sets: its agent sets others for the ranks.
std::string find_rank_setting(std::string_view text) {
  static constexpr std::array<std::string_view, 5> k_names = {"RANK", "LOCAL_RANK", "WORLD_SIZE",
                                                              "MASTER_ADDR", "MASTER_PORT"};
  for (const auto name : k_names)
    for (auto at = shell::find_name(text, name); at != std::string_view::npos;
         at = shell::find_name(text, name, at + 1))
      if (text.substr(at + name.size(), 1) == "=") return std::string(name);
  return {};
}

bool passes_local_rank_option(const Link& agent) {
  const auto* launcher = model::find_launcher(agent.program);
  if (!launcher || agent.find(OptionMeaning::local_rank)) return false;
  return launcher->passes_local_rank ||
         (!launcher->local_rank_module.empty() && agent.module == launcher->local_rank_module);
}

/// Returns the text without spaces around it and without the `\` that continued its last line: before the
/// quote that now follows, it would be the quote's.
std::string without_continuation(std::string_view text) {
  const auto trimmed = util::trim(text);
  const auto end = trimmed.find_last_not_of('\\') + 1; // npos + 1 is 0
  const bool continues = (trimmed.size() - end) % 2 == 1;
  return std::string(continues ? util::trim(trimmed.substr(0, trimmed.size() - 1)) : trimmed);
}

bool ends_with_exec(std::string_view text) {
  const auto word = util::trim(text);
  return word.ends_with("exec") && (word.size() == 4 || !shell::is_name_char(word[word.size() - 5]));
}

/// Returns the place of the first word that is written in the script itself.
std::size_t first_place(const std::vector<Argument>& words) {
  for (const auto& word : words)
    if (word.place.length > 0) return word.place.offset;
  return std::string::npos;
}

class WordPorter {
public:
  WordPorter(const ImportState& porting, const Launch& launch, const shell::ScriptCommands& listing,
             VariableExpansionMode expansions)
      : x_text(porting.text), x_launch(launch), x_listing(listing), x_expansions(expansions),
        x_has_environment(!porting.chosen.environment.empty()) {}

  std::optional<ProgramCommandText> port(std::string& why) {
    read_words();
    drop_own_words();
    if (x_words.empty() && x_lead.empty()) return std::nullopt;
    ProgramCommandText result;
    result.begin = first_place(x_words);
    const bool local_rank = x_launch.agent() && passes_local_rank_option(*x_launch.agent());
    const auto& command = *x_launch.command;
    const auto siblings = command.parent ? siblings_of(x_launch, x_listing) : Siblings{};
    if (!siblings.heavy.empty()) {
      why = fmt::format(
          "the shell that starts the program also runs {}, once per node, but now every rank would "
          "run it",
          siblings.heavy);
      return std::nullopt;
    }
    const auto prefixes = outer_prefixes();
    if (!prefixes) return std::nullopt;
    if (const auto source = siblings.any ? std::nullopt : source_of(); source) {
      result.source = *source;
      result.command = x_lead;
      for (const auto& word : x_words) result.command.push_back(word.text());
      if (local_rank) add_local_rank(result, x_lead.size() + 1);
    } else {
      auto shell = x_has_outer_quotes ? std::nullopt : in_shell(siblings.any, local_rank, why);
      if (!shell) return std::nullopt;
      result.source = std::move(shell->source);
      result.command = std::move(shell->command);
    }
    for (auto* list : {&result.source, &result.command})
      list->insert(list->begin(), prefixes->begin(), prefixes->end());
    return result;
  }

private:
  /// Reads what the innermost starter runs, as words: an agent's script as python runs it, else the program
  /// after the chain's starters.
  void read_words() {
    const auto& chain = x_launch.chain;
    std::size_t first = chain.size();
    while (first > 0 && !is_starter(chain[first - 1])) --first;
    while (first + 1 < chain.size() && is_replaced(chain[first])) ++first;
    const auto& last = chain.back();
    if (first < chain.size() && first == 0) {
      x_words = words_behind(x_text, *x_launch.command, Link{}, chain[0]);
      return;
    }
    if (first < chain.size()) {
      x_words = words_behind(x_text, *x_launch.command, chain[first - 1], chain[first]);
      return;
    }
    if (last.operands.empty() || x_launch.container() == &last) return;
    add_wrappers();
    const bool module = last.find(OptionMeaning::module);
    const bool plain = last.find(OptionMeaning::plain);
    if (last.role == check::Role::agent && !plain) x_lead.push_back(interpreter_of(x_launch, last));
    if (module) x_lead.emplace_back("-m");
    x_words = last.operands;
  }

  /// `srun -- python`, `hpcml launch … -- python`: what ends the starter's options is not the program's, nor
  /// is its command, nor what only the shell runs, as `exec python`.
  void drop_own_words() {
    const auto drop = [this](std::string_view text) {
      if (!x_words.empty() && x_words.front().known() && x_words.front().text() == text)
        x_words.erase(x_words.begin());
    };
    if (x_launch.find("hpcml")) drop("launch");
    for (const auto* word : {"--", "exec", "command", "builtin"}) drop(word);
  }

  /// Returns the words between the starters that run another program, as bash text: `env A=b` in
  /// `srun env A=b bash -c 'torchrun x.py'`. Those right before the program are its own words, if it has no
  /// agent. Nothing if they are in a text for another shell and unknown.
  std::optional<std::vector<std::string>> outer_prefixes() const {
    std::vector<std::string> prefixes;
    const auto& chain = x_launch.chain;
    for (std::size_t i = 0; i + 1 < chain.size() && is_starter(chain[i]); ++i) {
      if (!x_launch.agent() && !is_starter(chain[i + 1])) break;
      const auto* command = x_launch.command;
      while (!holds(*command, chain[i]) && command->parent) command = &x_listing.commands[*command->parent];
      if (!holds(*command, chain[i + 1]) || runs_numactl(*command)) continue;
      for (const auto& word : words_between(*command, chain[i], chain[i + 1])) {
        if (word.known() && word.text() == "--") continue;
        if (!word.known() && command->parent) return std::nullopt;
        prefixes.push_back(word.known() ? util::shell_quote(word.text())
                                        : std::string(x_text.substr(word.place.offset, word.place.length)));
      }
    }
    return prefixes;
  }

  bool is_replaced(const Link& link) const { return x_has_environment && runs_in_environment(link); }

  /// `uv run`, `conda run -n x` before an agent, or before the shell that starts it, give the program its
  /// environment.
  void add_wrappers() {
    const auto& chain = x_launch.chain;
    auto first = chain.size() - 1;
    while (first > 0 && chain[first - 1].role == check::Role::other && !is_starter(chain[first - 1])) --first;
    if (chain[first].program == "singularity_wrapper") return;
    for (; first + 1 < chain.size(); ++first) {
      const auto* command = x_launch.command;
      while (!holds(*command, chain[first]) && command->parent)
        command = &x_listing.commands[*command->parent];
      const bool of_text = !holds(*command, chain[first]) || !holds(*command, chain[first + 1]);
      if (of_text || is_replaced(chain[first])) continue;
      const auto begin = find_word(command->words, chain[first], command->words.begin());
      const auto end = find_word(command->words, chain[first + 1], begin);
      for (auto word = begin; word < end; ++word) add_wrapper(*word, command != x_launch.command);
    }
  }

  void add_wrapper(const Argument& word, bool is_outer) {
    x_lead.push_back(word.known() ? util::shell_quote(word.text())
                                  : std::string(x_text.substr(word.place.offset, word.place.length)));
    x_has_outer_quotes =
        x_has_outer_quotes || (is_outer && x_lead.back().find_first_of("'\"\\$`") != std::string::npos);
  }

  /// How many words come from one place of the script: a variable may hold several.
  struct WordsOfPlace {
    std::size_t of_command = 0, of_program = 0;
    bool all_known = true; ///< those of the program, whatever a sourced file sets
  };
  std::unordered_map<std::size_t, WordsOfPlace> count_words_of_places() const {
    std::unordered_map<std::size_t, WordsOfPlace> places;
    for (const auto& word : x_launch.command->words) ++places[word.place.offset].of_command;
    for (const auto& word : x_words) {
      auto& place = places[word.place.offset];
      ++place.of_program;
      place.all_known = place.all_known && word.known() && !word.caveat;
    }
    return places;
  }

  /// Returns the words as bash text. A word of the script itself keeps its text, as does a variable all of
  /// whose words belong to the program. Words of a variable with others, and words in a text for another
  /// shell, are written out.
  std::optional<std::vector<std::string>> source_of() const {
    const auto& command = *x_launch.command;
    const bool expands = std::any_of(x_lead.begin(), x_lead.end(), [](const std::string& word) {
      return word.find('$') != std::string::npos;
    });
    if (command.parent && expands) return std::nullopt; // the other shell's variables
    const auto places = count_words_of_places();
    std::vector<std::string> source = x_lead;
    for (std::size_t i = 0; i < x_words.size(); ++i) {
      const auto& word = x_words[i];
      const auto& counts = places.at(word.place.offset);
      const bool plain =
          x_expansions == VariableExpansionMode::written_out && counts.of_program > 1 && counts.all_known;
      if (!command.parent && word.place.length > 0 && counts.of_command == counts.of_program && !plain) {
        if (i == 0 || x_words[i - 1].place.offset != word.place.offset)
          source.emplace_back(x_text.substr(word.place.offset, word.place.length));
        continue;
      }
      if (word.known())
        source.push_back(util::shell_quote(word.text()));
      else if (const auto text = command.parent ? std::nullopt : rebuilt(word))
        source.push_back(*text);
      else
        return std::nullopt;
    }
    return source;
  }

  /// Some launchers give their programs the local rank as the first argument, after `count` words.
  static void add_local_rank(ProgramCommandText& result, std::size_t count) {
    const auto start =
        fmt::format("exec \"${{@:1:{}}}\" --local_rank=\"$LOCAL_RANK\" \"${{@:{}}}\"", count, count + 1);
    result.source.insert(result.source.begin(), {"bash", "-c", "'" + start + "'", "rank"});
    result.inner = result.command;
    result.command.insert(result.command.begin(), {"bash", "-c", start, "rank"});
  }

  /// Returns what `srun bash -c '$LAUNCHER … $CMD'` runs, as a separate shell with the same quotes, because
  /// only that shell knows the words.
  std::optional<ProgramCommandText> in_shell(bool with_others, bool local_rank, std::string& why) const {
    const auto& command = *x_launch.command;
    const auto first = first_place(x_words);
    const auto* agent = x_launch.agent();
    if (!command.parent || !agent || first == std::string::npos) return std::nullopt;
    // In the launcher's own variable the program cannot be distinguished from it.
    const bool of_agent = first == agent->place.offset ||
                          std::any_of(agent->options.begin(), agent->options.end(),
                                      [&](const auto& option) { return option.place.offset == first; });
    const auto& outer = x_listing.commands[*command.parent].words;
    const auto script = std::find_if(outer.begin(), outer.end(), [&](const Argument& word) {
      return first > word.place.offset && first < end_of(word.place);
    });
    if (of_agent || script == outer.end()) return std::nullopt;
    const QuotedWord quotes(x_text, script->place);
    if (!quotes.starts_quoted() || agent->place.offset <= quotes.begin() || agent->place.offset > first)
      return std::nullopt;
    const auto start = quotes.with_escape(first), last = quotes.end_of_text();
    const auto agent_start = quotes.with_escape(agent->place.offset);
    auto before = std::string(x_text.substr(quotes.begin(), agent_start - quotes.begin()));
    auto program = without_continuation(x_text.substr(start, last - start));
    if (const auto name = find_rank_setting(before); !name.empty()) {
      why = fmt::format("the shell that starts the program sets {} for {}, but now for each rank", name,
                        agent->program);
      return std::nullopt;
    }
    if (util::trim(std::string_view(before).substr(1)).empty()) before.resize(1);
    const bool alone =
        !with_others && util::replace_all(program, "\\\n", " ").find_first_of(";|&<>\n") == std::string::npos;
    if (!alone && !with_others) program = one_command(program, start);
    if (program.empty() || (local_rank && !alone)) return std::nullopt;
    const auto text =
        spliced(quotes, before, agent_start, std::move(program), start,
                {.adds_exec = !with_others && !ends_with_exec(before), .adds_rank = local_rank});
    if (!text) return std::nullopt;
    ProgramCommandText result;
    result.command = {"bash", "-c", text->substr(1, text->size() - (text->back() == text->front() ? 2 : 1))};
    result.source = {"bash", "-c", *text};
    return result;
  }

  /// What a shell's text gets in the agent's place.
  struct Additions {
    bool adds_exec, adds_rank;
  };
  /// Returns the word of a shell's text without the agent that begins at `agent`: `before` it and the program
  /// from `start`. Nothing if it is not known which quotes are open.
  std::optional<std::string> spliced(const QuotedWord& quotes, const std::string& before, std::size_t agent,
                                     std::string program, std::size_t start, Additions additions) const {
    const auto at_agent = quotes.open_at(agent), at_first = quotes.open_at(start),
               at_end = quotes.open_at(start + program.size());
    if (!at_agent || !at_first || !at_end) return std::nullopt;
    if (additions.adds_rank && !insert_local_rank(program, start, quotes)) return std::nullopt;
    return before + lead_within(*at_agent, *at_first, additions.adds_exec) + program + *at_end;
  }

  /// Returns the text between that before the agent, in which the quote `open` is open, and the program, in
  /// which `next` is.
  std::string lead_within(const std::string& open, const std::string& next, bool adds_exec) const {
    auto text = (adds_exec ? "exec " : "") + util::join(x_lead, " ") + (x_lead.empty() ? "" : " ");
    if (open == "'") text = util::replace_all(text, "'", "'\\''");
    if (open.empty() && !text.empty()) return "\"" + text + (next == "\"" ? "" : "\"" + next);
    return text + (open == next ? "" : open + next);
  }

  /// Adds the local rank after the program's name. Returns false if the text does not show its end.
  bool insert_local_rank(std::string& program, std::size_t start, const QuotedWord& quotes) const {
    const auto end = end_of(x_words.front().place) - start;
    if (end > program.size() ||
        (x_words.size() > 1 && x_words[1].place.offset == x_words.front().place.offset))
      return false;
    const auto open = quotes.open_at(start + end);
    if (!open) return false;
    program.insert(end, open->empty()   ? "' --local_rank=$LOCAL_RANK'"
                        : *open == "\"" ? " --local_rank=\\$LOCAL_RANK"
                                        : " --local_rank=$LOCAL_RANK");
    return true;
  }

  /// The text up to what ends the program's command.
  std::string one_command(const std::string& text, std::size_t start) const {
    const auto& last = x_words.back();
    if (!last.known()) return {};
    const auto end = end_of(last.place) - start;
    return end <= text.size() ? text.substr(0, end) : text;
  }

  std::string_view x_text;
  const Launch& x_launch;
  const shell::ScriptCommands& x_listing;
  VariableExpansionMode x_expansions;
  bool x_has_environment;          ///< the request names one in place of the script's
  std::vector<std::string> x_lead; ///< python and its options, which the launcher gave
  bool x_has_outer_quotes = false; ///< `x_lead` has words that mean something else within quotes
  std::vector<Argument> x_words;
};

} // namespace

std::optional<std::string> rebuilt(const Argument& word) {
  std::string text;
  for (const auto& piece : word.pieces) {
    const bool is_home = !piece.known && piece.text == "~"; // which quotes would make a plain character
    const bool expands = piece.text.starts_with('$') || piece.text.starts_with('`');
    if (!piece.known && !is_home && !expands) return std::nullopt;
    if (!piece.known)
      text += is_home ? "$HOME" : piece.text;
    else
      for (const char c : piece.text) {
        if (c == '"' || c == '\\' || c == '$' || c == '`') text += '\\';
        text += c;
      }
  }
  return word.many ? std::optional(text) : std::optional("\"" + text + "\"");
}

bool runs_in_environment(const Link& link) { return is_package_manager(link.program); }

std::size_t skip_env(const std::vector<std::string>& command) {
  if (command.empty() || command.front() != "env") return 0;
  const auto program = std::find_if(command.begin() + 1, command.end(), [](const std::string& word) {
    return word.find('=') == std::string::npos;
  });
  return static_cast<std::size_t>(program - command.begin());
}

bool runs_shell(const std::vector<std::string>& command) {
  const auto first = skip_env(command);
  return first < command.size() && (command[first] == "bash" || command[first] == "sh");
}

bool runs_numactl(const shell::Command& command) {
  return std::any_of(command.words.begin(), command.words.end(), [](const Argument& word) {
    return word.known() && (word.text() == "numactl" || word.text().ends_with("/numactl"));
  });
}

std::optional<ProgramCommandText> program_text(const ImportState& porting, const Launch& launch,
                                               const shell::ScriptCommands& listing,
                                               VariableExpansionMode expansions, std::string& why) {
  return WordPorter(porting, launch, listing, expansions).port(why);
}

} // namespace hpcml::import_script
