// SPDX-License-Identifier: MIT
// The old script's commands without what the new script does itself: modules, the ranks' variables, the old
// network's settings.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <set>

#include "core/launch_chain/unknown_arguments.hpp"
#include "core/model/launcher.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/assignments.hpp"
#include "generate/import_script/import_modules.hpp"
#include "generate/import_script/import_numbers.hpp"
#include "generate/import_script/import_state.hpp"
#include "generate/import_script/launch_input.hpp"
#include "generate/import_script/layout_arithmetic.hpp"
#include "generate/import_script/listed_gpus.hpp"
#include "generate/import_script/python_setup.hpp"
#include "generate/import_script/request_variables.hpp"
#include "generate/import_script/startup_files.hpp"
#include "generate/import_script/visible_devices.hpp"

namespace hpcml::import_script {
namespace {

std::string first_word(const shell::SyntaxNode& node) {
  if (node.kind != shell::SyntaxNode::Kind::simple || node.words.empty() ||
      node.words.front().parts.size() != 1)
    return {};
  return node.words.front().parts.front().text;
}

/// Whether the launch's Python is not the first one in PATH, or may not be: `.venv/bin/python`, `run.sh`.
bool names_python(const model::ImportedLaunch& launch) {
  return !launch.image.empty() || launch.command.empty() ||
         !launch_chain::is_python(launch.command.front()) ||
         launch.command.front().find('/') != std::string::npos;
}

class BodyPorter {
public:
  BodyPorter(ImportState& porting, const slurm::ScriptHeader& header,
             const std::vector<FoundLaunch>& launches)
      : x_porting(porting), x_text(porting.text), x_header(header), x_launches(launches),
        x_cuts(porting.text) {}

  model::ImportedBody port(const shell::SyntaxNode& program, const SizeEvaluator& sizes) {
    cut_header();
    x_porting.keeps_environment = x_porting.chosen.environment.empty() && activates(program);
    x_stops_at_unset = std::any_of(program.children.begin(), program.children.end(), sets_nounset);
    cut_requested_variables(x_porting, x_cuts, program);
    x_drops_package_manager = !x_porting.chosen.environment.empty() && !needs_package_manager(program);
    for (const auto& node : program.children) look_at(node);
    cut_assignments();
    note_exports(x_porting, x_cuts, x_assignments, x_inner);
    for (const auto& launch : x_launches)
      if (!launch.in_batch) cut_device_prefix(x_cuts, x_text, launch.begin);
    keep_environment_path(x_porting, x_cuts, program);
    x_edits = keep_old_numbers(x_porting, x_cuts, x_launches, sizes);
    keep_redirects(x_porting, x_cuts, x_launches, program);
    cut_comments(program);
    auto body = pieces();
    body.may_set_up_python = may_set_up_python(program, x_cuts) ||
                             std::any_of(x_launches.begin(), x_launches.end(), [](const FoundLaunch& launch) {
                               return !launch.is_helper && names_python(launch.program);
                             });
    body.lacks_visible_devices =
        lacks_device_list(x_porting, x_launches) && is_read("CUDA_VISIBLE_DEVICES", {});
    replace_vendor_tools(x_porting, body);
    return body;
  }

private:
  /// Cuts the lines that only sbatch reads, or no program: the first one and the directives.
  void cut_header() {
    if (x_text.starts_with("#!")) x_cuts.cut({0, x_cuts.line_end(0)});
    for (const auto& directive : x_header.directives)
      if (!directive.words.empty())
        x_cuts.cut({x_cuts.line_begin(directive.words.front().place.offset),
                    x_cuts.line_end(directive.words.front().place.offset)});
    cut_empty_directives();
  }

  /// `#SBATCH` alone says nothing.
  void cut_empty_directives() {
    for (std::size_t at = 0; at < x_text.size(); at = x_cuts.line_end(at))
      if (util::trim(x_text.substr(at, x_cuts.line_end(at) - at)) == "#SBATCH")
        x_cuts.cut({at, x_cuts.line_end(at)});
  }

