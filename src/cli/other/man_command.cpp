// SPDX-License-Identifier: MIT
// hpcml man: the help of commands as pages for man.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/app_tree.hpp"
#include "cli/command.hpp"
#include "cli/other/man_page.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {

namespace {

struct ManOptions {
  std::string command;
  std::string folder;
};

const char* const k_man_footer = R"(Examples:
  hpcml man gen | man -l -           read the page of a command
  hpcml man --write-all .            every page as a file: hpcml.1, hpcml-gen.1, ...)";

std::vector<const CLI::App*> pages_of(const CLI::App& app) {
  auto pages = app.get_subcommands([](const CLI::App*) { return true; });
  pages.insert(pages.begin(), &app);
  return pages;
}

int write_all(const CLI::App& app, const std::string& folder, const Context& context) {
  for (const auto* command : pages_of(app)) {
    const auto written = util::write_output(folder + "/" + man_page_name(app, *command) + ".1",
                                            render_man_page(app, *command), 0644);
    if (written) continue;
    print_error(written.error(), context.colour);
    return k_world_failed;
  }
  return k_ok;
}

int print_page(const CLI::App& app, const std::string& name, const Context& context) {
  std::vector<std::string> names;
  for (const auto* command : pages_of(app)) {
    if (command->get_name() == name || (name.empty() && command == &app)) {
      std::fputs(render_man_page(app, *command).c_str(), stdout);
      return k_ok;
    }
    names.push_back(command->get_name());
  }
  const auto near = util::nearest(name, names);
  print_error("there is no command '" + name + "'",
              near ? "did you mean " + *near + "?" : "hpcml --help names them", context.colour);
  return k_usage;
}

} // namespace

void add_man(CLI::App& app, Context& context, int& exit_code) {
  auto* command = app.add_subcommand("man", "Print the manual page of a command, for man to show.");
  const auto options = std::make_shared<ManOptions>();
  command->add_option("COMMAND", options->command, "the command; without one hpcml itself");
  command->add_option("--write-all", options->folder, "write every page into DIR, which must be there")
      ->type_name("DIR");
  command->footer(k_man_footer);
  command->callback([options, &context, &exit_code] {
    with_app_tree(context, {}, [&](const CLI::App& all, const Context& with) {
      exit_code = options->folder.empty() ? print_page(all, options->command, with)
                                          : write_all(all, options->folder, with);
    });
  });
}

} // namespace hpcml::cli
