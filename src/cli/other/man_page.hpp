// SPDX-License-Identifier: MIT
// A command's help as a page for man. Pure.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace hpcml::cli {

/// The page of the program (`app` itself) or of one of its commands, in roff.
std::string render_man_page(const CLI::App& app, const CLI::App& command);
/// "hpcml", "hpcml-gen"
std::string man_page_name(const CLI::App& app, const CLI::App& command);

} // namespace hpcml::cli