  /// Comments that spoke of nothing but lines that are gone.
  void cut_comments(const shell::SyntaxNode& program) {
    std::vector<ByteRange> code;
    for (const auto& node : program.children)
      code.push_back({node.place.offset, node.place.offset + node.place.length});
    for (const auto& comment : x_cuts.cut_orphans(code))
      x_porting.note(
          {comment.begin, comment.end - comment.begin - 1}, "port/comment",
          fmt::format(
              "comment '{}' is removed with the lines below it, which the script for {} does not need",
              short_line(util::trim(text_of(comment))), x_porting.to.id),
          "check the other messages about these lines for the reasons");
  }

  void look_at(const shell::SyntaxNode& node) {
    const auto word = first_word(node);
    if (word == "module" || word == "ml") {
      port_modules(node);
    } else if (is_activation(node)) {
      auto& intent = x_porting.result.intent;
      intent.environment = x_text.substr(node.place.offset, node.place.length);
      intent.keeps_environment = x_own_environment = x_porting.chosen.environment.empty();
      if (!x_porting.chosen.environment.empty())
        cut_activation(node);
      else
        keep_activation(node);
    } else if (x_drops_package_manager && sets_up_package_manager(node)) {
      cut_activation(node);
    } else if (auto assignment = as_assignment(node)) {
      add_statement(x_assignments, std::move(*assignment));
    } else {
      for (const auto& child : node.children) look_within(child);
    }
  }

  /// Adds a statement with the names that the request does not set.
  void add_statement(std::vector<AssignmentStatement>& list, AssignmentStatement statement) const {
    statement.names = without_requested(x_porting, std::move(statement.names));
    if (!statement.names.empty()) list.push_back(std::move(statement));
  }

  void cut_activation(const shell::SyntaxNode& node) {
    const auto& option = x_porting.chosen.environment;
    x_porting.note(node.place, "port/environment",
                   x_porting.chosen.container
                       ? fmt::format("{} is removed: programs run in the image of {}, which must contain the "
                                     "packages of this environment",
                                     shown(node), option)
                       : fmt::format("{} is removed: {} of the request replaces it", shown(node), option),
                   fmt::format("remove {} from hpcml gen to keep it", option));
    x_cuts.cut_lines({node.place.offset, node.place.offset + node.place.length});
  }

  void keep_activation(const shell::SyntaxNode& node) {
    const auto what = fmt::format("{} stays: the environment must exist at the same path on {}", shown(node),
                                  x_porting.to.id);
    const std::string hint = "use --venv, --conda or --container to name another";
    if (x_porting.is_of_new_site())
      x_porting.note(node.place, "port/environment", what, hint);
    else
      x_porting.warn(node.place, "port/environment", what, hint);
  }

  /// On the site that they were written for the script's modules are its environment; elsewhere they go.
  void port_modules(const shell::SyntaxNode& node) {
    if (x_porting.is_of_new_site() && x_porting.chosen.environment.empty()) {
      for (auto& module : loaded_modules(node)) {
        x_own_environment = true;
        x_modules.push_back(std::move(module));
      }
      return;
    }
    replace_modules(x_porting, node, shown(node));
    x_cuts.cut_lines({node.place.offset, node.place.offset + node.place.length});
  }

  /// Inside `if`, loops, functions and subshells: what is set there may depend on what only the job knows.
  void look_within(const shell::SyntaxNode& node) {
    if (auto assignment = as_assignment(node)) add_statement(x_inner, std::move(*assignment));
    if (const auto modules = loaded_modules(node); !modules.empty() && !x_porting.is_of_new_site())
      x_porting.warn(node.place, "port/module",
                     fmt::format("{} in an if, a loop or a function is kept, but {} may not have module {}",
                                 shown(node), x_porting.to.id, util::join(modules, ", ")),
                     fmt::format("run module avail on {}, and remove the command if the module is missing",
                                 x_porting.to.id));
    for (const auto& child : node.children) look_within(child);
  }

