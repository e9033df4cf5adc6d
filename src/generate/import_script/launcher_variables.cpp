// SPDX-License-Identifier: MIT
#include "generate/import_script/launcher_variables.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "check/launch_facts.hpp"
#include "core/launch_chain/launches.hpp"
#include "core/shell/script.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/variable_uses.hpp"

namespace hpcml::import_script {
namespace {

using shell::Assignment;
using shell::Word;

/// The words of a value as they would be in a command line, and where the value's text begins.
struct WrittenValue {
  std::string words;
  std::size_t begin = 0;             ///< of the words in the script
  std::vector<std::size_t> elements; ///< of an array: where each one begins in `words`
};

/// The text between the quotes or parentheses of the value; nothing if it has other quotes.
std::optional<WrittenValue> written_value(std::string_view text, const Assignment& assignment) {
  WrittenValue value;
  if (assignment.array) {
    for (const auto& element : assignment.elements) {
      if (!value.words.empty()) value.words += ' ';
      value.elements.push_back(value.words.size());
      value.words += text.substr(element.place.offset, element.place.length);
    }
    if (value.elements.empty()) return std::nullopt;
    value.begin = assignment.elements.front().place.offset;
    return value;
  }
  const auto place = assignment.value.place;
  const auto written = text.substr(place.offset, place.length);
  if (written.size() < 3 || written.front() != '"' || written.back() != '"') return std::nullopt;
  value.words = written.substr(1, written.size() - 2);
  value.begin = place.offset + 1;
  return value;
}

/// Where the word that holds the place ends; spaces within ${…} and $(…) end none.
std::size_t word_end(std::string_view words, std::size_t at) {
  unsigned open = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char c = words[i];
    if (c == '(' || c == '{') ++open;
    if ((c == ')' || c == '}') && open > 0) --open;
    const bool is_space = c == ' ' || c == '\t' || c == '\n';
    if (i >= at && open == 0 && (is_space || words.substr(i, 2) == "\\\n")) return i;
  }
  return words.size();
}

/// Where the first word after the place begins: continued lines are spaces.
std::size_t next_word(std::string_view words, std::size_t at) {
  while (at < words.size()) {
    if (words.substr(at, 2) == "\\\n")
      at += 2;
    else if (words[at] == ' ' || words[at] == '\t' || words[at] == '\n')
      ++at;
    else
      break;
  }
  return at;
}

/// The text in one line.
std::string in_one_line(std::string_view words) {
  std::string line;
  for (std::size_t at = next_word(words, 0); at < words.size();) {
    const auto end = word_end(words, at);
    line += (line.empty() ? "" : " ") + std::string(words.substr(at, end - at));
    at = next_word(words, end);
  }
  return line;
}

/// Whether the words mean the same in a value, which bash splits, and in a command, which it reads.
bool is_same_in_command(std::string_view words) {
  unsigned open = 0; // of expansions, whose text is the same in both
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char c = words[i];
    const bool begins = c == '$' && i + 1 < words.size() && (words[i + 1] == '{' || words[i + 1] == '(');
    if (begins || (open > 0 && c == '(')) {
      ++open;
      i += begins ? 1 : 0;
    } else if (open > 0 && (c == '}' || c == ')')) {
      --open;
    } else if (open == 0) {
      const bool continued = words.substr(i, 2) == "\\\n";
      if (!continued && std::string_view("\"'`\\;|&<>(){}#!~*?[]").find(c) != std::string_view::npos)
        return false;
    }
  }
  return open == 0;
}

bool is_launcher(const check::Link& link) {
  return link.role == check::Role::step || link.role == check::Role::agent ||
         link.role == check::Role::container;
}

class VariableSplitter {
public:
  VariableSplitter(std::string_view text, const std::map<std::string, VariableUses>& all,
                   const VariableUses& uses)
      : x_text(text), x_all(all), x_uses(uses) {}

