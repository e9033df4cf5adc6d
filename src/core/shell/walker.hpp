// SPDX-License-Identifier: MIT
// Goes through a script's tree as bash would, with what is known instead of values. Only make_view needs it.
#pragma once

#include <functional>

#include "core/shell/state.hpp"
#include "core/shell/view.hpp"

namespace hpcml::shell {

/// Goes through a script as bash would, on all paths, and notes each command in a view.
class ShellInterpreter {
public:
  explicit ShellInterpreter(View& view) : x_view(view) {}
  void walk_script(const Script& script);

private:
  /// The words of one expansion, as they are put together.
  struct Fields {
    std::vector<Argument> words;
    Argument current;
    bool started = false;  ///< `current` is a word even if it is empty
    bool glob = false;     ///< an unquoted sign of a file pattern stands in `current`
    bool no_words = false; ///< an empty list stands in quotes: "${a[@]}"
    bool split = true;
    std::size_t size = 0;
  };

  // control flow: walk_control.cpp
  void walk(const SyntaxNode& node);
  void walk_list(const SyntaxNode& node);
  void walk_chain(const std::vector<SyntaxNode>& nodes, std::size_t first, std::size_t last);
  void walk_pipeline(const SyntaxNode& node);
  void walk_branch(const SyntaxNode& node);
  void walk_choice(const SyntaxNode& node);
  void walk_for(const SyntaxNode& node);
  void walk_arithmetic(const std::string& text, Place place);
  void define_function(const SyntaxNode& node);
  void repeat(Place place, const std::function<void()>& body);
  void in_subshell(const std::function<void()>& body);
  void on_both_paths(const std::function<void()>& body);
  bool use_budget(std::size_t cost);

  // one command: walk_command.cpp
  void walk_simple(const SyntaxNode& node);
  void assign_all(const SyntaxNode& node);
  std::vector<Value> add_declared(const SyntaxNode& node, Command& command);
  void find_program(Command& command) const;
  std::size_t record(Command& command);
  std::vector<RedirectView> expand_redirects(const SyntaxNode& node);
  void act(const SyntaxNode& node, Command& command, std::size_t index);
  void call_function(const FunctionState& function, const Command& command, std::size_t index);
  void with_settings(const Command& command, const std::function<void()>& body);

  // what bash's own commands do to variables: walk_builtins.cpp
  bool run_builtin(const SyntaxNode& node, const Command& command, std::size_t index);
  bool run_flow(std::string_view name, const Command& command);
  void run_declaration(const SyntaxNode& node, const Command& command, const std::string& name);
  void run_set(const Command& command);
  void run_unset(const Command& command);
  void run_reader(const Command& command, const std::string& name);
  void run_trap(const Command& command, std::size_t index);
  void declare(const std::string& name, std::optional<Value> value, const std::string& flags, bool local,
               bool append, Place place);
  void make_local(const std::string& name);
  void assign(const Assignment& assignment);
  Value value_of(const Assignment& assignment);
  void set_value(const std::string& name, Value value, bool append, Place place);
  void set_element(const Assignment& assignment);
  void invalidate_state() { ++x_state.changes; }

  // texts that are scripts: walk_nested.cpp
  void walk_nested(const Command& command, std::size_t index);
  bool walk_shell(const Command& command, std::size_t index, std::size_t shell);
  void note_files(const Command& command);
  void run_text(const SourceText& text, const std::string& how, std::size_t parent,
                const std::function<void()>& prepare);
  void run_here(const SourceText& text, const std::string& how, std::size_t parent, bool inexact);
  void enter_process(const Command& command, bool direct, std::vector<Argument> positional);

  // words: expand.cpp, expand_parameter.cpp
  void expand(const Word& word, std::vector<Argument>& words);
  Argument expand_single(const Word& word);
  void expand_part(const Part& part, Fields& fields, bool first);
  void expand_parts(const std::vector<Part>& parts, Fields& fields);
  void add_known(Fields& fields, const std::string& text, Place place, bool quoted);
  void add_unknown(Fields& fields, const std::string& reason, Place place, bool many);
  void add_argument(Fields& fields, const Argument& word, Place place, bool quoted, bool caveat);
  void end_word(Fields& fields);
  void expand_parameter(const Part& part, Fields& fields);
  bool expand_list(const Part& part, Fields& fields);
  void expand_words(const std::vector<Argument>& words, const Part& part, Fields& fields, bool caveat);
  void expand_default(const Part& part, Fields& fields, const std::optional<Argument>& value,
                      bool known_unset);
  std::optional<Argument> scalar_of(const Parameter& parameter, bool& known_unset) const;
  std::optional<long long> evaluate(std::string_view text) const;
  bool is_stale(std::string_view name) const;

  View& x_view;
  State x_state;
  CommandContext x_context;
  std::optional<std::size_t> x_parent;
  std::vector<std::vector<State>*> x_loops;   ///< where break and continue leave their states
  std::vector<std::vector<State>*> x_returns; ///< where return leaves them
  std::vector<std::unique_ptr<Script>> x_scripts;
  std::vector<const SyntaxNode*> x_functions; ///< in the order of their definitions
  std::set<const SyntaxNode*> x_called;
  std::vector<Value> x_declared; ///< the values of the command that is being followed, `export A=…`
  int x_quiet = 0;               ///< while a loop is followed to see what it changes
  int x_depth = 0;
  std::size_t x_budget = 20'000'000;
};

} // namespace hpcml::shell