  /// Whether a statement of the outermost level activates an environment.
  static bool activates(const shell::SyntaxNode& program) {
    return std::any_of(program.children.begin(), program.children.end(), is_activation);
  }

  /// Whether a line that stays runs conda or another manager.
  bool needs_package_manager(const shell::SyntaxNode& program) const {
    return std::any_of(program.children.begin(), program.children.end(), [&](const shell::SyntaxNode& node) {
      const bool is_launch =
          std::any_of(x_launches.begin(), x_launches.end(), [&](const FoundLaunch& launch) {
            return node.place.offset <= launch.begin && launch.begin < node.place.offset + node.place.length;
          });
      return !is_launch && !is_activation(node) && !sets_up_package_manager(node) &&
             uses_package_manager(node);
    });
  }

  std::string shown(const shell::SyntaxNode& node) const {
    auto text = std::string(x_text.substr(node.place.offset, node.place.length));
    if (const auto end = text.find('\n'); end != std::string::npos) text = text.substr(0, end) + " …";
    return "'" + text + "'";
  }

  bool is_lost(std::size_t at) const {
    if (x_cuts.holds(at) || x_cuts.in_comment(at)) return true;
    return std::any_of(x_launches.begin(), x_launches.end(), [&](const FoundLaunch& launch) {
      if (launch.in_batch || at < launch.begin || at >= launch.end) return false;
      // The program's own words are kept unchanged.
      return !is_written(launch, at);
    });
  }

  /// True if the new launch contains the text at this place of the old one.
  bool is_written(const FoundLaunch& launch, std::size_t at) const {
    const auto end =
        x_text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789", at);
    const auto name = std::string(x_text.substr(at, end == std::string_view::npos ? end : end - at));
    // Among the program's words also ${#NAME[@]} and $((NAME + 1)); a word of them may be written out.
    const bool of_program = launch.program_begin < launch.end && at >= launch.program_begin;
    const auto speaks = [&](const std::vector<std::string>& words) {
      return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        for (auto found = word.find(name); found != std::string::npos; found = word.find(name, found + 1)) {
          const bool whole =
              (found == 0 || !shell::is_name_char(word[found - 1])) &&
              (found + name.size() == word.size() || !shell::is_name_char(word[found + name.size()]));
          const bool read = found > 0 && (word[found - 1] == '$' || word[found - 1] == '{');
          if (whole && (read || (of_program && word.find('$') != std::string::npos))) return true;
        }
        return false;
      });
    };
    const auto& program = launch.program;
    const std::vector<std::string> image = {program.image};
    const auto agent = program.agent_options.value_or(std::vector<std::string>{});
    const auto lists = {&program.source, &program.step_options, &program.image_options,
                        &image,          &launch.lines_before,  &agent};
    return std::any_of(lists.begin(), lists.end(), [&](const auto* words) { return speaks(*words); });
  }

  /// Whether the name at the place is that of a variable whose value is read.
  bool is_expansion(std::size_t at) const {
    const char before = x_text[at - 1];
    return before == '$' || before == '{' || before == '#' || before == '!' || is_in_arithmetic(x_text, at);
  }