  /// The edits that move the launcher out of the variable's values; empty if that is not possible.
  std::vector<TextEdit> split() {
    const auto separators = x_all.find("IFS");
    if (!x_uses.is_orderly() || (separators != x_all.end() && !separators->second.values.empty())) return {};
    std::vector<TextEdit> edits;
    for (const auto& value : x_uses.values) {
      const auto written = written_value(x_text, *value.assignment);
      const auto end = written ? end_of_program(value, *written) : std::nullopt;
      if (!end || !keeps_values(value, written->words.substr(0, *end)) ||
          !move_words(value, *written, *end, edits))
        return {};
    }
    return edits;
  }
  /// The words that were moved first.
  const std::string& words() const { return x_words; }

private:
  bool reads(const FirstValue& value, const VariableRead& read) const {
    const auto at = read.part->place.offset;
    return x_uses.values.size() == 1 || (at > value.begin && at < value.end);
  }

  /// Returns the place in the value's words after the program that they start, or after all of them if they
  /// are a launcher's alone. Nothing if they start no program.
  std::optional<std::size_t> end_of_program(const FirstValue& value, const WrittenValue& written) const {
    std::vector<TextEdit> edits;
    for (const auto& read : x_uses.reads)
      if (reads(value, read) && !read.is_printed) edits.push_back(inserted(read, written.words + " "));
    EditedText probe(x_text);
    probe.apply(edits);
    std::sort(edits.begin(), edits.end(),
              [](const TextEdit& a, const TextEdit& b) { return a.begin < b.begin; });
    const auto listing = shell::list_commands(shell::read_script(probe.text()));
    const auto launches = launch_chain::find_launches(listing);
    std::optional<std::size_t> end;
    std::size_t shift = 0; // by the edits before
    for (const auto& edit : edits) {
      const auto begin = edit.begin + shift + edit.text.find(written.words);
      for (const auto& launch : launches)
        if (const auto found = end_in(launch, begin, written.words.size()); found)
          end = std::max(end.value_or(0), word_end(written.words, *found));
      shift += edit.text.size();
    }
    return end;
  }

  /// Returns the place after the program of a launch that begins in the words at `begin`, from there.
  static std::optional<std::size_t> end_in(const check::Launch& launch, std::size_t begin, std::size_t size) {
    const auto holds = [&](diag::TextRange place) {
      return place.offset >= begin && place.offset < begin + size;
    };
    const auto is_inside = [&](const check::Link& link) {
      const auto& options = link.options;
      return holds(link.place) ||
             (is_launcher(link) && std::any_of(options.begin(), options.end(),
                                               [&](const auto& option) { return holds(option.place); }));
    };
    const auto& last = launch.last();
    if (std::none_of(launch.chain.begin(), launch.chain.end(), is_inside)) return std::nullopt;
    const bool starts = launch.step() || launch.agent() || launch.container() || launch.python() ||
                        check::is_shell(launch) || !(check::is_tool(launch) || check::is_utility(launch));
    if (!starts) return std::nullopt;
    const auto& word = last.operands.empty() ? last.place : last.operands.front().place;
    return std::min(size, std::max(end_of(word), begin) - begin);
  }

  /// Adds the edits for one value; false if its words would not be the same in the commands.
  bool move_words(const FirstValue& value, const WrittenValue& written, std::size_t end,
                  std::vector<TextEdit>& edits) {
    const auto head = std::string_view(written.words).substr(0, end);
    const auto words = x_uses.is_array ? std::string(head) : in_one_line(head);
    const bool plain = is_same_in_command(head);
    const auto program = words.substr(words.rfind(' ') + 1); // npos + 1 is 0
    for (const auto& read : x_uses.reads) {
      if (!reads(value, read)) continue;
      if (read.is_printed) {
        if (plain) edits.push_back(inserted(read, program + " "));
        continue;
      }
      const bool fits = plain ? !read.part->quoted || is_list(read) || x_is_one_command : is_list(read);
      if (!fits || (read.is_whole && !read.part->quoted)) return false;
      edits.push_back(inserted(read, words + " "));
    }
    if (x_words.empty()) x_words = in_one_line(head);
    const auto& assignment = *value.assignment;
    if (!x_uses.is_array) {
      edits.push_back({written.begin, written.begin + next_word(written.words, end), ""});
      return true;
    }
    const auto next = std::find_if(written.elements.begin(), written.elements.end(),
                                   [&](std::size_t begin) { return begin >= end; });
    const auto after =
        next == written.elements.end()
            ? end_of(assignment.elements.back().place)
            : assignment.elements[static_cast<std::size_t>(next - written.elements.begin())].place.offset;
    edits.push_back({written.begin, after, ""});
    return true;
  }

