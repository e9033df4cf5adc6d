// SPDX-License-Identifier: MIT
// Run when hpcml is built: checks the profiles that are compiled in and writes what is kept of them, as a C++
// file.
#include <cstdio>
#include <fmt/format.h>
#include <string>

#include "cli/know/site_rows.hpp"
#include "cli/know/sites_table.hpp"
#include "core/config/merged_profile.hpp"
#include "core/config/site_store.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace {

/// As pieces of a literal, a line each: compilers limit a piece's length.
std::string as_literal(std::string_view text) {
  std::string literal;
  for (std::size_t i = 0; i < text.size(); i += 64) {
    literal += '"';
    for (const unsigned char byte : text.substr(i, 64)) literal += fmt::format("\\{:03o}", byte);
    literal += "\"\n";
  }
  return literal.empty() ? "\"\"" : literal;
}

} // namespace

int main(int argc, char** argv) {
  using namespace hpcml;
  if (argc != 2) return 2;
  std::vector<cli::SiteRow> rows;
  std::string merged;
  int exit_code = 0;
  for (const auto& id : config::list_sites({})) {
    const auto load = config::load_site(id, {}, config::ProfilesToValidate::all);
    if (load.site) {
      rows.push_back({{id, load.layers, load.site->detect}, cli::sites_row(*load.site)});
      const auto text = config::merge_built_in(id);
      merged += fmt::format("{{\"{}\", {{{}, {}}}}},\n", util::join(load.layers, ","), as_literal(text),
                            text.size());
      continue;
    }
    exit_code = 1;
    for (const auto& finding : load.diagnostics)
      std::fprintf(stderr, "%s:%u: %s\n", finding.location.file.c_str(), finding.location.line,
                   finding.message.c_str());
  }
  const auto text = fmt::format(
      "// Generated from the site profiles; do not edit.\n#include \"core/util/embedded.hpp\"\nnamespace "
      "hpcml::embedded {{\n"
      "std::string_view site_rows() {{ return {}; }}\nnamespace {{ constexpr EmbeddedFile k_merged[] = "
      "{{\n{}}}; }}\n"
      "std::span<const EmbeddedFile> merged_sites() {{ return k_merged; }}\n}}\n",
      as_literal(cli::render_site_rows(rows)), merged);
  if (exit_code != 0 || util::write_file(argv[1], text)) return exit_code;
  std::fprintf(stderr, "cannot write %s\n", argv[1]);
  return 1;
}