  /// Whether text that stays speaks of the variable.
  bool is_read(const std::string& name, const ByteRange& own) const {
    for (auto at = x_text.find(name); at != std::string_view::npos; at = x_text.find(name, at + 1)) {
      const bool whole =
          (at + name.size() >= x_text.size() || !shell::is_name_char(x_text[at + name.size()])) && at > 0 &&
          !shell::is_name_char(x_text[at - 1]);
      if (!whole || (at >= own.begin && at < own.end)) continue;
      if (is_expansion(at) && !is_lost(at) && !(is_device_list(name) && only_shows(at) && !x_stops_at_unset))
        return true;
    }
    return false;
  }
  /// Whether the line prints a list of devices or counts them: it does so with the new job's list as well.
  bool only_shows(std::size_t at) const {
    const auto begin = x_cuts.line_begin(at);
    const auto line = util::trim(x_text.substr(begin, x_cuts.line_end(at) - begin));
    return line.starts_with("echo ") || line.starts_with("printf ") || counts_gpus(line);
  }
  bool was_read(const std::string& name, const ByteRange& own) const {
    for (auto at = x_text.find('$'); at != std::string_view::npos; at = x_text.find('$', at + 1)) {
      auto begin = at + 1;
      while (begin < x_text.size() && (x_text[begin] == '{' || x_text[begin] == '#' || x_text[begin] == '!'))
        ++begin;
      if (x_text.substr(begin, name.size()) == name &&
          (begin + name.size() >= x_text.size() || !shell::is_name_char(x_text[begin + name.size()])) &&
          !(at >= own.begin && at < own.end))
        return true;
    }
    return false;
  }

  /// Whether the new script or its launcher sets all of the statement's variables. Binds in a variable are
  /// those of the image that was found; a number of threads stays, unless it is that of the old job's cores.
  bool is_replaced(const AssignmentStatement& assigning) const {
    const auto keeps = [&](const auto& statement) { return keeps_threads(text_of(statement.range)); };
    if (text_of(assigning.range).find("OMP_NUM_THREADS") != std::string_view::npos &&
        std::any_of(x_assignments.begin(), x_assignments.end(), keeps))
      return false;
    const bool image = x_porting.result.job.container.has_value();
    return std::all_of(assigning.names.begin(), assigning.names.end(), [&](const std::string& name) {
      return is_owned(name) && (image || !is_of_image(name));
    });
  }

  /// Cuts variables that are no longer read: first those that the new script sets, then those that only they
  /// used.
  void cut_assignments() {
    for (bool again = true; again;) {
      again = false;
      for (auto& assigning : x_assignments) {
        if (assigning.names.empty()) continue;
        const bool owned = is_replaced(assigning);
        const bool unread =
            std::none_of(assigning.names.begin(), assigning.names.end(),
                         [&](const std::string& name) { return is_read(name, assigning.range); });
        const bool helper =
            !owned &&
            std::all_of(assigning.names.begin(), assigning.names.end(),
                        [&](const std::string& name) { return was_read(name, assigning.range); }) &&
            is_plumbing(assigning.range);
        if (!unread || (!owned && !helper)) continue;
        report_cut(assigning, owned);
        x_cuts.cut_lines(assigning.range);
        auto& lost = x_porting.result.intent.lost_variables;
        lost.insert(lost.end(), assigning.names.begin(), assigning.names.end());
        assigning.names.clear();
        again = true;
      }
    }
  }

  void report_cut(const AssignmentStatement& assigning, bool owned) {
    const auto names = util::join(assigning.names, ", ");
    // `export A` after `A=1` is part of the same change.
    if (text_of(assigning.range).find('=') == std::string_view::npos &&
        std::all_of(assigning.names.begin(), assigning.names.end(),
                    [&](const std::string& name) { return x_reported.count(name) > 0; }))
      return;
    x_reported.insert(assigning.names.begin(), assigning.names.end());
    // The launcher does not read these from the job.
    const bool settable =
        std::none_of(assigning.names.begin(), assigning.names.end(),
                     [](const std::string& name) { return is_rank_variable(name) || is_device_list(name); });
    x_porting.note(
        {assigning.range.begin, assigning.range.end - assigning.range.begin}, "port/variable",
        owned ? fmt::format("{} is removed: the script for {} and its launcher set the variables that this "
                            "site needs",
                            names, x_porting.to.id)
              : fmt::format("{} is removed: nothing in the script for {} reads this variable", names,
                            x_porting.to.id),
        settable ? fmt::format("add --env {}=VALUE to hpcml gen to set it anyway", assigning.names.front())
                 : std::string());
  }

  std::string_view text_of(const ByteRange& range) const {
    return x_text.substr(range.begin, range.end - range.begin);
  }

