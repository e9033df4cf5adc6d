// SPDX-License-Identifier: MIT
// Which characters the texts of a profile may have.
#include "core/config/text_rule.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

#include "core/diag/visible_text.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::config {

namespace {

using util::is_name_char;
using util::is_name_start;
bool is_word_char(char c) {
  return is_name_char(c) || std::string_view("./:@%+=,-").find(c) != std::string_view::npos;
}
bool is_option_char(char c) {
  return is_word_char(c) || std::string_view("&|[]*^").find(c) != std::string_view::npos;
}

template <class Allowed>
std::string character_fault(std::string_view text, Allowed allowed, std::string_view why) {
  const auto bad = std::find_if_not(text.begin(), text.end(), allowed);
  return bad == text.end() ? std::string() : fmt::format("has the character '{}', {}", *bad, why);
}

/// The end of the $NAME or ${NAME} that begins at `at`, or npos.
std::size_t skip_reference(std::string_view text, std::size_t at) {
  ++at;
  const bool braces = at < text.size() && text[at] == '{';
  if (braces) ++at;
  if (at >= text.size() || !is_name_start(text[at])) return std::string_view::npos;
  while (at < text.size() && is_name_char(text[at])) ++at;
  if (!braces) return at;
  return at < text.size() && text[at] == '}' ? at + 1 : std::string_view::npos;
}

std::string expression_fault(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '$') {
      at = skip_reference(text, at);
      if (at == std::string_view::npos)
        return "has a $ that is not $NAME or ${NAME}: commands and other expansions are not allowed";
    } else if (is_word_char(text[at]) || text[at] == ' ') {
      ++at;
    } else {
      return fmt::format("has the character '{}': only words, spaces and $NAME are allowed", text[at]);
    }
  }
  return {};
}

/// Shells run the values of these, or read commands by them, wherever they find them.
bool is_obeyed_by_shells(std::string_view name) {
  constexpr std::array<std::string_view, 9> k_names = {
      "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PS0", "PROMPT_COMMAND", "IFS", "BASH_XTRACEFD"};
  return std::find(k_names.begin(), k_names.end(), name) != k_names.end();
}

std::string variable_fault(std::string_view text) {
  if (!util::is_variable_name(text)) return "is not a valid name of a variable";
  if (is_obeyed_by_shells(text)) return "is a variable that shells act on: its value could run as a command";
  return {};
}

/// One "$NAME", or "source /ABS/PATH": anything else would be a program of the profile's choice.
std::string activation_fault(std::string_view text) {
  constexpr std::string_view k_source = "source /";
  if (text.starts_with(k_source)) {
    const auto path = text.substr(k_source.size() - 1);
    const bool plain = std::all_of(path.begin(), path.end(), [](char c) {
      return is_name_char(c) || std::string_view("./+-").find(c) != std::string_view::npos;
    });
    if (plain && path.size() > 1) return {};
  } else if (text.size() > 1 && text.front() == '$' && variable_fault(text.substr(1)).empty()) {
    // Slurm fills these with what the job's author wrote, a job name for one.
    if (!text.starts_with("$SLURM")) return {};
    return "names a variable of Slurm, whose value comes from the job";
  }
  return "is neither one $NAME nor source /ABSOLUTE/PATH";
}

/// Options that name a program or a file of programs. Both srun and sbatch take abbreviations.
bool starts_a_program(std::string_view option) {
  constexpr std::array<std::string_view, 14> k_names = {
      "prolog", "epilog", "task-prolog", "task-epilog", "multi-prog", "wrap",    "launch-agent",
      "rsh",    "app",    "appfile",     "mca",         "gmca",       "prtemca", "personality"};
  std::string name(option.substr(std::min(option.find_first_not_of('-'), option.size())));
  name.resize(std::min(name.find('='), name.size()));
  std::replace(name.begin(), name.end(), '_', '-');
  return name.size() > 1 && std::any_of(k_names.begin(), k_names.end(),
                                        [&](std::string_view known) { return known.starts_with(name); });
}

