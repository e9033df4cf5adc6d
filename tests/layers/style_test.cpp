// SPDX-License-Identifier: MIT
// Names, width and length of the sources.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "sources.hpp"

namespace fs = std::filesystem;
using namespace hpcml;

namespace {

/// The types that a header declares for all: at the margin, not in a class and not without a body.
std::set<std::string> types_of(const std::string& text) {
  static const std::regex k_type(
      R"re((?:template\s*<[^{;]*>\s*)?(?:class|struct|union|enum class|enum)\s+(?:\[\[\w+\]\]\s*)?([A-Z]\w*)\s*(?:final\s*)?(?::[^{;]*)?\{.*)re");
  static const std::regex k_alias(R"re((?:template\s*<[^{;]*>\s*)?using\s+([A-Z]\w*)\s*=.*)re");
  std::set<std::string> names;
  std::istringstream lines(text);
  std::smatch match;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_match(line, match, k_type) || std::regex_match(line, match, k_alias))
      names.insert(match.str(1));
  return names;
}

/// What a file has at its margin that another of its folder may not have, too, as they are compiled together:
/// types, constants and names for types, each with its namespace; of the last what they stand for, as two may
/// say the same.
std::set<std::string> own_names(const std::string& text) {
  static const std::regex k_namespace(R"re(namespace ([\w:]+) \{)re");
  static const std::regex k_type(R"re((?:class|struct|union|enum class|enum) ([A-Z]\w*)\b(?!::).*\{.*)re");
  static const std::regex k_constant(
      R"re((?:inline |static )?(?:constexpr|const) [^()={]*\b(k_\w+)\b(?!<).*)re");
  static const std::regex k_alias(R"re(using ([A-Z]\w*) = (.*);.*)re");
  std::set<std::string> names;
  std::istringstream lines(text);
  std::smatch match;
  std::string where;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_match(line, match, k_namespace))
      where = match.str(1) + "::";
    else if (std::regex_match(line, match, k_alias))
      names.insert(where + match.str(1) + "=" + match.str(2));
    else if (std::regex_match(line, match, k_type) || std::regex_match(line, match, k_constant))
      names.insert(where + match.str(1));
  return names;
}

constexpr std::ptrdiff_t k_columns = 110;

/// The lines of a source that are too wide, with their widths in characters, but for those of a raw literal.
std::vector<std::pair<unsigned, std::ptrdiff_t>> wide_lines(const std::string& text) {
  const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  static const std::regex k_literal(R"re((^|[^\w])R"(\w*)\()re");
  std::vector<std::pair<unsigned, std::ptrdiff_t>> wide;
  std::istringstream lines(text);
  std::string end; // of the raw literal that is open
  unsigned number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    bool literal = !end.empty();
    std::size_t at = 0;
    for (std::smatch match; at != std::string::npos;) {
      if (end.empty()) {
        if (line.find("R\"", at) == std::string::npos) break;
        const std::string rest = line.substr(at);
        if (!std::regex_search(rest, match, k_literal)) break;
        end = ")" + match.str(2) + "\"";
        at += static_cast<std::size_t>(match.position() + match.length());
        literal = true;
      }
      at = line.find(end, at);
      if (at != std::string::npos) at += end.size(), end.clear();
    }
    const auto width = std::count_if(line.begin(), line.end(), is_start);
    if (!literal && width > k_columns) wide.emplace_back(number, width);
  }
  return wide;
}

} // namespace

TEST_CASE("no two headers give one name to two types") {
  std::map<std::string, std::vector<std::string>> headers;
  for (const auto& file : sources()) {
    if (file.extension() != ".hpp") continue;
    for (const auto& name : types_of(util::read_file(file).value()))
      headers[name].push_back(fs::relative(file, fs::path(HPCML_SOURCE_DIR) / "src").string());
  }
  CHECK(headers.size() > 300); // else they are not recognised
  for (const auto& [name, files] : headers) {
    INFO(name << ": " << util::join(files, ", "));
    CHECK(files.size() == 1);
  }
}

TEST_CASE("types are recognised in all their forms") {
  const auto text = R"(struct A {
class B : public A {
enum class C { x };
template <class T> struct [[nodiscard]] D {
template <class T> class [[nodiscard]] E final : A<T> {
using F = std::vector<A>;
struct G { int x; };
struct Forward;
template <> struct D<int> {
  struct Nested {
using util::Result;
using namespace model;
)";
  CHECK(types_of(text) == std::set<std::string>{"A", "B", "C", "D", "E", "F", "G"});
}

TEST_CASE("no two files of a folder have one name for two types or constants") {
  std::map<std::string, std::set<std::string>> meanings, files; // of a name
  for (const auto& file : sources()) {
    const auto path = relative_path(file);
    for (const auto& name : own_names(util::read_file(file).value())) {
      const auto equals = name.find('=');
      const auto key = directory_of(path) + " " + name.substr(0, equals);
      meanings[key].insert(equals == std::string::npos ? path : name.substr(equals));
      files[key].insert(path);
    }
  }
  CHECK(files.size() > 600); // else they are not recognised
  for (const auto& [name, found] : files) {
    INFO(name << ": " << util::join({found.begin(), found.end()}, ", "));
    CHECK((found.size() == 1 || meanings[name].size() == 1)); // one file may say it for several compilers
  }
}

TEST_CASE("what a file has for itself is recognised, and what is another's, nested or declared is not") {
  const auto text = R"(namespace hpcml::a {
namespace {
constexpr int k_few = 3;
const std::map<std::string, int> k_table = {};
struct Row {
  int k_inner = 1;
class Reader : public Base {
using Names = std::vector<std::string>;
struct Other::State {
struct Later;
constexpr int many() { return 3; }
)";
  CHECK(own_names(text) == std::set<std::string>{"hpcml::a::Names=std::vector<std::string>",
                                                 "hpcml::a::Reader", "hpcml::a::Row", "hpcml::a::k_few",
                                                 "hpcml::a::k_table"});
}

TEST_CASE("lines are short enough to be read side by side") {
  for (const auto* below : {"src", "tests", "include"})
    for (const auto& file : sources(below))
      for (const auto& [number, width] : wide_lines(util::read_file(file).value())) {
        INFO(file.string() << ":" << number);
        CHECK(width <= k_columns);
      }
}

TEST_CASE("wide lines are found, but for those of a raw literal") {
  const std::string wide(k_columns + 1, 'x'), just(k_columns, 'x'),
      umlauts = util::replace_all(just, "x", "ü");
  const auto found = [](const std::string& text) {
    std::vector<unsigned> numbers;
    for (const auto& [number, width] : wide_lines(text)) numbers.push_back(number);
    return numbers;
  };
  CHECK(found(just + "\n" + umlauts + "\n").empty());
  CHECK(found("a\n" + wide + "\n// " + wide) == std::vector<unsigned>{2, 3});
  for (const auto* name : {"", "re"}) { // a text of its own: help, a script
    const auto begin = "R\"" + std::string(name) + "(", end = ")" + std::string(name) + "\"";
    CHECK(found("f(" + begin + wide + "\n" + wide + "\n)\n" + wide + end + ");\n").empty());
    CHECK(found(begin + "x" + end + ";\n" + wide + "\n") == std::vector<unsigned>{2});
  }
}

TEST_CASE("source files stay small enough to read") {
  for (const auto& file : sources()) {
    const auto text = util::read_file(file).value();
    INFO(file.string());
    CHECK(std::count(text.begin(), text.end(), '\n') <= 500);
  }
}
