// SPDX-License-Identifier: MIT
// The shipped templates, filled in by the library and without it.
#include <catch2/catch.hpp>

#include <regex>

#include "core/util/embedded.hpp"
#include "generate/render/template.hpp"

using namespace hpcml;

namespace {

const std::vector<std::string> k_odd_values = {
    "plain", "", "two\nlines\n", " 'a' \"b\" <c> & d ", "{{{no_name}}}", "{{#if}}", "}}}", "$1 \\0 %s"};

/// An odd value for each name in the template; other ones at each turn.
render::TemplateData odd_data(const std::string& text, std::size_t turn) {
  static const std::regex k_name(R"(\{\{\{?[#^/]?(\w+))");
  render::TemplateData data;
  for (std::sregex_iterator it(text.begin(), text.end(), k_name), end; it != end; ++it)
    data.emplace(it->str(1), k_odd_values[(data.size() + turn) % k_odd_values.size()]);
  return data;
}

} // namespace

TEST_CASE("a template of names alone is the same without the library, and any other is left to it") {
  unsigned quick = 0, left = 0;
  for (const auto& file : embedded::template_files()) {
    const std::string text(file.text), name(file.name.substr(0, file.name.rfind('.')));
    const bool sections = text.find("{{#") != std::string::npos || text.find("{{^") != std::string::npos;
    ++(sections ? left : quick);
    for (std::size_t turn = 0; turn < k_odd_values.size(); ++turn) {
      CAPTURE(name, turn);
      const auto data = odd_data(text, turn);
      const auto filled = render::render_names(name, data);
      REQUIRE(filled.has_value() == !sections);
      const auto whole = render::render_by_library(name, data);
      if (filled) CHECK(*filled == whole);
      CHECK(render::render_template(name, data) == whole);
      auto less = data;
      if (sections || less.empty()) continue;
      less.erase(less.begin());
      CHECK_FALSE(render::render_names(name, less));
      CHECK_THROWS_AS(render::render_template(name, less), std::logic_error);
    }
  }
  CHECK(quick >= 3);
  CHECK(left >= 3);
}
