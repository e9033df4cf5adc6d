// SPDX-License-Identifier: MIT
// hpcml man: the help of commands as pages for man.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <string>

#include "cli/app_tree.hpp"
#include "cli/command.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/torchrun/torchrun_page.hpp"

namespace hpcml::cli {

namespace {

// A command's help as a page for man. Pure.

/// The character at `at` of a text in UTF-8, which goes on behind it.
unsigned take_character(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  unsigned code = first & (first >= 0xF0 ? 0x07U : first >= 0xE0 ? 0x0FU : 0x1FU);
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U)
    code = (code << 6U) | (static_cast<unsigned char>(text[at++]) & 0x3FU);
  return code;
}

/// A line of text as roff prints it: nothing in it is a request.
std::string roff_line(std::string_view text) {
  static constexpr std::string_view c_plain[] = {"\\(aq", "\\(ga", "\\(ha",
                                                 "\\(ti"}; // else they are typographic
  std::string line = text.starts_with(".") || text.starts_with("'") ? "\\&" : "";
  for (std::size_t at = 0; at < text.size();) {
    const auto code = take_character(text, at);
    if (code == '\\')
      line += "\\e";
    else if (code == '-')
      line += "\\-";
    else if (const auto plain = std::string_view("'`^~").find(static_cast<char>(code));
             code < 0x80 && plain != std::string_view::npos)
      line += c_plain[plain];
    else if (code == 0x2026) // which not every terminal has
      line += "...";
    else if (code < 0x80)
      line += static_cast<char>(code);
    else
      line += fmt::format("\\[u{:04X}]", code);
  }
  return line;
}

std::string bold(std::string_view text) { return "\\fB" + roff_line(text) + "\\fR"; }

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

/// "--format FORMAT"; several names have commas between them.
std::string written_option(const CLI::Option& option) {
  if (option.get_positional()) return bold(option.get_name(true));
  std::vector<std::string> names;
  for (const auto& name : option.get_snames()) names.push_back(bold("-" + name));
  for (const auto& name : option.get_lnames()) names.push_back(bold("--" + name));
  auto text = util::join(names, ", ");
  if (option.get_items_expected_max() == 0) return text;
  // "FORMAT:{script,json}"
  const auto type = option.get_type_name();
  const auto colon = type.find(':');
  text += " \\fI" + roff_line(type.substr(0, colon)) + "\\fR";
  if (colon == std::string::npos) return text;
  std::string words; // "{script,json}", "INT in [1 - 8]"
  for (const char c : type.substr(colon + 1))
    if (c != '{' && c != '}') words += c == ',' ? std::string(", ") : std::string(1, c);
  return text + " (" + roff_line(words) + ")";
}

std::string others(const char* word, const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const auto* option : options) names.push_back(bold(option->get_name()));
  std::sort(names.begin(), names.end()); // the parser has them by address
  return names.empty() ? "" : std::string(".br\n") + word + util::join(names, ", ") + ".\n";
}

std::string render_option(const CLI::Option& option) {
  std::string text = ".TP\n" + written_option(option) + "\n" + roff_line(option.get_description()) + "\n";
  if (const auto usual = option.get_default_str(); !usual.empty())
    text += ".br\nUsually " + bold(usual) + ".\n";
  if (option.get_required()) text += ".br\nMust be given.\n";
  return text + others("Only with ", option.get_needs()) + others("Not with ", option.get_excludes());
}

