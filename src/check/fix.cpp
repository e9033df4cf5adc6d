// SPDX-License-Identifier: MIT
#include "check/fix.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace hpcml::check {
namespace {

using Lines = std::vector<std::string_view>;

/// With their ends, so that a missing last one is seen.
Lines split_lines(std::string_view text) {
  Lines lines;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

struct Step {
  char mark; ///< ' ', '-' or '+'
  std::string_view line;
};

/// The shortest way from `a` to `b` by removing and adding lines. Equal beginnings and ends are cut off
/// first: fixes are small, so that the table is as well.
std::vector<Step> compare(const Lines& a, const Lines& b) {
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  std::size_t tail = 0;
  while (tail + head < a.size() && tail + head < b.size() && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  const auto n = a.size() - head - tail;
  const auto m = b.size() - head - tail;
  std::vector<Step> steps;
  for (std::size_t i = 0; i < head; ++i) steps.push_back({' ', a[i]});
  constexpr std::size_t k_largest_table = 16'000'000;
  if (n * m > k_largest_table) { // as one block
    for (std::size_t i = 0; i < n; ++i) steps.push_back({'-', a[head + i]});
    for (std::size_t j = 0; j < m; ++j) steps.push_back({'+', b[head + j]});
  } else {
    std::vector<std::vector<unsigned>> common(n + 1, std::vector<unsigned>(m + 1, 0));
    for (auto i = n; i-- > 0;)
      for (auto j = m; j-- > 0;)
        common[i][j] = a[head + i] == b[head + j] ? common[i + 1][j + 1] + 1
                                                  : std::max(common[i + 1][j], common[i][j + 1]);
    std::size_t i = 0, j = 0;
    while (i < n || j < m) {
      if (i < n && j < m && a[head + i] == b[head + j]) {
        steps.push_back({' ', a[head + i++]});
        ++j;
      } else if (i < n && (j == m || common[i + 1][j] >= common[i][j + 1]))
        steps.push_back({'-', a[head + i++]});
      else
        steps.push_back({'+', b[head + j++]});
    }
  }
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) steps.push_back({' ', a[i]});
  return steps;
}

std::string range_text(std::size_t first, std::size_t count) {
  // diff counts from 1, and names the line before where there are none.
  return std::to_string(count == 0 ? first : first + 1) + (count == 1 ? "" : "," + std::to_string(count));
}

} // namespace

Edit remove_option(std::string_view text, diag::TextRange option) {
  const auto line = line_at(text, option.offset);
  auto begin = option.offset;
  while (begin > line.offset && (text[begin - 1] == ' ' || text[begin - 1] == '\t')) --begin;
  const auto end = option.offset + option.length;
  const auto rest = text.find_first_not_of(" \t", end);
  const bool alone = text.substr(line.offset, begin - line.offset) == "#SBATCH" &&
                     (rest >= line.offset + line.length || text[rest] == '#');
  if (!alone) return {begin, end - begin, ""};
  const auto next = text.find('\n', line.offset);
  return {line.offset, (next == std::string_view::npos ? text.size() : next + 1) - line.offset, ""};
}

FixedText apply_fixes(std::string_view text, const Findings& findings) {
  FixedText result;
  std::map<std::size_t, std::size_t> ends; // of the bytes that are taken, by their first
  const auto is_free = [&](const Edit& edit) {
    const auto end = edit.offset + edit.length;
    auto next = ends.lower_bound(edit.offset);
    if (next != ends.end() && (next->first == edit.offset || next->first < end)) return false;
    return next == ends.begin() || std::prev(next)->second <= edit.offset;
  };
  std::multimap<std::size_t, const Edit*> edits; // in the text's order
  for (const auto& finding : findings) {
    const bool free = std::all_of(finding.fix.begin(), finding.fix.end(), [&](const Edit& edit) {
      return edit.offset + edit.length <= text.size() && is_free(edit);
    });
    if (!free || finding.fix.empty()) continue;
    for (const auto& edit : finding.fix) {
      edits.emplace(edit.offset, &edit);
      auto& end = ends[edit.offset];
      end = std::max(end, edit.offset + edit.length);
    }
    ++result.findings;
  }
  std::size_t at = 0;
  for (const auto& [offset, taken] : edits) {
    const auto& edit = *taken;
    result.text.append(text.substr(at, edit.offset - at)).append(edit.text);
    at = edit.offset + edit.length;
  }
  result.text.append(text.substr(at));
  return result;
}

std::string unified_diff(std::string_view before, std::string_view after, const std::string& file) {
  if (before == after) return {};
  constexpr std::size_t k_context = 3;
  const auto steps = compare(split_lines(before), split_lines(after));
  const auto name =
      file +
      (file.find(' ') == std::string::npos ? "" : "\t"); // patch takes a name with spaces up to the tab
  std::string text = "--- " + name + "\n+++ " + name + "\n";
  std::size_t old_line = 0, new_line = 0;
  for (std::size_t i = 0; i < steps.size();) {
    auto change = i;
    while (change < steps.size() && steps[change].mark == ' ') ++change;
    if (change == steps.size()) break;
    const auto begin = change - std::min(change - i, k_context);
    old_line += begin - i;
    new_line += begin - i;
    // The hunk continues until this many equal lines follow that the next change needs its own.
    auto end = change;
    for (auto look = change; look < steps.size() && look - end <= 2 * k_context; ++look)
      if (steps[look].mark != ' ') end = look + 1;
    end = std::min(end + k_context, steps.size());
    std::size_t removed = 0, added = 0;
    std::string body;
    for (auto k = begin; k < end; ++k) {
      body += steps[k].mark;
      body.append(steps[k].line);
      if (steps[k].line.empty() || steps[k].line.back() != '\n') body += "\n\\ No newline at end of file\n";
      removed += steps[k].mark != '+' ? 1 : 0;
      added += steps[k].mark != '-' ? 1 : 0;
    }
    text += "@@ -" + range_text(old_line, removed) + " +" + range_text(new_line, added) + " @@\n" + body;
    old_line += removed;
    new_line += added;
    i = end;
  }
  return text;
}

} // namespace hpcml::check
