// SPDX-License-Identifier: MIT
#include "core/shell/redirect_parser.hpp"

#include <algorithm>
#include <array>

#include "core/shell/parse_program.hpp"
#include "core/shell/shell_names.hpp"

namespace hpcml::shell {

namespace {

constexpr std::array<std::string_view, 12> k_operators = {"<<<", "<<-", "<<", "<&", "<>", "<",
                                                          "&>>", "&>",  ">>", ">&", ">|", ">"};

} // namespace

/// How many characters of a number or `{name}` are before a redirection operator here; npos where there is
/// none.
std::size_t RedirectParser::redirect_operator() const {
  std::size_t ahead = 0;
  if (is_digit(at()))
    while (is_digit(at(ahead))) ++ahead;
  else if (at() == '{' && at(1) != '}') {
    ahead = 1;
    while (is_name_char(at(ahead))) ++ahead;
    if (at(ahead) != '}') return std::string::npos;
    ++ahead;
  }
  const char c = at(ahead);
  if (c == '&' && ahead == 0) return at(1) == '>' ? 0 : std::string::npos;
  if (c != '<' && c != '>') return std::string::npos;
  // `<(` is a word; `2<(` is one as well, after the word 2.
  return at(ahead + 1) == '(' ? std::string::npos : ahead;
}

Redirect RedirectParser::parse_redirect() {
  Redirect redirect;
  const auto begin = x_at;
  redirect.fd = x_text.substr(x_at, redirect_operator());
  x_at += redirect.fd.size();
  for (const auto op : k_operators)
    if (sees(op)) {
      redirect.op = op;
      break;
    }
  x_at += redirect.op.size();
  skip_blanks();
  if (redirect.op == "<<" || redirect.op == "<<-") {
    redirect.here_document = std::make_shared<HereDocument>();
    redirect.here_document->strip_tabs = redirect.op == "<<-";
    parse_delimiter(*redirect.here_document);
    x_pending.push_back(redirect.here_document);
  } else
    redirect.target = parse_word();
  redirect.place = place_from(begin);
  return redirect;
}

void RedirectParser::parse_delimiter(HereDocument& document) {
  const auto begin = x_at;
  while (!done() && !at_word_end(Ends::pattern, 0)) {
    const char c = at();
    if (c == '\'' || c == '"') {
      const auto end = x_text.find(c, x_at + 1);
      if (end == std::string::npos) fail("a quote is not closed");
      document.quoted = true;
      document.delimiter += x_text.substr(x_at + 1, end - x_at - 1);
      x_at = end + 1;
      continue;
    }
    if (c == '\\') {
      document.quoted = true;
      ++x_at;
      if (done()) break;
    }
    document.delimiter += at();
    ++x_at;
  }
  if (x_at == begin) unexpected();
}

void RedirectParser::parse_redirects(SyntaxNode& node) {
  skip_blanks();
  while (!done() && redirect_operator() != std::string::npos) {
    node.redirects.push_back(parse_redirect());
    skip_blanks();
  }
}

void RedirectParser::read_here_documents() {
  const auto pending = std::move(x_pending);
  x_pending.clear();
  for (const auto& document : pending) read_here_document(*document);
}

/// x_at is at the start of a line; afterwards after the delimiter's line.
void RedirectParser::read_here_document(HereDocument& document) {
  SourceText body;
  bool joined = false; // a backslash before the line feed makes the next line part of this one
  const auto begin = x_at;
  while (!done()) {
    const auto end = std::min(x_text.find('\n', x_at), x_text.size());
    auto from = x_at;
    if (document.strip_tabs)
      while (from < end && x_text[from] == '\t') ++from;
    x_at = std::min(end + 1, x_text.size());
    const std::string_view line(x_text.data() + from, end - from);
    if (!joined && line == document.delimiter) break;
    for (auto i = from; i < x_at; ++i) {
      const auto place = x_source.place_of(i, i + 1);
      if (const auto* hole = x_source.hole_at(i))
        body.add_hole(hole->reason, place);
      else
        body.add(std::string_view(x_text).substr(i, 1), place);
    }
    const auto last = line.find_last_not_of('\\');
    joined = !document.quoted && (line.size() - (last == std::string::npos ? 0 : last + 1)) % 2 == 1;
  }
  body.places.push_back(x_source.place_of(x_at));
  document.body.place = place_from(begin);
  document.body.parts = parse_here_body(body, document.quoted, x_depth, x_extglob);
}

} // namespace hpcml::shell
