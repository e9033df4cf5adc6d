// SPDX-License-Identifier: MIT
// Run when hpcml is built: checks the profiles that are compiled in and writes what is kept of them, as a C++ file.
#include <cstdio>
#include <string>

#include "cli/site_rows.hpp"
#include "cli/sites_table.hpp"
#include "spec/site_store.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

int main(int argc, char** argv) {
  using namespace hpcml;
  if (argc != 2) return 2;
  std::vector<cli::SiteRow> rows;
  int exit_code = 0;
  for (const auto& id : spec::list_sites({})) {
    const auto load = spec::load_site(id, {}, spec::ProfileCheck::all);
    if (load.site) {
      rows.push_back({{id, load.layers, load.site->detect}, cli::sites_row(*load.site)});
      continue;
    }
    exit_code = 1;
    for (const auto& finding : load.diagnostics) std::fprintf(stderr, "%s:%u: %s\n", finding.span.file.c_str(), finding.span.line, finding.message.c_str());
  }
  // One literal a line: compilers limit a literal's length.
  std::string text = "// Generated from the site profiles; do not edit.\n#include \"util/embedded.hpp\"\nstd::string_view hpcml::embedded::site_rows() {\n  return\n";
  for (const auto& row : util::split(cli::render_site_rows(rows), '\n')) text += "R\"row(" + row + (row.empty() ? "" : "\n") + ")row\"\n";
  if (exit_code != 0 || util::write_file(argv[1], text + ";\n}\n")) return exit_code;
  std::fprintf(stderr, "cannot write %s\n", argv[1]);
  return 1;
}
