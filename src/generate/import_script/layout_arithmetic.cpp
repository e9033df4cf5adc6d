// SPDX-License-Identifier: MIT
#include "generate/import_script/layout_arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::import_script {
namespace {

constexpr std::size_t k_longest_expression = 2000;

bool contains_text(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

/// Whether one of the words is in the text as a word.
bool has_word_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    for (auto at = shell::find_name(text, word); at != std::string_view::npos;
         at = shell::find_name(text, word, at + 1))
      if (at == 0 || text[at - 1] != '-') return true;
    return false;
  });
}

/// Returns the place after the bracket that closes the one at `begin`; npos if none does soon.
std::size_t end_of_bracket(std::string_view text, std::size_t begin) {
  unsigned depth = 0;
  const auto end = std::min(text.size(), begin + k_longest_expression);
  for (auto at = begin; at < end; ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

/// A part of an expression that stands for a number of the layout.
struct LayoutToken {
  ByteRange range; ///< in the script
  std::string name;
  unsigned before = 0;
  unsigned after = 0; ///< 0: unset in the new job
};

class ExpressionReader {
public:
  ExpressionReader(std::string_view text, const SizeEvaluator& before, const SizeEvaluator& after)
      : x_text(text), x_before(before), x_after(after) {}

  std::vector<LayoutExpressionReplacement> read() {
    for (std::size_t at = 0; at < x_text.size();) {
      const auto next = expression_at(at);
      at = next > at ? next : at + 1;
    }
    return std::move(x_found);
  }

private:
  /// Reads the expression that begins here; returns the place after it, or `at` if none does.
  std::size_t expression_at(std::size_t at) {
    if (const auto end = end_of_statement(at); end > at) {
      add({at, end}, true);
      return end;
    }
    const bool arithmetic = x_text.compare(at, 3, "$((") == 0 || x_text.compare(at, 2, "$[") == 0;
    const bool command = !arithmetic && x_text.compare(at, 2, "$(") == 0;
    if (!arithmetic && !command && x_text[at] != '`') return at;
    const auto end = x_text[at] == '`'       ? x_text.find('`', at + 1)
                     : x_text[at + 1] == '[' ? x_text.find(']', at) + 1
                                             : end_of_bracket(x_text, at + 1);
    if (end == 0 || end == std::string_view::npos || end - at > k_longest_expression) return at;
    const auto inner = x_text.substr(at, end - at);
    if (!arithmetic && !has_word_of(inner, {"bc", "expr", "awk", "python", "python3"})) return at;
    add({at, end}, arithmetic);
    return end;
  }

  /// The end of a statement that only computes: `let A=B*2`, `declare -i A=B*2`, `((A = B * 2))`; `at` if
  /// none begins.
  std::size_t end_of_statement(std::size_t at) const {
    const auto rest = x_text.substr(at);
    if (!rest.starts_with("let ") && !rest.starts_with("declare -i ") && !rest.starts_with("((")) return at;
    const auto last = at == 0 ? std::string_view::npos : x_text.find_last_not_of(" \t", at - 1);
    if (last != std::string_view::npos && x_text[last] != '\n') return at;
    return std::min(x_text.find_first_of("\n;", at), x_text.size());
  }

  /// Adds the expression if its value would change.
  void add(ByteRange range, bool bare_names) {
    const auto text = x_text.substr(range.begin, range.end - range.begin);
    if (text.find_first_of("*/%") == std::string_view::npos || (!bare_names && counts_gpus(text))) return;
    const auto tokens = tokens_of(range, bare_names);
    if (tokens.empty() || keeps_value(text, tokens)) return;
    LayoutExpressionReplacement expression{range, {}, {}};
    auto at = range.begin;
    for (const auto& token : tokens) {
      expression.text +=
          std::string(x_text.substr(at, token.range.begin - at)) + std::to_string(token.before);
      util::add_once(expression.names, fmt::format("{} ({})", token.name, token.before));
      at = token.range.end;
    }
    expression.text += x_text.substr(at, range.end - at);
    x_found.push_back(std::move(expression));
  }

  /// Whether the expression has the same value in the new job, as far as that is known.
  bool keeps_value(std::string_view text, const std::vector<LayoutToken>& tokens) const {
    const auto before = x_before.evaluate(text), after = x_after.evaluate(text);
    if (before && after) return *before == *after;
    // In a product of nodes and GPUs per node the changes cancel out, whatever its other factors are.
    if (contains_text(text, "+")) return false;
    double ratio = 1;
    for (const auto& token : tokens) {
      const auto change = static_cast<double>(token.after) / token.before;
      const auto left = x_text.find_last_not_of(" $\"", token.range.begin - 1);
      ratio *= left != std::string_view::npos && x_text[left] == '/' ? 1 / change : change;
    }
    return std::abs(ratio - 1) < 1e-9;
  }

  /// The variables and counts of an expression that have another value in the new job.
  std::vector<LayoutToken> tokens_of(ByteRange range, bool bare_names) const {
    std::vector<LayoutToken> tokens;
    for (auto at = range.begin + 2; at < range.end;) {
      auto token = token_at(at, range.end, bare_names);
      at = std::max(token.range.end, at + 1);
      if (token.before > 0 && token.before != token.after) tokens.push_back(std::move(token));
    }
    return tokens;
  }

  LayoutToken token_at(std::size_t at, std::size_t end, bool bare_names) const {
    if (x_text.compare(at, 2, "$(") == 0) return count_at(at, end);
    auto begin = at + (x_text[at] == '$' ? 1 : 0);
    const bool brace = begin > at && x_text[begin] == '{';
    if (brace) ++begin;
    LayoutToken token{{at, at}, {}, 0, 0};
    if (!shell::is_name_start(x_text[begin]) || (begin == at && !is_bare_name(at, bare_names))) return token;
    auto close = begin;
    while (close < end && shell::is_name_char(x_text[close])) ++close;
    token.name = x_text.substr(begin, close - begin);
    if (brace) close = x_text.find('}', close) + 1; // npos + 1 is 0
    if (close == 0 || close > end) return token;
    token.range.end = close;
    token.before = x_before.value_of(token.name).value_or(0);
    token.after = x_after.value_of(token.name).value_or(0);
    return token;
  }

  /// A command in an expression that counts the GPUs of its node.
  LayoutToken count_at(std::size_t at, std::size_t end) const {
    const auto close = end_of_bracket(x_text, at + 1);
    if (close == std::string_view::npos || close > end) return {{at, at}, {}, 0, 0};
    const auto command = x_text.substr(at, close - at);
    if (!counts_gpus(command)) return {{at, at}, {}, 0, 0};
    return {{at, close}, "the number of GPUs", x_before.gpus_per_node, x_after.counted_gpus(command)};
  }

  /// Whether a name without a dollar begins here, which arithmetic reads as a variable.
  bool is_bare_name(std::size_t at, bool bare_names) const {
    return bare_names && !shell::is_name_char(x_text[at - 1]) && x_text[at - 1] != '{';
  }

  std::string_view x_text;
  const SizeEvaluator& x_before;
  const SizeEvaluator& x_after;
  std::vector<LayoutExpressionReplacement> x_found;
};

} // namespace

std::vector<LayoutExpressionReplacement>
find_layout_expressions(std::string_view text, const SizeEvaluator& before, const SizeEvaluator& after) {
  return ExpressionReader(text, before, after).read();
}

bool is_in_arithmetic(std::string_view text, std::size_t at) {
  auto before = text.substr(0, at).substr(at - std::min(at, k_longest_expression)); // long lines stay linear
  before.remove_prefix(before.rfind('\n') + 1);                                     // npos + 1 is 0
  for (const auto& [open, close] : {std::pair{"((", "))"}, std::pair{"$[", "]"}}) {
    const auto begin = before.rfind(open);
    if (begin != std::string_view::npos && before.find(close, begin) == std::string_view::npos) return true;
  }
  const auto word = util::trim(before);
  return word.starts_with("let ") || word.starts_with("declare -i ");
}

bool counts_gpus(std::string_view command) {
  if (contains_text(command, "device_count()")) return true;
  const bool counts = has_word_of(command, {"wc -l", "wc -w", "grep -c", "length", "NF", "len"});
  // `tr -cd , | wc -c` counts commas.
  if (!counts || contains_text(command, "grep -o ,") || contains_text(command, "grep -o \",\"") ||
      contains_text(command, "NF-1"))
    return false;
  return contains_text(command, "nvidia-smi") || contains_text(command, "rocm-smi") ||
         contains_text(command, "VISIBLE_DEVICES");
}

bool can_count_gpus(std::string_view command, model::GpuVendor vendor, bool listed) {
  if (contains_text(command, "VISIBLE_DEVICES") && !listed) return false;
  if (contains_text(command, "CUDA_VISIBLE_DEVICES") || contains_text(command, "nvidia-smi"))
    return vendor != model::GpuVendor::amd;
  if (contains_text(command, "ROCR_VISIBLE_DEVICES") || contains_text(command, "HIP_VISIBLE_DEVICES") ||
      contains_text(command, "rocm-smi"))
    return vendor != model::GpuVendor::nvidia;
  return true;
}

} // namespace hpcml::import_script
