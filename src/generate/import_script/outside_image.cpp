// SPDX-License-Identifier: MIT
#include "generate/import_script/outside_image.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/model/container_engine.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/assignments.hpp"
#include "generate/import_script/image_form.hpp"
#include "generate/import_script/program_text.hpp"

namespace hpcml::import_script {
namespace {

using check::GivenOption;
using check::Link;

bool is_in(std::string_view names, const std::string& name) {
  return names.find(" " + name + " ") != std::string_view::npos;
}

std::string dashed(const GivenOption& option) { return (option.name.size() == 1 ? "-" : "--") + option.name; }

/// The command that the place is in; null if it is in none.
const shell::SyntaxNode* find_command(const shell::SyntaxNode& node, std::size_t at) {
  if (at < node.place.offset || at >= std::size_t{node.place.offset} + node.place.length) return nullptr;
  if (node.kind == shell::SyntaxNode::Kind::simple) return &node;
  for (const auto& child : node.children)
    if (const auto* found = find_command(child, at)) return found;
  return nullptr;
}

/// The character before the place, other than one quote: in "$DIR"/data another path continues.
char char_before(std::string_view text, std::size_t at) {
  if (at == 0) return ' ';
  const char before = text[at - 1];
  const bool quoted = before == '"' || before == '\'';
  return quoted && at > 1 ? text[at - 2] : before;
}

/// Whether the text has the path, or a path below it.
bool names_path(std::string_view text, std::string_view path) {
  for (auto at = text.find(path); at != std::string_view::npos; at = text.find(path, at + 1)) {
    const char before = char_before(text, at);
    const auto end = at + path.size();
    const char after = end < text.size() ? text[end] : '/';
    const auto continues = [](char c) { return shell::is_name_char(c) || c == '-' || c == '.'; };
    if (!continues(before) && before != '/' && before != '}' && before != ')' &&
        (path.ends_with("/") || !continues(after)))
      return true;
  }
  return false;
}

/// Whether the programs run outside of their images.
bool is_outside(const ImportState& porting) {
  return !porting.chosen.environment.empty() && !porting.chosen.container;
}

class ContainerSettings {
public:
  ContainerSettings(ImportState& porting, const shell::SyntaxNode& program, const slurm::ScriptHeader& header)
      : x_porting(porting), x_program(program), x_header(header) {}

  /// Renames the variables of an engine that the new one does not read.
  void rename(FoundLaunch& found) {
    if (found.launch->container()) keep_engine_variables(found);
    if (!found.lines_before.empty()) place_lines(found);
  }

  void keep(FoundLaunch& found) {
    x_binds.clear();
    add_binds_of_header();
    static const auto c_variables = model::engine_variables({"_BIND", "_BINDPATH"});
    for (const auto& name : c_variables)
      if (const auto* value = found.launch->variable(name)) add_binds(value->text());
    const auto* container = found.launch->container();
    if (const auto* step = found.launch->step())
      for (const auto& option : step->options) {
        if (is_bind_option(option.name)) add_binds(option);
        if (option.name == "container-workdir") check_directory(option);
      }
    if (container) {
      for (const auto& link : found.launch->chain)
        if (link.role == check::Role::container) keep_variables(found, link);
      for (const auto& option : container->options) visit(found, *container, option);
      keep_engine_variables(found);
    }
    if (container || !x_binds.empty()) check_paths(found);
    if (!found.lines_before.empty()) place_lines(found);
  }

private:
  void error(diag::TextRange place, std::string message, const std::string& hint) {
    x_porting.error(place, "port/container", std::move(message),
                    x_porting.to.containers.empty() ? hint
                                                    : hint + ", or add --container IMAGE to hpcml gen");
  }

  void visit(FoundLaunch& found, const Link& container, const GivenOption& option) {
    static constexpr std::string_view k_workdirs = " pwd cwd cd container-workdir ";
    static constexpr std::string_view k_others =
        " overlay o mount m fusemount scratch S home H workdir W network entrypoint cleanenv e ";
    static constexpr std::string_view k_oci_directories = " workdir w c ";
    const auto* engine = model::find_engine_program(container.program);
    const bool of_family = engine != nullptr && !engine->family.empty();
    if (is_bind_option(option.name)) return add_binds(option);
    if (option.name == "env-file") return keep_file(found, option, of_family);
    const bool is_directory =
        is_in(k_workdirs, option.name) || (!of_family && is_in(k_oci_directories, option.name));
    if (is_directory && option.value) return check_directory(option);
    const bool sets_variable = option.name == "e" && option.value;
    if (is_in(k_others, option.name) && !sets_variable)
      x_porting.warn(option.place, "port/container",
                     fmt::format("{} option '{}' is removed: the program runs outside of a container on {}",
                                 container.program, dashed(option), x_porting.to.id),
                     "check that the program runs without this option");
  }

  void add_binds_of_header() {
    for (const auto& directive : x_header.directives)
      for (const auto& word : directive.words)
        if (const auto equals = word.text.find('=');
            equals != std::string::npos && equals > 2 && is_bind_option(word.text.substr(2, equals - 2)))
          add_binds(word.text.substr(equals + 1));
  }

