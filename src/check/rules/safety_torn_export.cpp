// SPDX-License-Identifier: MIT
// Settings of programs that no program gets, as they are not exported.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_torn_export {

/// True if programs read the variable from their environment, and no login environment usually has it.
bool is_setting(std::string_view name) {
  static constexpr std::array<std::string_view, 5> k_beginnings = {"GLOO_", "MIOPEN_", "NCCL_", "RCCL_",
                                                                   "UCX_"};
  static constexpr std::array<std::string_view, 21> k_names = {
      "CUBLAS_WORKSPACE_CONFIG",
      "CUDA_LAUNCH_BLOCKING",
      "HF_DATASETS_OFFLINE",
      "HF_HUB_OFFLINE",
      "HYDRA_FULL_ERROR",
      "MASTER_ADDR",
      "MASTER_PORT",
      "MKL_NUM_THREADS",
      "OMP_NUM_THREADS",
      "OPENBLAS_NUM_THREADS",
      "PYTHONUNBUFFERED",
      "PYTORCH_CUDA_ALLOC_CONF",
      "TF_CPP_MIN_LOG_LEVEL",
      "TOKENIZERS_PARALLELISM",
      "TORCH_DISTRIBUTED_DEBUG",
      "TRANSFORMERS_OFFLINE",
      "WANDB_DISABLED",
      "WANDB_MODE",
      "WANDB_SILENT",
      "XLA_FLAGS",
      "XLA_PYTHON_CLIENT_PREALLOCATE",
  };
  return std::binary_search(k_names.begin(), k_names.end(), name) ||
         std::any_of(k_beginnings.begin(), k_beginnings.end(),
                     [&](auto beginning) { return name.starts_with(beginning); });
}

/// True if the text is one $(…) or $((…)).
bool is_substitution(std::string_view text) {
  text = util::trim(text);
  if (!text.starts_with("$(") || !text.ends_with(')')) return false;
  int depth = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1 == text.size();
  }
  return false;
}

/// True if the text is one word of the shell, which a comment may follow.
bool is_one_word(std::string_view text) {
  if (text.empty()) return false;
  if (is_substitution(text)) return true;
  const char quote = text[0] == '"' || text[0] == '\'' ? text[0] : ' ';
  const auto end = text.find(quote, 1);
  if (quote == ' ') {
    const auto word = text.substr(0, end);
    if (word.find_first_of("`(;|&<>\\") != std::string_view::npos) return false;
  } else if (end == std::string_view::npos) {
    return false;
  }
  const auto rest = end == std::string_view::npos ? std::string_view() : util::trim(text.substr(end + 1));
  return rest.empty() || rest[0] == '#';
}

/// True if the script has the name at this place only, comments aside.
bool is_only_mention(std::string_view text, std::string_view name, std::size_t place) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    const bool whole = (at == 0 || !util::is_name_char(text[at - 1])) &&
                       (end == text.size() || !util::is_name_char(text[end]));
    if (at == place || !whole) continue;
    const auto line = line_at(text, at);
    if (!util::trim(text.substr(line.offset, line.length)).starts_with("#")) return false;
  }
  return true;
}

/// Reports settings of programs that the script assigns on a separate line and neither exports nor reads.
void find_unexported(const LintContext& subject, RuleMatches& hits) {
  const auto text = subject.text;
  if (std::none_of(subject.names.begin(), subject.names.end(), is_setting)) return; // most scripts
  if (!is_shell_script(text) || text.find("set -a") != std::string_view::npos ||
      text.find("allexport") != std::string_view::npos)
    return;
  std::string_view written;
  for (std::size_t at = 0; at < text.size();) {
    const auto line = line_at(text, at);
    // A line after a backslash belongs to a command; one after a lone export is reported with that.
    const bool is_continuation = written.ends_with("\\") || util::trim(written) == "export";
    written = text.substr(line.offset, line.length);
    at = next_line(text, at);
    const auto first = written.find_first_not_of(" \t");
    const auto equals = written.find('=');
    if (is_continuation || equals == std::string_view::npos || first > equals ||
        subject.is_in_text(line.offset))
      continue;
    const auto name = written.substr(first, equals - first);
    const auto place = line.offset + first;
    if (!is_setting(name) || !is_one_word(written.substr(equals + 1)) || !is_only_mention(text, name, place))
      continue;
    hits.add({{place, equals - first},
              fmt::format("{} is not exported, so no program gets it", name),
              fmt::format("use export {}=…", name),
              {{place, 0, "export "}},
              diag::Severity::note});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  find_unexported(subject, hits);
  for (const auto& command : subject.listing.commands) {
    const auto& context = command.context;
    if (command.words.size() != 1 || command.name() != "export" || !command.redirects.empty() ||
        command.parent || context.pipeline || context.substitution)
      continue;
    const auto line = line_at(subject.text, command.place.offset);
    const auto end = line.offset + line.length;
    if (util::trim(subject.text.substr(line.offset, line.length)) != "export" ||
        end + 1 >= subject.text.size())
      continue;
    const auto next = line_at(subject.text, subject.text.find('\n', end) + 1);
    const auto text = util::trim(subject.text.substr(next.offset, next.length));
    const auto name = text.substr(0, text.find('='));
    if (name.size() == text.size() || !util::is_variable_name(name)) continue;
    hits.add({command.place,
              fmt::format("export without a name only prints variables: {} on the next line is not exported",
                          name),
              fmt::format("use export {} on one line", text)});
  }
  return hits;
}

} // namespace safety_torn_export

Rule rule_safety_torn_export() {
  using namespace safety_torn_export;
  return {
      .id = "safety/torn-export",
      .severity = diag::Severity::warning,
      .title = "Setting that is not exported",
      .why = "Programs get exported variables only: WANDB_MODE=offline or OMP_NUM_THREADS=8 on a separate "
             "line has no effect without export. A line break after export, as editors and web pages add it, "
             "makes two commands: the first prints all variables, the second sets one that no program gets.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Bourne-Shell-Builtins.html",
      .bad = {R"(#!/bin/bash
export
NCCL_DEBUG=INFO
srun python train.py
)"},
      .good = {R"(#!/bin/bash
export NCCL_DEBUG=INFO
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