/// `text` with a digit for each number of the job that the planner fills in.
std::string without_numbers(std::string_view text) {
  constexpr std::array<std::string_view, 9> k_names = {
      "{nodes}",         "{tasks}", "{tasks_per_node}", "{gpus_per_node}", "{gpus_per_task}",
      "{cpus_per_task}", "{gib}",   "{image}",          "{binds}"};
  std::string plain(text);
  for (const auto name : k_names)
    for (auto at = plain.find(name); at != std::string::npos; at = plain.find(name))
      plain.replace(at, name.size(), "1");
  return plain;
}

std::string option_fault(std::string_view option) {
  const auto filled = without_numbers(option);
  const std::string_view text = filled;
  const auto first = text.find_first_not_of('-');
  if (first == std::string_view::npos || first == 0 || first > 2 || !is_name_start(text[first]))
    return "is not an option: it does not begin with - or -- and a letter";
  if (auto fault = character_fault(text, is_option_char, "which is not allowed in an option"); !fault.empty())
    return fault;
  return starts_a_program(text) ? "is an option that starts a program" : std::string();
}

/// What may follow an option as its own word; no program is called like that.
bool is_option_value(std::string_view text) {
  if (text.empty() ||
      !std::all_of(text.begin(), text.end(), [](char c) { return is_word_char(c) && c != '/'; }))
    return false;
  return text == "none" || std::isdigit(static_cast<unsigned char>(text.front())) != 0 ||
         (text.front() != ':' && text.find(':') != std::string_view::npos);
}

std::string launcher_argument_fault(std::string_view text) {
  return is_option_value(without_numbers(text)) ? std::string() : option_fault(text);
}

/// `is_interface`: Gloo and the sockets of NCCL use IP interfaces. An adapter's name is valid in NCCL_IB_HCA
/// only.
std::string name_fault(std::string_view text, bool is_interface) {
  for (const std::string_view adapter : {"mlx4_", "mlx5_", "hfi1_"})
    if (is_interface && text.starts_with(adapter)) return "is the name of an adapter, not of an IP interface";
  if (text.empty() || text.front() == '-') return "is not a valid name";
  return character_fault(
      text, [](char c) { return is_name_char(c) || c == '.' || c == '-'; }, "which is not allowed in a name");
}

std::string word_fault(std::string_view text) {
  if (!text.empty() && text.front() == '-') return "begins with -, so it would be read as an option";
  return character_fault(text, is_word_char, "which is not allowed here");
}

/// A name of a package with extras and versions: no option, no path, no address to fetch something from.
std::string requirement_fault(std::string_view text) {
  if (text.empty() || std::isalnum(static_cast<unsigned char>(text.front())) == 0)
    return "does not begin with the name of a package";
  return character_fault(
      text,
      [](char c) {
        return is_name_char(c) || std::string_view(".-[],<>=!~+*").find(c) != std::string_view::npos;
      },
      "which is not allowed in a package name");
}

std::string shebang_fault(std::string_view text) {
  for (const std::string_view good :
       {"#!/bin/bash", "#!/usr/bin/bash", "#!/usr/bin/env bash", "#!/bin/bash -l", "#!/usr/bin/bash -l"})
    if (text == good) return {};
  return "must start bash";
}

/// Control characters, and characters that users do not see.
std::string hidden_fault(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return "has a control character (a line break, a tab, or the like)";
  }
  const bool ascii =
      std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!ascii && diag::visible_text(text) != text)
    return "has an invisible character or one that reverses the text direction";
  return {};
}

} // namespace

std::string text_fault(std::string_view text, TextRule rule) {
  if (auto fault = hidden_fault(text); !fault.empty()) return fault;
  switch (rule) {
  case TextRule::line: return {};
  case TextRule::word: return word_fault(text);
  case TextRule::name:
  case TextRule::interface: return name_fault(text, rule == TextRule::interface);
  case TextRule::variable: return variable_fault(text);
  case TextRule::expression: return expression_fault(text);
  case TextRule::activation: return activation_fault(text);
  case TextRule::option: return option_fault(text);
  case TextRule::launcher_argument: return launcher_argument_fault(text);
  case TextRule::requirement: return requirement_fault(text);
  case TextRule::suffix: return name_fault("x" + std::string(text), false);
  case TextRule::shebang: return shebang_fault(text);
  }
  return {};
}

} // namespace hpcml::config