  void add_binds(const GivenOption& option) {
    if (option.value) add_binds(option.value->text());
  }

  void add_binds(const std::string& binds) {
    for (const auto& mount : util::split(util::replace_all(binds, ";", ","), ',')) {
      const auto parts = util::split(mount, ':');
      if (parts.size() < 2 || parts[1].size() < 2 || parts[1].front() != '/' || parts[1] == parts[0])
        continue;
      auto target = parts[1];
      while (target.size() > 2 && target.back() == '/') target.pop_back();
      x_binds.push_back(std::move(target));
    }
  }

  /// Variables that the container's options set.
  void keep_variables(FoundLaunch& found, const Link& link) {
    for (const auto& variable : link.sets) add_export(found, variable.name, variable.value, link.place);
  }

  /// Variables with an engine's prefix: APPTAINERENV_NAME.
  void keep_engine_variables(FoundLaunch& found) {
    static const auto c_prefixes = model::engine_variables({"ENV_"});
    const auto& rules = x_porting.to.containers;
    const auto* engine =
        is_outside(x_porting) || rules.empty() ? nullptr : &model::row_of(rules.front().engine);
    const bool renames = engine != nullptr && !engine->family.empty();
    for (const auto& prefix : c_prefixes) {
      // Apptainer reads the variables of Singularity too.
      if (renames && (prefix == "SINGULARITYENV_" || prefix.starts_with(engine->variables))) continue;
      for (const auto& full_name : found.launch->variables(prefix))
        keep_engine_variable(found, full_name,
                             (renames ? "SINGULARITYENV_" : "") + full_name.substr(prefix.size()));
    }
  }

  void keep_engine_variable(FoundLaunch& found, const std::string& full_name, const std::string& name) {
    const auto& own = found.launch->command->own;
    const auto* value = found.launch->variable(full_name);
    const bool is_own =
        std::any_of(own.begin(), own.end(), [&](const auto& variable) { return variable.name == full_name; });
    const diag::TextRange place{found.begin, found.end - found.begin};
    if (name == "PREPEND_PATH" || name == "APPEND_PATH")
      x_porting.warn(place, "port/container",
                     fmt::format("{} has no effect: the program runs outside of a container on {}", full_name,
                                 x_porting.to.id),
                     "use PATH in the script if the program needs these directories");
    else if (is_own && value)
      add_export(found, name, *value, place);
    else if (!is_own && is_kept(name))
      found.lines_before.push_back(fmt::format("export {}=\"${}\"", name, full_name));
  }

  /// Whether the new script does not set the variable itself.
  static bool is_kept(const std::string& name) {
    return !is_owned(name) && !is_rank_variable(name) && !name.starts_with("SLURM_");
  }

  /// Returns the value as text of the script; nothing if it is a value of another shell that is not known.
  static std::optional<std::string> value_text(const FoundLaunch& found, const shell::Argument& value) {
    if (value.known()) return util::shell_quote(value.text());
    return found.launch->command->parent ? std::nullopt : rebuilt(value);
  }

  void add_export(FoundLaunch& found, const std::string& name, const shell::Argument& value,
                  diag::TextRange place) {
    if (!is_kept(name)) return;
    const auto text = value_text(found, value);
    if (text) return found.lines_before.push_back("export " + name + "=" + *text);
    error(place,
          fmt::format("{} of the container is lost: the program runs outside of it on {}, and the value is "
                      "known only when the script runs",
                      name, x_porting.to.id),
          fmt::format("use export {}=VALUE in the script before the program", name));
  }

  void keep_file(FoundLaunch& found, const GivenOption& option, bool is_shell) {
    if (!option.value) return;
    const auto& value = *option.value;
    auto file = value_text(found, value);
    if (!file)
      return error(
          option.place,
          fmt::format("the variables of '{}' are lost: the program runs outside of a container on {}",
                      value.text(), x_porting.to.id),
          "use set -a; . FILE; set +a in the script before the program");
    if (value.text().find('/') == std::string::npos) file = "./" + *file; // not a file of PATH
    found.lines_before.push_back(
        is_shell ? fmt::format("set -a; . {}; set +a", *file)
                 : fmt::format("while IFS= read -r hpcml_line; do [[ $hpcml_line == [A-Za-z_]*=* ]] && "
                               "export \"$hpcml_line\"; done < {}",
                               *file));
  }

  /// The directory in which the program starts is one of the image.
  void check_directory(const GivenOption& option) {
    static constexpr std::array<std::string_view, 6> k_same = {"$PWD",  "${PWD}", "$(pwd)",
                                                               "`pwd`", ".",      "$SLURM_SUBMIT_DIR"};
    const auto text = option.value ? option.value->text() : std::string();
    if (text.empty() || util::contains(k_same, std::string_view(text))) return;
    error(option.place,
          fmt::format("'{} {}' is a directory in the container, but the program runs outside of it on {}",
                      dashed(option), text, x_porting.to.id),
          "remove the option, and use cd DIR in the script");
  }