/// Words first, then the flags by their groups, in the order of --help. `heading`: ".SH", or below another
/// ".SS".
std::string render_options(const CLI::App& command, const std::string& heading) {
  std::string text;
  const auto render = [&](const std::string& title, const auto& wanted) {
    std::string part;
    for (const auto* option : command.get_options())
      if (!option->get_group().empty() && wanted(*option)) part += render_option(*option);
    if (!part.empty()) text += (title.empty() ? "" : heading + " \"" + roff_line(title) + "\"\n") + part;
  };
  const bool below = heading.empty();
  render(below ? "" : "ARGUMENTS", [](const CLI::Option& option) { return option.get_positional(); });
  std::vector<std::string> groups;
  for (const auto* option : command.get_options()) util::add_once(groups, option->get_group());
  for (const auto& group : groups) {
    auto title = group;
    std::transform(title.begin(), title.end(), title.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    render(below ? "" : title, [&](const CLI::Option& option) {
      return !option.get_positional() && option.get_group() == group;
    });
  }
  return text;
}

/// Lines that stand as they are.
std::string render_block(const std::vector<std::string>& lines) {
  std::string text = ".nf\n.RS\n";
  for (const auto& line : lines) text += (line.empty() ? "\\&" : roff_line(line)) + "\n";
  return text + ".RE\n.fi\n";
}

/// What stands below a help: examples, and sentences; indented lines stay as they are.
std::string render_footer(const std::string& footer) {
  std::string text;
  std::vector<std::string> block;
  const auto close = [&] {
    if (!block.empty()) text += (text.ends_with("EXAMPLES\n") ? "" : ".PP\n") + render_block(block);
    block.clear();
  };
  bool paragraph = true;
  for (const auto& line : util::split(footer, '\n')) {
    if (line.starts_with("  ")) {
      block.push_back(line.substr(2));
      continue;
    }
    const bool after_block = !block.empty();
    close();
    if (line == "Examples:") {
      text += ".SH EXAMPLES\n";
      continue;
    }
    if (!line.empty() && (paragraph || after_block))
      text += (text.find(".SH") == std::string::npos ? ".SH NOTES\n" : ".PP\n");
    paragraph = line.empty();
    if (!line.empty()) text += roff_line(line) + "\n";
  }
  close();
  return text;
}

std::string render_commands(const CLI::App& app, const CLI::App& command) {
  std::string text;
  for (const auto* sub : commands_of(command)) {
    if (text.empty()) text = ".SH COMMANDS\n";
    const bool is_page = &command == &app;
    text += is_page ? ".TP\n.BR hpcml\\-" + roff_line(sub->get_name()) + " (1)\n"
                    : ".SS \"hpcml " + roff_line(command.get_name() + " " + sub->get_name()) + "\"\n";
    text += roff_line(sub->get_description()) + "\n";
    if (!is_page) text += render_options(*sub, "");
  }
  return text;
}

/// "hpcml check [OPTIONS] FILE"
std::string render_synopsis(const CLI::App& app, const CLI::App& command) {
  auto text = bold(&command == &app ? "hpcml" : "hpcml " + command.get_name()) + " [\\fIOPTIONS\\fR]";
  for (const auto* option : command.get_options())
    if (option->get_positional())
      text += option->get_required() ? " " + option->get_name(true) : " [" + option->get_name(true) + "]";
  if (!commands_of(command).empty())
    text += command.get_require_subcommand_min() > 0 ? " \\fICOMMAND\\fR" : " [\\fICOMMAND\\fR]";
  return text + "\n";
}

std::string see_also(const CLI::App& app, const CLI::App& command) {
  std::string text = ".SH \"SEE ALSO\"\n";
  if (&command != &app) return text + ".BR hpcml (1)\n";
  return text + ".BR sbatch (1),\n.BR srun (1)\n";
}

/// "hpcml", "hpcml-gen"
std::string man_page_name(const CLI::App& app, const CLI::App& command) {
  return &command == &app ? "hpcml" : "hpcml-" + command.get_name();
}

/// The page of the program (`app` itself) or of one of its commands, in roff.
std::string render_man_page(const CLI::App& app, const CLI::App& command) {
  const auto name = man_page_name(app, command);
  auto title = name;
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  const auto about = command.get_description();
  const bool ends = about.ends_with(".");
  std::string text = ".\\\" Written by hpcml man from the command's help.\n.TH " + roff_line(title) +
                     " 1 \"\" \"hpcml " HPCML_VERSION "\" \"hpcml\"\n.SH NAME\n" + roff_line(name) + " \\- " +
                     roff_line(ends ? about.substr(0, about.size() - 1) : about) + "\n.SH SYNOPSIS\n";
  if (command.get_name() == "torchrun") { // its flags are read by no parser of ours
    const auto help = torchrun::render_torchrun_help();
    const auto examples = std::min(help.find("Examples:\n"), help.size());
    return text + bold("hpcml torchrun") + " [\\fIFLAGS\\fR] SCRIPT [ARGS...]\n.SH DESCRIPTION\n" +
           render_block(util::split(std::string(util::trim(help.substr(0, examples))), '\n')) +
           render_footer(help.substr(examples)) + see_also(app, command);
  }
  text += render_synopsis(app, command) + render_commands(app, command) + render_options(command, ".SH");
  if (&command != &app && command.get_footer() == app.get_footer()) return text + see_also(app, command);
  return text + render_footer(command.get_footer()) + see_also(app, command);
}

struct ManOptions {
  std::string command;
  std::string directory;
};

const char* const k_man_footer = R"(Examples:
  hpcml man gen | man -l -           read the page of a command
  hpcml man --write-all .            every page as a file: hpcml.1, hpcml-gen.1, ...)";

std::vector<const CLI::App*> pages_of(const CLI::App& app) {
  auto pages = app.get_subcommands([](const CLI::App*) { return true; });
  pages.insert(pages.begin(), &app);
  return pages;
}

int write_all(const CLI::App& app, const std::string& directory, const Context& context) {
  for (const auto* command : pages_of(app)) {
    const auto written = util::write_output(directory + "/" + man_page_name(app, *command) + ".1",
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
  command->add_option("--write-all", options->directory, "write every page into DIR, which must be there")
      ->type_name("DIR");
  command->footer(k_man_footer);
  command->callback([options, &context, &exit_code] {
    with_app_tree(context, {}, [&](const CLI::App& all, const Context& with) {
      exit_code = options->directory.empty() ? print_page(all, options->command, with)
                                             : write_all(all, options->directory, with);
    });
  });
}

} // namespace hpcml::cli