  /// True for statements that only served removed ones: all except values of commands that may do more than
  /// query Slurm or the host.
  bool is_plumbing(const ByteRange& range) const {
    const auto text = text_of(range);
    const auto holds = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
    // The program may read an exported variable.
    const bool exported = text.starts_with("export");
    if (!exported && !holds("$(") && !holds("`") && !holds("<(")) return true;
    if (exported && reads_launcher(text)) return true;
    if (exported && (holds("--") || holds("nodes") || holds("host") || holds("_ip") || holds("ip_")))
      return true;
    static constexpr std::array<std::string_view, 13> k_asking = {
        // and change nothing
        "MASTER",        "RANDOM",   "SLURM_", "basename", "conda info", "dirname", "expr",
        "get_free_port", "hostname", "nproc",  "scontrol", "shuf",       "srun"};
    return std::any_of(k_asking.begin(), k_asking.end(), holds);
  }

  /// Whether it is put together with a variable that names what starts programs: `CMD="$LAUNCHER x.py"`.
  bool reads_launcher(std::string_view text) const {
    return std::any_of(x_assignments.begin(), x_assignments.end(), [&](const AssignmentStatement& assigning) {
      const auto its = text_of(assigning.range);
      const auto reads = [&](const std::string& name) {
        return text.find("$" + name) != std::string_view::npos ||
               text.find("${" + name) != std::string_view::npos;
      };
      return model::starts_launcher(its) &&
             std::any_of(assigning.names.begin(), assigning.names.end(), reads);
    });
  }

  /// The program with the old job's numbers in its arguments.
  model::ImportedLaunch edited(model::ImportedLaunch program) const {
    for (const auto& edit : x_edits)
      for (auto* words : {&program.source, &program.command})
        for (auto& word : *words) word = util::replace_all(word, edit.before, edit.after);
    for (auto* words : {&program.source, &program.command}) drop_device_settings(*words);
    return program;
  }

  /// A launch that stays in the batch script: without its launcher, and with as many GPUs as it had.
  void change_in_batch(const FoundLaunch& launch) {
    if (launch.is_helper) return x_cuts.cut({launch.begin, launch.program_begin});
    const auto& command = *launch.launch->command;
    if (command.parent)
      return limit_batch_gpus(x_porting, x_cuts, {launch.begin, launch.end - launch.begin},
                              command.prefixes.empty());
    // A setting comes before the prefixes of a program, but after time, which is a word of bash.
    const std::size_t timed = !command.prefixes.empty() && command.prefixes.front() == "time" ? 1 : 0;
    const auto begin = std::min<std::size_t>(command.words[timed].place.offset, launch.begin);
    limit_batch_gpus(x_porting, x_cuts, {begin, launch.end - begin}, true);
  }

  model::ImportedBody pieces() {
    model::ImportedBody body;
    body.file = x_porting.file;
    body.own_environment = x_own_environment;
    body.sources_settings = x_porting.sources_settings;
    body.modules = x_modules;
    body.agent_options = x_porting.agent_options;
    body.least_nodes = x_porting.least_nodes;
    body.has_idle_gpus = x_porting.batch_gpus > 0;
    body.pieces.emplace_back();
    for (const auto& launch : x_launches)
      if (launch.in_batch) change_in_batch(launch);
    for (const auto& [begin, length] : x_porting.batch_programs)
      limit_batch_gpus(x_porting, x_cuts, {begin, length}, true);
    std::size_t at = 0;
    for (const auto& launch : x_launches) {
      if (launch.in_batch) continue;
      auto& text = body.pieces.back().text;
      if (!launch.lines_before.empty() && launch.lines_at >= at) {
        text += x_cuts.rest(at, launch.lines_at) + util::join(launch.lines_before, "");
        at = launch.lines_at;
      }
      text += x_cuts.rest(at, launch.begin);
      body.pieces.back().launch = edited(launch.program);
      body.pieces.emplace_back();
      at = std::max(at, launch.end);
    }
    body.pieces.back().text += x_cuts.rest(at, x_text.size());
    auto& first = body.pieces.front().text;
    first.erase(0, first.find_first_not_of('\n'));
    first.insert(0, options_of_first_line() + variables_of_other_schedulers());
    return body;
  }