  /// Files that only the image has, or that a bind puts elsewhere.
  void check_paths(const FoundLaunch& found) {
    static constexpr std::array<std::string_view, 5> k_of_image = {"/opt/", "/app/", "/workspace/",
                                                                   "/usr/local/", "/root/"};
    auto texts = found.program.source;
    texts.insert(texts.end(), found.lines_before.begin(), found.lines_before.end());
    const diag::TextRange place{found.begin, found.end - found.begin};
    for (const auto& text : texts) {
      for (const auto& target : x_binds)
        if (names_path(text, target))
          return error(place,
                       fmt::format("'{}' uses {}, which is a bind of the container, but the program runs "
                                   "outside of it on {}",
                                   shown_command(found), target, x_porting.to.id),
                       "use the directory that is bound in its place");
      for (const auto path : k_of_image)
        if (names_path(text, path) && text.find("export ") != 0)
          return error(place,
                       fmt::format("'{}' uses files below {}, which may exist only in the container, but "
                                   "the program runs outside of it on {}",
                                   shown_command(found), path, x_porting.to.id),
                       "use files outside of the container");
    }
  }

  /// Finds the line before which the settings of the launch can be.
  void place_lines(FoundLaunch& found) {
    const auto* command = find_command(x_program, found.begin);
    const auto text = x_porting.text;
    const auto at = command ? std::size_t{command->place.offset} : found.begin;
    const auto line = text.rfind('\n', at) + 1; // npos + 1 is 0
    const auto indent = text.substr(line, at - line);
    const bool is_first = util::trim(indent).empty() || util::trim(indent) == "time";
    std::vector<std::string> names;
    for (const auto& added : found.lines_before) names.push_back("'" + added + "'");
    if (!is_first || continues_line(text, line))
      return error({found.begin, found.end - found.begin},
                   fmt::format("'{}' loses variables of its container, because it runs outside of it on {}: "
                               "{}",
                               shown_command(found), x_porting.to.id, util::join(names, ", ")),
                   "set them in the script before the program");
    found.lines_at = line;
    const auto spaces = std::string(indent.substr(0, indent.find_first_not_of(" \t")));
    for (auto& added : found.lines_before) added = spaces + added + "\n";
    x_porting.note({found.begin, found.end - found.begin}, "port/container",
                   fmt::format("{} is added before the program: {}", util::join(names, ", "),
                               is_outside(x_porting)
                                   ? "it runs outside of its container on " + x_porting.to.id
                                   : x_porting.to.id + " has another container engine"));
  }

  ImportState& x_porting;
  const shell::SyntaxNode& x_program;
  const slurm::ScriptHeader& x_header;
  std::vector<std::string> x_binds; ///< directories in the container that are others outside of it
};

/// Whether the site runs images with this engine, or with one of its family.
bool has_engine(const model::Site& site, const model::EngineRow& engine) {
  return std::any_of(site.containers.begin(), site.containers.end(), [&](const auto& rule) {
    const auto& row = model::row_of(rule.engine);
    return row.words.name == engine.words.name || (!engine.family.empty() && row.family == engine.family);
  });
}

/// The program whose text starts the engine; null if there is none, or the engine is not in its words.
const FoundLaunch* find_outer(const std::vector<FoundLaunch>& programs, std::size_t at,
                              const std::string& engine) {
  const auto found = std::find_if(programs.begin(), programs.end(), [&](const FoundLaunch& program) {
    const auto text = util::join(program.program.source, " ");
    return at >= program.begin && at < program.end && shell::find_name(text, engine) != std::string::npos;
  });
  return found == programs.end() ? nullptr : &*found;
}

} // namespace

void refuse_hidden_engines(ImportState& porting, const shell::ScriptCommands& listing,
                           const std::vector<FoundLaunch>& programs) {
  if (porting.is_of_new_site()) return;
  for (const auto& command : listing.commands) {
    const auto name = command.parent ? util::base_name(command.name().value_or("")) : std::string();
    const auto* engine = name.empty() ? nullptr : model::find_engine_program(name);
    const auto* outer =
        engine && engine->of_sites ? find_outer(programs, command.place.offset, name) : nullptr;
    if (!outer || has_engine(porting.to, *engine)) continue;
    return porting.error(
        command.place, "port/container",
        fmt::format("the text of '{}' starts the container engine {}, but {} has no {}",
                    shown_command(*outer), name, porting.to.id, name),
        "run hpcml gen --container IMAGE -- COMMAND, without --from and without this engine");
  }
}

void keep_container_settings(ImportState& porting, std::vector<FoundLaunch>& programs,
                             const shell::SyntaxNode& program, const slurm::ScriptHeader& header) {
  ContainerSettings settings(porting, program, header);
  for (auto& found : programs)
    if (is_outside(porting))
      settings.keep(found);
    else
      settings.rename(found);
}

} // namespace hpcml::import_script
