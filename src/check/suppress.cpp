// SPDX-License-Identifier: MIT
#include "check/suppress.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/diag/line_table.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace {

struct Suppression {
  std::vector<std::string> ids;
  bool has_reason = false;
  bool used = false;
  unsigned first = 0; ///< lines, from 1; 0: the whole file
  unsigned last = 0;
  diag::TextRange place;
};

constexpr std::string_view k_mark = "hpcml:";

/// Where the comment of the line with our mark begins; npos without one. In a quoted text the mark hardly
/// ever is after a '#'.
std::size_t find_comment(std::string_view line) {
  for (auto hash = line.find('#'); hash != std::string_view::npos; hash = line.find('#', hash + 1)) {
    const auto word = line.find_first_not_of(" \t#", hash);
    if (word != std::string_view::npos && line.substr(word, k_mark.size()) == k_mark) return hash;
  }
  return std::string_view::npos;
}

/// "disable=a,b because" after the mark; nothing else is ours.
bool read_comment(std::string_view comment, Suppression& result, bool& whole_file) {
  auto rest = util::trim(comment.substr(comment.find(k_mark) + k_mark.size()));
  whole_file = rest.starts_with("disable-file=");
  if (!whole_file && !rest.starts_with("disable=")) return false;
  rest.remove_prefix(rest.find('=') + 1);
  const auto end = std::min(rest.find_first_of(" \t\r"), rest.size());
  for (const auto& id : util::split(rest.substr(0, end), ','))
    if (!id.empty()) result.ids.push_back(id);
  result.has_reason = !util::trim(rest.substr(end)).empty();
  return true;
}

/// Whether a comment that is alone above the line is about it: a command or a directive, also one that is
/// switched off.
bool has_text(std::string_view body) {
  if (body.empty()) return false;
  const auto word = body.find_first_not_of("# \t");
  return body[0] != '#' ||
         (word != std::string_view::npos && util::to_lower(body.substr(word, 6)) == "sbatch");
}

std::vector<Suppression> read_suppressions(std::string_view text) {
  std::vector<Suppression> list;
  std::vector<std::size_t> open; // comments on their own lines that wait for a line
  unsigned number = 0;
  bool continued = false;
  for (std::size_t at = 0; at < text.size();) {
    ++number;
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = text.substr(at, end - at);
    const auto body = util::trim(line);
    const auto hash = find_comment(line);
    Suppression found;
    bool whole_file = false;
    const bool ours = hash != std::string_view::npos && read_comment(line.substr(hash), found, whole_file);
    if (ours) found.place = {at + hash, line.size() - hash};
    const bool alone = ours && util::trim(line.substr(0, hash)).empty();
    // A comment on a separate line applies to the next line with code, and to those that continue it.
    const bool counts = !alone && has_text(body);
    if (continued || counts)
      for (const auto i : open) {
        if (list[i].first == 0) list[i].first = number;
        list[i].last = number;
      }
    continued = counts || continued ? !body.empty() && body.back() == '\\' : false;
    if (!continued && counts) open.clear();
    if (ours) {
      if (!whole_file && !alone) found.first = found.last = number;
      list.push_back(std::move(found));
      if (!whole_file && alone) open.push_back(list.size() - 1);
    }
    at = end + 1;
  }
  for (const auto i : open) list[i].first = list[i].last = number + 1; // nothing follows
  return list;
}

/// Which comments hold for a line. Those of a few lines are listed by line; the others, of the whole file or
/// a command that continues for long, are few.
class LineIndex {
public:
  explicit LineIndex(std::vector<Suppression>& list) {
    constexpr unsigned k_few = 16;
    for (auto& suppression : list) {
      if (suppression.first == 0 || suppression.last - suppression.first >= k_few)
        x_long.push_back(&suppression);
      else
        for (auto line = suppression.first; line <= suppression.last; ++line)
          x_of_line.emplace(line, &suppression);
    }
  }
  template <class Visit> void visit(unsigned line, Visit visit) const {
    for (auto* suppression : x_long)
      if (suppression->first == 0 || (line >= suppression->first && line <= suppression->last))
        visit(*suppression);
    const auto [begin, end] = x_of_line.equal_range(line);
    for (auto found = begin; found != end; ++found) visit(*found->second);
  }

private:
  std::vector<Suppression*> x_long;
  std::multimap<unsigned, Suppression*> x_of_line;
};

} // namespace

bool is_no_job(std::string_view text) {
  constexpr std::string_view k_word = "not-a-job ";
  if (text.find(k_mark) == std::string_view::npos) return false;
  for (const std::string& line : util::split(text, '\n')) {
    const auto hash = find_comment(line);
    if (hash == std::string_view::npos) continue;
    const auto rest = util::trim(std::string_view(line).substr(line.find(k_mark, hash) + k_mark.size()));
    if (rest.starts_with(k_word) && !util::trim(rest.substr(k_word.size())).empty()) return true;
  }
  return false;
}

void apply_suppressions(const std::string& file, std::string_view text, const diag::LineTable& lines,
                        Findings& findings) {
  if (text.find(k_mark) == std::string_view::npos) return;
  auto list = read_suppressions(text);
  const LineIndex of_lines(list);
  const auto is_silenced = [&](const Finding& finding) {
    bool silenced = false;
    of_lines.visit(finding.what.location.line, [&](Suppression& suppression) {
      if (suppression.has_reason && std::find(suppression.ids.begin(), suppression.ids.end(),
                                              finding.what.code) != suppression.ids.end())
        suppression.used = silenced = true;
    });
    return silenced;
  };
  findings.erase(std::remove_if(findings.begin(), findings.end(), is_silenced), findings.end());
  const auto add = [&](const Suppression& suppression, diag::Severity severity, std::string message,
                       std::string hint) {
    findings.push_back({{severity, "check/disable", std::move(message),
                         lines.location_at(file, suppression.place), std::move(hint)},
                        suppression.place});
  };
  for (const auto& suppression : list) {
    if (suppression.ids.empty()) {
      add(suppression, diag::Severity::warning, "this comment names no rule",
          "add the id, which is in brackets after the finding: # hpcml: disable=ID because …");
      continue;
    }
    if (!suppression.has_reason) {
      add(suppression, diag::Severity::warning, "this comment gives no reason, so it ignores nothing",
          fmt::format("add the reason after the id: # hpcml: disable={} because …",
                      util::join(suppression.ids, ",")));
      continue;
    }
    bool known = true;
    for (const auto& id : suppression.ids)
      if (!find_rule(id)) {
        known = false;
        std::vector<std::string> ids;
        for (const auto& rule : all_rules()) ids.emplace_back(rule.id);
        const auto near = util::nearest(id, ids);
        add(suppression, diag::Severity::warning, fmt::format("unknown rule '{}'", id),
            near ? fmt::format("use '{}' if that is meant", *near) : "run hpcml rules to list them");
      }
    if (known && !suppression.used)
      add(suppression, diag::Severity::note, "this comment ignores no finding",
          "remove it, or check that it is on the right line");
  }
}

} // namespace hpcml::check
