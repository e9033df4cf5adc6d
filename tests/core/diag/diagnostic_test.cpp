// SPDX-License-Identifier: MIT
// Findings as people and programs get them.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/diag/visible_text.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
using diag::Diagnostic;
using diag::render_text;
using diag::Severity;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  auto lines = util::split(text, '\n');
  REQUIRE(lines.back().empty());
  lines.pop_back();
  return lines;
}

Diagnostic finding(unsigned line, unsigned column, unsigned length = 1) {
  return {Severity::error, "a/b", "it is wrong", {"f.json", line, column, length}, ""};
}

/// What the terminal shows right above the carets, where every character of the line is one column wide.
std::string above_carets(const std::string& text) {
  const auto lines = lines_of(text);
  REQUIRE(lines.size() >= 3);
  const auto first = lines[2].find('^');
  const auto count = lines[2].size() - first;
  // Count columns, not bytes: continuation bytes of UTF-8 have none.
  std::string above;
  std::size_t column = 0;
  for (std::size_t i = 0; i < lines[1].size(); ++i) {
    const bool continues = (static_cast<unsigned char>(lines[1][i]) & 0xc0U) == 0x80;
    if (!continues) ++column;
    if (column > first && column <= first + count) above += lines[1][i];
  }
  return above;
}

} // namespace

TEST_CASE("A finding says where, what and what to do, with a caret under the value") {
  Diagnostic d{Severity::error, "site/value", "9 is too many", {"x.json", 2, 8, 3}, "take 8"};
  CHECK(render_text(d, "{\n \"n\": 999,\n}\n", false) == "x.json:2:8: error: 9 is too many [site/value]\n"
                                                         "   \"n\": 999,\n"
                                                         "         ^^^\n"
                                                         "  hint: take 8\n");
  d.severity = Severity::warning;
  d.hint.clear();
  CHECK(render_text(d, "", false) == "x.json:2:8: warning: 9 is too many [site/value]\n");
  d.severity = Severity::note;
  CHECK(render_text(d, "", false).starts_with("x.json:2:8: note: "));
}

TEST_CASE("Colour marks the severity and the caret, and nothing without it") {
  auto d = finding(1, 2);
  const auto coloured = render_text(d, "abc", true);
  CHECK(coloured == "f.json:1:2: \033[1;31merror\033[0m: it is wrong [a/b]\n  abc\n   \033[1;31m^\033[0m\n");
  d.severity = Severity::warning;
  CHECK(render_text(d, "abc", true).find("\033[1;33mwarning\033[0m") != std::string::npos);
  CHECK(render_text(d, "abc", false).find('\033') == std::string::npos);
}

TEST_CASE("A finding without a place has none") {
  CHECK(render_text({Severity::error, "usage/x", "no", {}, "yes"}, "text", false) ==
        "error: no [usage/x]\n  hint: yes\n");
  CHECK(render_text({Severity::error, "usage/x", "no", {"f.json", 0, 0, 0}, ""}, "text", false) ==
        "f.json: error: no [usage/x]\n");
}

TEST_CASE("A place at or behind the end of the file stands behind the last character") {
  CHECK(render_text(finding(1, 4), "abc", false) == "f.json:1:4: error: it is wrong [a/b]\n  abc\n     ^\n");
  CHECK(render_text(finding(1, 400), "abc", false) ==
        "f.json:1:400: error: it is wrong [a/b]\n  abc\n     ^\n");
  // An empty last line, a line that is not there and an empty file have nothing to show.
  for (const auto& [line, text] : std::vector<std::pair<unsigned, std::string>>{
           {2, "abc\n"}, {9, "abc\n"}, {1, ""}, {1, "\n"}, {4000000000U, "a\nb"}})
    CHECK(lines_of(render_text(finding(line, 1), text, false)).size() == 1);
}

TEST_CASE("A token that goes on in the next line is marked to the end of its first") {
  CHECK(render_text(finding(1, 3, 50), "ab{\n}\n", false) ==
        "f.json:1:3: error: it is wrong [a/b]\n  ab{\n    ^\n");
}