  /// `set -ex` for `#!/bin/bash -ex`: the new first line is the site's.
  std::string options_of_first_line() const {
    if (!x_text.starts_with("#!")) return {};
    std::string letters;
    const auto words = util::split(std::string(x_text.substr(2, x_cuts.line_end(0) - 2)), ' ');
    for (const auto& word : words)
      if (word.starts_with("-") && !word.starts_with("--"))
        for (const char letter : word)
          if (std::string_view("aefuvx").find(letter) != std::string_view::npos) letters += letter;
    return letters.empty() ? std::string() : "set -" + letters + " # from the old script's first line\n";
  }

  /// What scripts for another scheduler read, by Slurm's variables.
  std::string variables_of_other_schedulers() {
    static constexpr std::pair<std::string_view, std::string_view> k_names[] = {
        {"PBS_O_WORKDIR", "SLURM_SUBMIT_DIR"},
        {"PBS_JOBID", "SLURM_JOB_ID"},
        {"PBS_JOBNAME", "SLURM_JOB_NAME"},
        {"PBS_O_HOST", "SLURM_SUBMIT_HOST"},
        {"PBS_ARRAY_INDEX", "SLURM_ARRAY_TASK_ID"},
        {"PBS_ARRAYID", "SLURM_ARRAY_TASK_ID"},
        {"SGE_O_WORKDIR", "SLURM_SUBMIT_DIR"},
        {"SGE_TASK_ID", "SLURM_ARRAY_TASK_ID"},
        {"LS_SUBCWD", "SLURM_SUBMIT_DIR"},
        {"LSB_JOBID", "SLURM_JOB_ID"},
        {"LSB_JOBINDEX", "SLURM_ARRAY_TASK_ID"},
        {"LSB_JOBNAME", "SLURM_JOB_NAME"},
        {"COBALT_JOBID", "SLURM_JOB_ID"}};
    std::string lines;
    for (const auto& [old, now] : k_names) {
      if (!is_read(std::string(old), {}) || x_text.find(std::string(old) + "=") != std::string_view::npos)
        continue;
      lines += "export " + std::string(old) + "=\"${" + std::string(now) + "-}\"\n";
      x_porting.warn(
          {x_text.find(old), old.size()}, "port/variable",
          fmt::format("the script reads {}, a variable of another scheduler: the script for {} "
                      "sets it to ${}",
                      old, x_porting.to.id, now),
          fmt::format("use ${} in its place, or check that the script accepts Slurm's value", now));
    }
    return lines;
  }

  ImportState& x_porting;
  std::string_view x_text;
  const slurm::ScriptHeader& x_header;
  const std::vector<FoundLaunch>& x_launches;
  TextCuts x_cuts;
  std::vector<AssignmentStatement> x_assignments; ///< of the outermost level
  std::vector<AssignmentStatement> x_inner;       ///< of all others
  std::vector<ArgumentReplacement> x_edits;       ///< of programs' arguments
  bool x_own_environment = false;
  bool x_stops_at_unset = false;        ///< with `set -u` a variable without a value ends the script
  bool x_drops_package_manager = false; ///< the request's environment replaces all that the manager activates
  std::vector<std::string> x_modules;   ///< that stay
  std::set<std::string> x_reported;     ///< variables whose removal is reported
};

} // namespace

model::ImportedBody port_body(ImportState& porting, const slurm::ScriptHeader& header,
                              const shell::SyntaxNode& program, const std::vector<FoundLaunch>& launches,
                              const SizeEvaluator& sizes) {
  return BodyPorter(porting, header, launches).port(program, sizes);
}

} // namespace hpcml::import_script
