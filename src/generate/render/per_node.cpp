// SPDX-License-Identifier: MIT
// What is done once on every node before the ranks start, and undone at the end: caches, copies of data, and
// an environment of the node.
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/plan/environment.hpp"
#include "generate/plan/staging.hpp"
#include "generate/render/sections.hpp"

namespace hpcml::render {

namespace {

bool has_caches(const model::Plan& plan) { return !plan.launcher.choice.is_hpcml() && !plan.caches.empty(); }
bool has_wheelhouse(const model::Plan& plan) {
  return plan.python.kind == model::PythonEnvironmentKind::wheelhouse;
}
bool is_packed(const model::Plan& plan) { return plan.python.kind == model::PythonEnvironmentKind::packed; }

/// A directory that the script creates on every node.
struct NodeDirectory {
  std::string variable;           ///< of the script, with its path
  std::string path;               ///< as a word
  bool is_exported = false;       ///< the program may read the variable
  bool is_removed = true;         ///< at the end; else Slurm removes it
  std::vector<std::string> below; ///< directories inside, parents first
  Reasons reasons;

  /// `below` inside it, as a word of a command or of an assignment.
  std::string inside(const std::string& path_below, bool is_assigned) const {
    const auto name = path_below.empty() ? std::string() : "/" + path_below;
    if (quote_word(path_below) != path_below && !path_below.empty())
      return "\"$" + variable + "\"/" + quote_word(path_below);
    return is_assigned ? "$" + variable + name : "\"$" + variable + name + "\"";
  }
};

/// True if the request itself sets the variable of a cache.
bool is_chosen(const model::Plan& plan, const std::string& variable) {
  return std::any_of(plan.env.begin(), plan.env.end(),
                     [&](const auto& entry) { return entry.name == variable; });
}

NodeDirectory cache_directory(const model::Plan& plan, std::size_t number) {
  const auto& cache = plan.caches[number];
  NodeDirectory directory;
  directory.variable = number == 0 ? "cache" : fmt::format("cache{}", number + 1);
  for (const auto& [variable, path] : cache.variables) {
    if (!path.empty() || is_chosen(plan, variable)) continue;
    directory.variable = variable;
    directory.is_exported = true;
    break;
  }
  directory.path = quote_path(plan::job_directory(plan.layout, cache.base, cache.name));
  directory.reasons = {{cache.name, cache.origin}};
  std::set<std::string> below; // sorted: a parent comes before what is in it
  for (const auto& [variable, path] : cache.variables)
    if (!is_chosen(plan, variable))
      for (auto end = path.find('/'); !path.empty(); end = path.find('/', end + 1)) {
        below.insert(path.substr(0, end));
        if (end == std::string::npos) break;
      }
  directory.below.assign(below.begin(), below.end());
  return directory;
}

std::vector<NodeDirectory> cache_directories(const model::Plan& plan) {
  std::vector<NodeDirectory> directories;
  if (has_caches(plan))
    for (std::size_t i = 0; i < plan.caches.size(); ++i) directories.push_back(cache_directory(plan, i));
  return directories;
}

std::vector<NodeDirectory> node_directories(const model::Plan& plan) {
  auto directories = cache_directories(plan);
  if (has_wheelhouse(plan) && plan.python.remove)
    directories.push_back(
        {"env", quote_path(plan.python.where), false, true, {}, because(plan.python.origin)});
  if (plan.stage)
    directories.push_back({"HPCML_STAGE", quote_path(plan.stage->directory), true, plan.stage->remove,
                           is_packed(plan) ? std::vector<std::string>{"env"} : std::vector<std::string>{},
                           because(plan.stage->origin)});
  return directories;
}

/// A step that starts the tasks of all ranks, of which only the first of each node may run the command.
bool is_guarded(const model::Plan& plan) {
  return !plan.launcher.by_srun() && plan.launcher.per_node_args.empty() && plan.layout.tasks_per_node > 1;
}

/// What starts a command in each task of the step, or in one task of each node if the launcher can do that.
ScriptWords setup_words(const model::Plan& plan) {
  ScriptWords words{ScriptWord::literal(plan.launcher.step)};
  for (const auto& arg : plan.launcher.per_node_args) words.push_back(ScriptWord::literal(arg));
  if (!plan.launcher.by_srun()) return words;
  if (plan.layout.spare_nodes > 0) {
    words.push_back(ScriptWord::literal(fmt::format("--nodes={}", plan.layout.nodes)));
    words.push_back(ScriptWord::expression("--nodelist=\"$HPCML_RUN_NODES\""));
  }
  if (!has_one_task_per_node(plan))
    words.push_back(ScriptWord::literal(fmt::format("--ntasks={}", plan.layout.nodes)));
  words.push_back(ScriptWord::literal("--ntasks-per-node=1"));
  return words;
}

void add(ScriptWords& words, const ScriptWords& more) { words.insert(words.end(), more.begin(), more.end()); }

/// Shells that let the first task of each node run the command that follows.
ScriptWords guard_words(const model::Plan& plan) {
  if (!is_guarded(plan)) return {};
  const auto shell = [](const std::string& program) {
    return ScriptWords{ScriptWord::literal("bash"), ScriptWord::literal("-c"),
                       ScriptWord::expression(quote_program(program)), ScriptWord::literal("node")};
  };
  const auto& name = plan.launcher.local_rank_variable;
  if (util::is_variable_name(name))
    return shell(fmt::format("[[ {} != 0 ]] || exec \"$@\"", task_variable(plan, name, "")));
  auto words = shell("RANK=" + task_rank(plan) + " exec \"$@\"");
  // Ranks are in blocks, node by node.
  add(words, shell(fmt::format("((${{RANK//[!0-9]/}} % {})) || exec \"$@\"", plan.layout.tasks_per_node)));
  return words;
}

CommandLine on_each_node(const model::Plan& plan, const ScriptWords& command, const Reasons& reasons) {
  auto words = setup_words(plan);
  add(words, guard_words(plan));
  add(words, command);
  return {words, reasons};
}

ScriptWords expressions(const std::vector<std::string>& texts) {
  ScriptWords words;
  for (const auto& text : texts) words.push_back(ScriptWord::expression(text));
  return words;
}

/// Removes at the end what Slurm leaves, also an EDF of the job.
CommandLine cleanup_line(const model::Plan& plan, const std::vector<NodeDirectory>& directories) {
  auto words = setup_words(plan); // each task may remove them
  add(words, literals({"rm", "-rf"}));
  for (const auto& directory : directories)
    if (directory.is_removed) words.push_back(ScriptWord::expression(directory.inside({}, false)));
  const auto edf = plan.container && plan.container->own_edf ? "rm -f \"$edf\"; " : "";
  return {{ScriptWord::literal("trap"),
           ScriptWord::expression(quote_program(edf + join_words(words) + " || true")),
           ScriptWord::literal("EXIT")},
          by_rule("a node's disk belongs to all who use the node; the exit code is the program's")};
}

/// The variables with the directories, the directories themselves, and their removal.
ScriptLines directory_lines(const model::Plan& plan, const std::vector<NodeDirectory>& directories) {
  ScriptLines lines;
  ScriptWords make = literals({"mkdir", "-m", "700"});
  Reasons reasons;
  bool is_removed = false;
  for (const auto& directory : directories) {
    lines.push_back(CommandLine{
        expressions({(directory.is_exported ? "export " : "") + directory.variable + "=" + directory.path}),
        directory.reasons});
    make.push_back(ScriptWord::expression(directory.inside({}, false)));
    for (const auto& below : directory.below)
      make.push_back(ScriptWord::expression(directory.inside(below, false)));
    reasons.insert(reasons.end(), directory.reasons.begin(), directory.reasons.end());
    is_removed = is_removed || directory.is_removed;
  }
  if (is_removed) lines.push_back(cleanup_line(plan, directories));
  auto line = on_each_node(plan, make, reasons);
  if (is_removed) {
    const auto comment = ScriptWord::expression("# fails if present");
    constexpr std::size_t k_columns = 108; // with those that a wrapped line ends with
    if (join_words(line.words).size() + 1 + comment.to_shell().size() <= k_columns)
      line.words.push_back(comment);
    else
      lines.push_back(Comment{"mkdir fails if a directory exists: another user may have made it.",
                              by_rule("other users can also write to the disk of a node")});
  }
  lines.push_back(std::move(line));
  return lines;
}

/// True if Slurm can send files to all nodes that need them: it reads them once and relays them from node to
/// node, but knows no directories and no choice of nodes.
bool can_broadcast(const model::Plan& plan) { return plan.layout.spare_nodes == 0; }

CommandLine broadcast(const std::string& file, const Reasons& reasons) {
  const auto name = util::base_name(file);
  const auto target =
      quote_word(name) == name ? "\"$HPCML_STAGE/" + name + "\"" : "\"$HPCML_STAGE\"/" + quote_word(name);
  return {{ScriptWord::literal("sbcast"), ScriptWord::literal(file), ScriptWord::expression(target)},
          reasons};
}

void add_stage(const model::Plan& plan, ScriptLines& lines) {
  if (!plan.stage) return;
  // -H: what a link in the request points to; -p: times, by which Python knows compiled files.
  ScriptWords copy = literals({"cp", "-rpH", "--"});
  const auto words_before = copy.size();
  Reasons reasons{{"", plan.stage->origin}};
  for (const auto& source : plan.stage->sources) {
    if (plan::is_archive(source.value) && can_broadcast(plan)) {
      lines.push_back(broadcast(source.value, {{source.value, source.origin}}));
      continue;
    }
    copy.push_back(ScriptWord::literal(source.value));
    reasons.push_back({source.value, source.origin});
  }
  if (copy.size() == words_before) return;
  copy.push_back(ScriptWord::expression("\"$HPCML_STAGE\""));
  lines.push_back(on_each_node(plan, copy, reasons));
}

void add_packed(const model::Plan& plan, ScriptLines& lines) {
  if (!is_packed(plan)) return;
  const auto reasons = because(plan.python.origin);
  auto archive = ScriptWord::literal(plan.python.packages.front());
  if (can_broadcast(plan)) {
    lines.push_back(broadcast(plan.python.packages.front(), reasons));
    archive = std::get<CommandLine>(lines.back()).words.back();
  }
  ScriptWords unpack = expressions({"tar -C \"$HPCML_STAGE/env\" -xf"});
  unpack.push_back(archive);
  lines.push_back(on_each_node(plan, unpack, reasons));
  if (can_broadcast(plan)) lines.push_back(on_each_node(plan, {ScriptWord::literal("rm"), archive}, reasons));
  lines.push_back(CommandLine{expressions({"source", "\"$HPCML_STAGE/env/bin/activate\""}), reasons});
  auto words = expressions({"[[ ! -e $HPCML_STAGE/env/bin/conda-unpack ]] ||"});
  add(words, on_each_node(plan, literals({"conda-unpack"}), reasons).words);
  lines.push_back(CommandLine{words, reasons});
}

void add_wheelhouse(const model::Plan& plan, ScriptLines& lines) {
  if (!has_wheelhouse(plan)) return;
  const auto reasons = because(plan.python.origin);
  const auto run = [&](const std::vector<std::string>& words, const ScriptWords& more) {
    auto command = literals(words);
    add(command, more);
    lines.push_back(on_each_node(plan, command, reasons));
  };
  const auto where = plan.python.remove ? std::string("\"$env\"") : quote_path(plan.python.where);
  auto programs = plan.python.remove ? std::string("\"$env/bin\"") : quote_path(plan.python.where + "/bin");
  if (programs.ends_with('"'))
    programs.pop_back();
  else
    programs += '"';
  run({"virtualenv", "--no-download", "--quiet"}, expressions({where}));
  lines.push_back(
      CommandLine{expressions({"export", "VIRTUAL_ENV=" + where, "PATH=" + programs + ":$PATH\""}), reasons});
  run({"pip", "install", "--no-index", "--quiet", "--upgrade", "pip"}, {});
  run({"pip", "install", "--no-index", "--quiet"}, literals(plan.python.packages));
}

} // namespace

ScriptWords per_node_words(const model::Plan& plan) {
  auto words = setup_words(plan);
  if (plan.launcher.by_srun()) words.push_back(ScriptWord::literal("--cpu-bind=none"));
  add(words, guard_words(plan));
  return words;
}

namespace {

/// The line that calls `hpcml internal stage`, and what activates an environment.
void add_stage_command(const model::Plan& plan, ScriptLines& lines) {
  ScriptWords words{ScriptWord::expression("\"$HPCML\" internal stage")};
  Reasons reasons;
  const auto add_option = [&](const char* option, const std::string& value) {
    words.push_back(ScriptWord::literal(option));
    words.push_back(ScriptWord::literal(value));
  };
  if (const auto launcher = node_launcher(plan); !launcher.empty()) add_option("--node-launcher", launcher);
  const auto& python = plan.python;
  if (python.on_each_node()) reasons.push_back({is_packed(plan) ? "--unpack" : "--wheel", python.origin});
  if (is_packed(plan)) add_option("--unpack", python.packages.front());
  for (std::size_t i = 0; has_wheelhouse(plan) && i < python.packages.size(); ++i) {
    const bool is_file = python.packages[i] == "-r" && i + 1 < python.packages.size();
    if (is_file) ++i;
    add_option(is_file ? "--requirements" : "--wheel", python.packages[i]);
  }
  if (plan.stage)
    for (const auto& source : plan.stage->sources) {
      words.push_back(ScriptWord::literal(source.value));
      reasons.push_back({source.value, source.origin});
    }
  const auto comment = ScriptWord::expression("# into $HPCML_STAGE on each node");
  constexpr std::size_t k_columns = 110;
  if (join_words(words).size() + 1 + comment.to_shell().size() <= k_columns) words.push_back(comment);
  lines.push_back(CommandLine{words, reasons});
  if (is_packed(plan))
    lines.push_back(
        CommandLine{expressions({"source", "\"$HPCML_STAGE/env/bin/activate\""}), because(python.origin)});
  if (has_wheelhouse(plan))
    lines.push_back(CommandLine{
        expressions({"export", "VIRTUAL_ENV=$HPCML_STAGE/env", "PATH=$HPCML_STAGE/env/bin:$PATH"}),
        because(python.origin)});
}

} // namespace

std::vector<Export> cache_exports(const model::Plan& plan) {
  std::vector<Export> exports;
  const auto directories = cache_directories(plan);
  for (std::size_t i = 0; i < directories.size(); ++i)
    for (const auto& [variable, below] : plan.caches[i].variables)
      if (!is_chosen(plan, variable) && variable != directories[i].variable)
        exports.push_back(
            {variable, directories[i].inside(below, true), false, directories[i].reasons, true});
  return exports;
}

bool stages_by_hpcml(const model::Plan& plan) {
  return runs_in_batch(plan) && !is_guarded(plan) && (plan.stage || has_wheelhouse(plan));
}

std::string stage_disk(const model::Plan& plan) { return plan.stage ? plan.stage->disk : plan.python.disk; }

std::string node_launcher(const model::Plan& plan) {
  if (plan.launcher.by_srun()) return {};
  auto words = plan.launcher.per_node_args;
  words.insert(words.begin(), plan.launcher.step);
  return util::join(words, " ");
}

bool removes_directories(const model::Plan& plan) {
  const auto directories = stages_by_hpcml(plan) ? cache_directories(plan) : node_directories(plan);
  return std::any_of(directories.begin(), directories.end(),
                     [](const auto& directory) { return directory.is_removed; });
}

ScriptLines make_shell_node_setup(const model::Plan& plan) {
  const auto directories = node_directories(plan);
  ScriptLines lines;
  if (!directories.empty()) lines = directory_lines(plan, directories);
  add_stage(plan, lines);
  add_packed(plan, lines);
  add_wheelhouse(plan, lines);
  return lines;
}

ScriptLines make_node_setup(const model::Plan& plan) {
  if (!stages_by_hpcml(plan)) return make_shell_node_setup(plan);
  const auto directories = cache_directories(plan);
  ScriptLines lines;
  if (!directories.empty()) lines = directory_lines(plan, directories);
  add_stage_command(plan, lines);
  return lines;
}

} // namespace hpcml::render