TEST_CASE("The caret stands under its column also behind tabs and wide or accented letters") {
  struct Row {
    std::string before;
    std::size_t columns; // on a terminal with tab stops every 8 columns
  };
  for (const auto& row : std::vector<Row>{{"", 0},
                                          {"\t", 8},
                                          {"a\t", 8},
                                          {"1234567\t", 8},
                                          {"12345678\t", 16},
                                          {"\t\t", 16},
                                          {"caf\xc3\xa9 ", 5},
                                          {"\xe2\x82\xac", 1},
                                          {"\xe6\x97\xa5\xe6\x9c\xac", 4},
                                          {"\xf0\x9f\x98\x80", 2},
                                          {"e\xcc\x81", 1},
                                          {"\x1b", 4},
                                          {"\xff", 4},
                                          {"\r", 2}}) {
    CAPTURE(row.before);
    const auto d = finding(1, static_cast<unsigned>(row.before.size()) + 1, 3);
    const auto lines = lines_of(render_text(d, row.before + "BAD rest", false));
    REQUIRE(lines.size() == 3);
    CHECK(lines[2] == std::string(2 + row.columns, ' ') + "^^^");
    CHECK(lines[1].find('\t') == std::string::npos);
    CHECK(lines[1].ends_with("BAD rest"));
  }
}

TEST_CASE("A very long line is shown around the caret only") {
  for (const std::size_t before : {0U, 50U, 97U, 98U, 99U, 150U, 5000U, 99990U, 99997U}) {
    for (const auto* filler : {"x", "\xc3\xa9"}) {
      std::string text;
      for (std::size_t i = 0; i < before; ++i) text += filler;
      const auto column = text.size() + 1;
      text += "BAD";
      for (std::size_t i = before; i < 99997; ++i) text += filler;
      CAPTURE(before, filler);
      const auto shown = render_text(finding(1, static_cast<unsigned>(column), 3), text, false);
      CHECK(shown.size() < 400);
      CHECK(above_carets(shown) == "BAD");
      const auto lines = lines_of(shown);
      std::size_t columns = 0;
      for (const char c : lines[1]) columns += (static_cast<unsigned char>(c) & 0xc0U) == 0x80 ? 0 : 1;
      CHECK(columns <= 100);
      CHECK((lines[1].find("\xe2\x80\xa6") != std::string::npos));
    }
  }
  // The mark of a long token stays inside the window, too.
  for (const auto& line : lines_of(render_text(finding(1, 1, 90000), std::string(99999, 'x'), false)))
    CHECK(line.size() <= 104);
  CHECK(lines_of(render_text(finding(1, 90001), std::string(90000, 'x'), false))[2].size() <= 104);
}

TEST_CASE("Nothing in a finding reaches the terminal as a control") {
  const std::string bad = std::string("a\x1b[31m\x07\x08\x7f\r") + '\0' +
                          "\xc2\x9b"
                          "31m \xe2\x80\xae \xe2\x80\x8b \xef\xbb\xbf \xff\xc0\xaf\xed\xa0\x80";
  Diagnostic d{
      Severity::error, "a/" + bad, "message " + bad + "\nsecond", {"file" + bad, 1, 2, 3}, "hint " + bad};
  const auto text = render_text(d, bad, false);
  for (const char c : text) CHECK((static_cast<unsigned char>(c) >= 0x20 || c == '\n') == true);
  for (const auto* hidden :
       {"\x7f", "\xc2\x9b", "\xe2\x80\xae", "\xe2\x80\x8b", "\xef\xbb\xbf", "\xff", "\xc0", "\xed\xa0"})
    CHECK(text.find(hidden) == std::string::npos);
  for (const auto* visible : {"\\x1b[31m", "\\x07", "\\x7f", "\\x00", "\\u{9b}", "\\u{202e}", "\\u{200b}",
                              "\\u{feff}", "\\xff", "\\xc0", "\\nsecond"})
    CHECK(text.find(visible) != std::string::npos);
  CHECK(lines_of(text).size() == 4);
}

