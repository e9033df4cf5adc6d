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
#include "cli/help/help_page.hpp"
#include "cli/help/value_checks.hpp"
#include "core/util/choice_hint.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "core/util/wrap_text.hpp"

namespace hpcml::cli {

namespace {

// A command's help as a page for man. Pure.

/// Returns the UTF-8 character at `at`, and moves `at` after it.
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

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

/// "--format FORMAT"; several names have commas between them.
std::string written_option(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const auto& name : option_names(option)) names.push_back(bold(name));
  auto text = util::join(names, ", ");
  if (const auto value = value_name(option); !value.empty() && !option.get_positional())
    text += " \\fI" + roff_line(value) + "\\fR";
  return text;
}

std::string render_option(const CLI::Option& option) {
  auto text = option_text(option);
  std::replace(text.begin(), text.end(), util::k_unbreakable_space, ' ');
  return ".TP\n" + written_option(option) + "\n" + roff_line(text) + "\n";
}

/// The arguments, then the options by their groups, in the order of --help. `heading`: ".SH", or empty in a
/// section of another one. Options that another page describes are named at the end.
std::string render_options(const CLI::App& command, const std::string& heading) {
  std::string text, elsewhere;
  const auto add = [&](const std::string& title, const std::string& part) {
    if (!part.empty() && !heading.empty()) text += heading + " \"" + roff_line(upper(title)) + "\"\n";
    text += part;
  };
  std::string arguments;
  for (const auto* option : positionals_of(command)) arguments += render_option(*option);
  add("Arguments", arguments);
  for (const auto& group : option_groups(command)) {
    std::string part;
    for (const auto* option : group.options)
      if (is_described_elsewhere(command, *option))
        elsewhere += (elsewhere.empty() ? "" : ", ") + bold(option_names(*option).back());
      else
        part += render_option(*option);
    add(group.heading, part);
  }
  if (elsewhere.empty()) return text;
  return text + heading + " \"MORE JOB OPTIONS\"\nDescribed by " +
         bold("hpcml-" + std::string(help_of(command).described_in)) + "(1): " + elsewhere + ".\n";
}

/// Returns lines that are shown unchanged.
std::string render_block(const std::vector<std::string>& lines) {
  std::string text = ".nf\n.RS\n";
  for (const auto& line : lines) text += (line.empty() ? "\\&" : roff_line(line)) + "\n";
  return text + ".RE\n.fi\n";
}

std::string render_examples(const CommandHelp& help) {
  return help.examples.empty() ? "" : ".SH EXAMPLES\n" + render_block(util::split(help.examples, '\n'));
}

/// Paragraphs, and lists whose lines are unchanged.
std::string render_notes(const CLI::App& command, const std::string& heading) {
  std::string text;
  std::vector<std::string> block;
  const auto close_block = [&] {
    if (!block.empty()) text += render_block(block);
    block.clear();
  };
  for (const auto& line : notes_of(command)) {
    if (line.starts_with("  ")) {
      block.push_back(line.substr(2));
      continue;
    }
    close_block();
    if (!line.empty()) text += (text.empty() ? heading : ".PP\n") + roff_line(line) + "\n";
  }
  close_block();
  return text;
}

/// The forms of the command line, a line each.
std::string render_synopsis(const CLI::App& command) {
  std::string text;
  const auto path = command_path(command);
  for (const auto& form : usage_forms(command))
    text += (text.empty() ? "" : ".br\n") + bold(path) + roff_line(form.substr(path.size())) + "\n";
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
    if (is_page) continue;
    text += ".PP\n" + render_synopsis(*sub) + render_options(*sub, "") + render_notes(*sub, ".PP\n") +
            ".PP\nExamples:\n" + render_block(util::split(help_of(*sub).examples, '\n'));
  }
  return text;
}

std::string see_also(const CLI::App& app, const CLI::App& command) {
  std::string text = ".SH \"SEE ALSO\"\n";
  if (&command != &app) return text + ".BR hpcml (1)\n";
  return text + ".BR sbatch (1),\n.BR srun (1)\n";
}

/// The options of every command: described by the page of the program, named by the others.
std::string render_global_options(const CLI::App& app, const CLI::App& command) {
  if (&command == &app) return render_option(*app.get_help_ptr());
  std::string names;
  for (const auto& group : option_groups(app))
    for (const auto* option : group.options)
      if (!option->check_lname("version")) names += bold(option_names(*option).front()) + ", ";
  return ".SH \"GLOBAL OPTIONS\"\n" + names + bold("-h") + ": see\n.BR hpcml (1).\n";
}

/// "hpcml", "hpcml-gen"
std::string man_page_name(const CLI::App& app, const CLI::App& command) {
  return &command == &app ? "hpcml" : "hpcml-" + command.get_name();
}

/// The page of the program (`app` itself) or of one of its commands, in roff.
std::string render_man_page(const CLI::App& app, const CLI::App& command) {
  const auto name = man_page_name(app, command);
  const auto& help = help_of(command);
  return ".\\\" Generated by hpcml man from the help of the command.\n.TH " + roff_line(upper(name)) +
         " 1 \"\" \"hpcml " HPCML_VERSION "\" \"hpcml\"\n.SH NAME\n" + roff_line(name) + " \\- " +
         roff_line(help.summary) + "\n.SH SYNOPSIS\n" + render_synopsis(command) + render_examples(help) +
         render_commands(app, command) + render_options(command, ".SH") +
         render_global_options(app, command) + render_notes(command, ".SH NOTES\n") + see_also(app, command);
}

struct ManOptions {
  std::string command;
  std::string directory;
};

constexpr CommandHelp k_man_help = {
    .summary = "Print the manual page of a command",
    .examples = R"(hpcml man gen | man -l -
# Write every page as a file: hpcml.1, hpcml-gen.1, ...
hpcml man --write-all .)",
};

std::vector<const CLI::App*> pages_of(const CLI::App& app) {
  auto pages = commands_of(app);
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
  print_error(fmt::format("unknown command '{}'", name), util::choice_hint(name, names, "'hpcml --help'"),
              context.colour);
  return k_usage;
}

} // namespace

void add_man(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "man", k_man_help);
  const auto options = std::make_shared<ManOptions>();
  command->add_option("COMMAND", options->command, "Command")->default_str("hpcml itself");
  command->add_option("--write-all", options->directory, "Write every page to DIR, which must exist")
      ->type_name("DIR");
  command->callback([options, &context, &exit_code] {
    with_app_tree(context, {}, [&](const CLI::App& all, const Context& with) {
      exit_code = options->directory.empty() ? print_page(all, options->command, with)
                                             : write_all(all, options->directory, with);
    });
  });
}

} // namespace hpcml::cli
