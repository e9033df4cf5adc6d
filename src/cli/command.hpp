// SPDX-License-Identifier: MIT
// What a command is: a name, its flags, an action. One file per command; app.cpp lists them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "hpcml/exit_code.hpp"

namespace CLI {
class App;
}

namespace hpcml::cli {

/// What main hands to every command.
struct Context {
  util::EnvSnapshot env;
  std::vector<std::string> sites_dirs; ///< from --sites-dir, before all other places
  bool colour = false;                 ///< stderr is a terminal and takes_colour()
  std::vector<std::string> argv;       ///< as typed, for the script's head
  std::vector<std::string> program;    ///< words after "--", literally
  bool has_program = false;            ///< there was a "--", also without words after it
  std::vector<std::string> words = {}; ///< hpcml's own, those before "--"
  bool every_flag = true; ///< register also the flags that no word names, for help and for what an error says

  /// Whether a flag has to be registered: each costs time, and a line names few.
  bool wants(std::string_view flag) const;
};

/// Whether a terminal may be written to in colour: not with NO_COLOR, nor where TERM says that it is dumb.
bool takes_colour(const util::EnvSnapshot& env);

/// Each registers its command with the parser, which runs it when it was chosen; `exit_code` gets the result.
/// Each is defined in a file of the command's name. `context` and `exit_code` outlive the parser.
void add_gen(CLI::App& app, Context& context, int& exit_code);
void add_env(CLI::App& app, Context& context, int& exit_code);
void add_watch(CLI::App& app, Context& context, int& exit_code);
void add_internal(CLI::App& app, Context& context, int& exit_code);
void add_check(CLI::App& app, Context& context, int& exit_code);
void add_rules(CLI::App& app, Context& context, int& exit_code);
void add_launch(CLI::App& app, Context& context, int& exit_code);
void add_emulate(CLI::App& app, Context& context, int& exit_code);
void add_sites(CLI::App& app, Context& context, int& exit_code);
void add_affinity(CLI::App& app, Context& context, int& exit_code);
void add_preflight(CLI::App& app, Context& context, int& exit_code);
void add_submit(CLI::App& app, Context& context, int& exit_code);
void add_init(CLI::App& app, Context& context, int& exit_code);
void add_store(CLI::App& app, Context& context, int& exit_code);
void add_config(CLI::App& app, Context& context, int& exit_code);
void add_torchrun(CLI::App& app, Context& context, int& exit_code);
void add_checkpoint(CLI::App& app, Context& context, int& exit_code);
void add_why(CLI::App& app, Context& context, int& exit_code);
void add_doctor(CLI::App& app, Context& context, int& exit_code);
void add_completion(CLI::App& app, Context& context, int& exit_code);
void add_torch(CLI::App& app, Context& context, int& exit_code);
void add_man(CLI::App& app, Context& context, int& exit_code);

/// `hpcml torchrun WORDS…`: its flags are read as torch's torchrun reads them, by no parser of ours.
int run_torchrun(const Context& context, const std::vector<std::string>& words);

/// Prints diagnostics on stderr, with `source` for carets.
void print_diagnostics(const diag::Diagnostics& list, const std::string& source, bool colour);
/// One sentence on stderr: "hpcml: …".
void print_note(const std::string& sentence);
/// Prints a line on stderr with its control characters escaped, as all of these functions do.
void print_line(const std::string& line);
/// Prints readable text on stdout with its control characters escaped; line breaks and tabs stay.
void print_output(const std::string& text);
/// One sentence on stderr: "hpcml: error: …" and the hint.
void print_error(const std::string& message, const std::string& hint, bool colour);
void print_error(const util::Error& error, bool colour);

} // namespace hpcml::cli