TEST_CASE("A message that quotes a whole file is cut") {
  Diagnostic d{Severity::error,
               "a/b",
               "begin " + std::string(1000000, 'x') + " end",
               {},
               "hint " + std::string(100000, 'y') + " over"};
  const auto text = render_text(d, "", false);
  CHECK(text.size() < 3000);
  for (const auto* part : {"begin ", " end [a/b]", "hint ", " over", "[\xe2\x80\xa6]"})
    CHECK(text.find(part) != std::string::npos);
  std::string accents;
  for (int i = 0; i < 5000; ++i) accents += "\xc3\xa9";
  CHECK(render_text({Severity::error, "a/b", "x" + accents, {}, ""}, "", false).find("\\x") ==
        std::string::npos);
}

TEST_CASE("Texts that can be seen are shown as they are") {
  for (const auto* text : {"", "plain", "caf\xc3\xa9", "\xe6\x97\xa5\xe6\x9c\xac", "\xf0\x9f\x98\x80",
                           "a\\x1b", "100 \xc2\xb5s"})
    CHECK(diag::visible_text(text) == text);
  CHECK(diag::visible_text("a\tb\xe2\x81\xa6") == "a\\tb\\u{2066}");
}

TEST_CASE("JSON holds every field and is valid whatever the texts hold") {
  const std::string bad = "q\"\\ \n\t\x1b \xff \xe2\x80\xae caf\xc3\xa9";
  const diag::Diagnostics list{{Severity::error, "a/b", bad, {"f.json", 3, 7, 2}, "do"},
                               {Severity::warning, "c/d", "w", {}, ""},
                               {Severity::note, "e/f", "n", {"g", 0, 0, 0}, bad}};
  const auto json = nlohmann::json::parse(diag::render_json(list));
  REQUIRE(json.size() == 3);
  CHECK(json[0] == nlohmann::json{{"severity", "error"},
                                  {"code", "a/b"},
                                  {"message", "q\"\\ \n\t\x1b \xef\xbf\xbd \xe2\x80\xae caf\xc3\xa9"},
                                  {"file", "f.json"},
                                  {"line", 3},
                                  {"column", 7},
                                  {"hint", "do"},
                                  {"source", ""}});
  CHECK(json[1]["severity"] == "warning");
  CHECK(json[1]["line"] == 0);
  CHECK(json[2]["file"] == "g");
  CHECK(nlohmann::json::parse(diag::render_json({})).empty());
}

TEST_CASE("Findings are put into the order of their places, file by file") {
  const auto at = [](const char* file, unsigned line, unsigned column, const char* code) {
    return Diagnostic{Severity::error, code, "", {file, line, column, 1}, ""};
  };
  diag::Diagnostics list{at("b", 9, 1, "4"), at("a", 2, 2, "6"), at("b", 2, 5, "2"), at("b", 2, 3, "1"),
                         at("a", 1, 9, "5"), at("b", 0, 0, "x"), at("b", 2, 5, "3")};
  diag::sort_by_place(list);
  std::string codes;
  for (const auto& d : list) codes += d.code;
  CHECK(codes == "1234x56");
  CHECK(diag::has_errors(list));
  list[0].severity = Severity::warning;
  list.resize(1);
  CHECK_FALSE(diag::has_errors(list));
  CHECK_FALSE(diag::has_errors({}));
}

TEST_CASE("An offset becomes a line and a column") {
  const std::string text = "ab\n\ncd";
  const auto place = [&](std::size_t offset) {
    const auto location = diag::location_at("f", text, offset, 2);
    return std::pair(location.line, location.column);
  };
  CHECK(place(0) == std::pair(1U, 1U));
  CHECK(place(2) == std::pair(1U, 3U));
  CHECK(place(3) == std::pair(2U, 1U));
  CHECK(place(5) == std::pair(3U, 2U));
  CHECK(place(999) == std::pair(3U, 3U));
  CHECK(diag::location_at("f", "", 0).line == 1);
}
