// SPDX-License-Identifier: MIT
// The lines of a script, typed: each type has its own escaper and carries the origins of what it says.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/model/origin.hpp"
#include "generate/render/word.hpp"

namespace hpcml::render {

/// One reason for a line: what it is about ("" = the whole line) and who decided it.
struct LineReason {
  std::string about;
  model::Origin origin;
};
using Reasons = std::vector<LineReason>;
/// The origin alone as the reason of a line.
inline Reasons because(const model::Origin& origin) { return {{"", origin}}; }

/// `#SBATCH --name=value`.
struct Directive {
  std::string name;
  std::optional<std::string> value;
  Reasons reasons;
};

/// `export NAME=value`; an expression is a profile's text with variables, evaluated by this line.
struct Export {
  std::string name;
  std::string value;
  bool expression = false;
  Reasons reasons;
  bool is_shell = false; ///< the value is written as the shell reads it
};

/// `module load NAME` or `module use PATH`.
struct ModuleLine {
  std::string name;
  bool is_path = false;
  Reasons reasons;
};

/// A command, wrapped at 110 columns.
struct CommandLine {
  ScriptWords words;
  Reasons reasons;
};

/// A job step: groups of words, one group per line of the script.
struct JobStepLine {
  std::vector<ScriptWords> groups;
  Reasons reasons;
};

/// A comment for the reader of the script.
struct Comment {
  std::string text;
  Reasons reasons;
};

/// Lines of a template, unchanged.
struct Verbatim {
  std::string text;
  Reasons reasons;
};

using ScriptLine = std::variant<Directive, Export, ModuleLine, CommandLine, JobStepLine, Comment, Verbatim>;
using ScriptLines = std::vector<ScriptLine>;

/// Returns the line as it is written to the script, without the line break at its end.
std::string render_line(const ScriptLine& line);
/// The reasons of a line of any type.
const Reasons& reasons_of(const ScriptLine& line);
/// Exports on as few lines of at most 110 columns as their order allows. The user's variables are on
/// separate lines.
ScriptLines pack_exports(const std::vector<Export>& exports);
/// A reason that is a rule of the product.
Reasons by_rule(std::string rule);

} // namespace hpcml::render