  /// Whether the variables in the words have the same values where the words are moved to.
  bool keeps_values(const FirstValue& value, std::string_view words) const {
    const bool in_functions = std::any_of(x_uses.reads.begin(), x_uses.reads.end(),
                                          [](const VariableRead& read) { return read.in_function; });
    for (auto at = words.find('$'); at != std::string_view::npos; at = words.find('$', at + 1)) {
      const auto begin = words.find_first_not_of("${#!", at);
      if (begin == std::string_view::npos || words[begin] == '(') continue;
      auto end = begin;
      while (end < words.size() && util::is_name_char(words[end])) ++end;
      const auto name = std::string(words.substr(begin, end - begin));
      if (!shell::is_name(name)) return false; // an argument of the script or of a function
      const auto found = x_all.find(name);
      if (found == x_all.end()) continue;
      const auto& uses = found->second;
      if (uses.last_set > value.begin || (in_functions && uses.is_set_in_function && !value.in_function))
        return false;
    }
    return true;
  }

  /// Whether the variable is read as "${V[@]}", whose words are those of the command.
  static bool is_list(const VariableRead& read) {
    return read.word->parts.size() == 1 && read.part->quoted && read.part->parameter->subscript == "@";
  }

  /// Whether a shell that reads the value finds only words in it: no pipe, no redirect, no escape.
  bool holds_one_command() const {
    const auto is_plain = [&](diag::TextRange place) {
      auto text = std::string(x_text.substr(place.offset, place.length));
      for (const auto* same : {"\\\n", "\\\""}) text = util::replace_all(text, same, " ");
      return text.find_first_of("\\|;&<>\n") == std::string::npos;
    };
    return std::all_of(x_uses.additions.begin(), x_uses.additions.end(), is_plain) &&
           std::all_of(x_uses.values.begin(), x_uses.values.end(),
                       [&](const FirstValue& value) { return is_plain(value.assignment->place); });
  }

  /// The edit that puts words before a read. Before "${V[@]}" they are outside of its quotes; eval gets one
  /// word, as its text can then be read.
  static TextEdit inserted(const VariableRead& read, std::string words) {
    const auto place = read.part->place;
    if (read.is_evaluated && !read.part->quoted && read.word->parts.size() == 1)
      return {place.offset, end_of(place), fmt::format("\"{}{}\"", words, read.part->text)};
    const auto at = is_list(read) ? read.word->place.offset : read.part->place.offset;
    return {at, at, std::move(words)};
  }

  std::string_view x_text;
  const std::map<std::string, VariableUses>& x_all;
  const VariableUses& x_uses;
  bool x_is_one_command = holds_one_command();
  std::string x_words;
};

} // namespace

std::vector<SplitVariable> split_launcher_variables(EditedText& script, const std::string& file) {
  std::vector<SplitVariable> changed;
  constexpr std::size_t k_most = 8; // each one reads the script again
  while (changed.size() < k_most) {
    const auto tree = shell::read_script(script.text());
    if (!shell::unread_parts(tree.program).empty()) break;
    const auto before = changed.size();
    const auto all = find_variable_uses(tree.program, script.text());
    for (const auto& [name, uses] : all) {
      const bool is_done = std::any_of(changed.begin(), changed.end(),
                                       [&](const SplitVariable& variable) { return variable.name == name; });
      if (is_done || !(uses.is_extended || uses.is_evaluated())) continue;
      VariableSplitter splitter(script.text(), all, uses);
      auto edits = splitter.split();
      if (edits.empty()) continue;
      const auto place = uses.values.front().assignment->place;
      changed.push_back({name, splitter.words(), script.location_at(file, place)});
      script.apply(std::move(edits));
      break; // the tree is that of the old text
    }
    if (changed.size() == before) break;
  }
  return changed;
}

} // namespace hpcml::import_script
