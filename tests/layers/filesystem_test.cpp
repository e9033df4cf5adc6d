// SPDX-License-Identifier: MIT
// Calls of std::filesystem in src/ report errors by error codes: an exception would be an internal error.
#include <catch2/catch.hpp>

#include <filesystem>
#include <regex>
#include <set>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "sources.hpp"

namespace fs = std::filesystem;
using namespace hpcml;

namespace {

/// The arguments of a call, from behind its opening parenthesis.
std::vector<std::string> arguments_from(const std::string& text, std::size_t at) {
  std::vector<std::string> arguments(1);
  for (int depth = 1; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if ((c == ')' || c == ']' || c == '}') && --depth == 0) break;
    if (c == ',' && depth == 1)
      arguments.emplace_back();
    else
      arguments.back() += c;
  }
  for (auto& argument : arguments) argument = util::trim(argument);
  return arguments;
}

std::set<std::string> error_codes_of(const std::string& text) {
  static const std::regex k_declaration(R"re(std::error_code ((?:\w+(?:, )?)+))re");
  std::set<std::string> names;
  for (std::sregex_iterator match(text.begin(), text.end(), k_declaration), end; match != end; ++match)
    for (const auto& name : util::split((*match)[1].str(), ',')) names.insert(std::string(util::trim(name)));
  return names;
}

/// The calls that throw on an error.
std::vector<std::string> throwing_calls(const std::string& text) {
  static const std::regex k_call(
      R"re(\b(?:fs|filesystem)::(?:(?:exists|is_\w+|create_\w+|remove|remove_all|copy|copy_\w+|rename|file_size|last_write_time|absolute|canonical|weakly_canonical|relative|proximate|current_path|equivalent|read_symlink|space|status|symlink_status|permissions|resize_file|temp_directory_path|hard_link_count)|(?:recursive_)?directory_iterator(?: \w+)?)[({])re");
  static const std::regex k_entry(
      R"re(\b\w*(?:entry|entries)(?:->|\.)(?:is_\w+|exists|file_size|status|symlink_status|last_write_time)\(\))re");
  static const std::regex k_range(
      R"re(for \([^;\n]*: (?:std::)?(?:fs|filesystem)::\w*directory_iterator\()re");
  const auto codes = error_codes_of(text);
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), k_call), end; match != end; ++match) {
    const auto arguments =
        arguments_from(text, static_cast<std::size_t>(match->position() + match->length()));
    const auto& last = arguments.back();
    // The end of an iteration has no argument; what is asked of a status does not throw.
    const bool safe = codes.contains(last) || last.find("status(") != std::string::npos ||
                      (last.empty() && match->str().find("iterator") != std::string::npos);
    if (!safe) found.push_back(match->str());
  }
  for (const auto* pattern : {&k_entry, &k_range})
    for (std::sregex_iterator match(text.begin(), text.end(), *pattern), end; match != end; ++match)
      found.push_back(match->str());
  return found;
}

} // namespace

TEST_CASE("calls of std::filesystem take an error code") {
  std::size_t files = 0;
  for (const auto& file : sources()) {
    const auto text = util::read_file(file).value();
    if (text.find("filesystem") == std::string::npos) continue;
    ++files;
    INFO(file.string() << ": " << util::join(throwing_calls(text), "; "));
    CHECK(throwing_calls(text).empty());
  }
  CHECK(files > 30); // else none are read
}

TEST_CASE("throwing calls of std::filesystem are recognised") {
  const std::string code = "std::error_code error, other;\n";
  for (const char* good :
       {"fs::exists(path, error)", "fs::rename(a, f(b, c), other)", "fs::exists(fs::status(path, error))",
        "fs::directory_iterator entry(path, error), end", "it != fs::directory_iterator()"}) {
    CAPTURE(good);
    CHECK(throwing_calls(code + good).empty());
  }
  for (const char* bad :
       {"fs::exists(path)", "std::filesystem::rename(a, b)", "fs::absolute(path)", "entry->is_directory()",
        "fs::exists(path, unknown)", "for (const auto& e : fs::directory_iterator(path, error))"}) {
    CAPTURE(bad);
    CHECK_FALSE(throwing_calls(code + bad).empty());
  }
}
