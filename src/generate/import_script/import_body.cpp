// SPDX-License-Identifier: MIT
// The old script's commands without what the new script does itself: modules, the ranks' variables, the old
// network's settings.
#include <algorithm>
#include <array>

#include "core/model/launcher.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/assignments.hpp"
#include "generate/import_script/import_state.hpp"

namespace hpcml::import_script {
namespace {

std::string first_word(const shell::SyntaxNode& node) {
  if (node.kind != shell::SyntaxNode::Kind::simple || node.words.empty() ||
      node.words.front().parts.size() != 1)
    return {};
  return node.words.front().parts.front().text;
}

class BodyPorter {
public:
  BodyPorter(ImportState& porting, const slurm::ScriptHeader& header,
             const std::vector<FoundLaunch>& launches)
      : x_porting(porting), x_text(porting.text), x_header(header), x_launches(launches),
        x_cuts(porting.text) {}

  model::ImportedBody port(const shell::SyntaxNode& program) {
    cut_header();
    for (const auto& node : program.children) look_at(node);
    cut_assignments();
    note_exports(x_porting, x_cuts, x_assignments, x_inner);
    cut_comments(program);
    return pieces();
  }

private:
  /// The lines that sbatch or nobody reads: the first one and the directives.
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
    std::vector<Range> code;
    for (const auto& node : program.children)
      code.push_back({node.place.offset, node.place.offset + node.place.length});
    for (const auto& comment : x_cuts.cut_orphans(code))
      x_porting.note({comment.begin, comment.end - comment.begin - 1}, "port/comment",
                     "this comment is removed with the lines below it");
  }

  void look_at(const shell::SyntaxNode& node) {
    const auto word = first_word(node);
    if (word == "module" || word == "ml") {
      const bool some = keep_module_versions(x_porting, node, shown(node));
      cut(node, "port/module",
          some ? "loads nothing else: the new script loads the modules of the new site"
               : "is removed: the new script loads the modules of the new site",
          "use --module NAME to load more");
    } else if (is_activation(node, word)) {
      if (!x_porting.chosen.environment) x_own_environment = true;
      if (x_porting.chosen.environment)
        cut(node, "port/environment", "is removed: the request names an environment", "");
      else
        note(node, "port/environment", "stays: the environment must exist at the same path on the new site",
             "use --venv, --conda or --container to name another");
    } else if (auto assignment = as_assignment(node)) {
      x_assignments.push_back(std::move(*assignment));
    } else {
      for (const auto& child : node.children) look_within(child);
    }
  }

  /// Inside `if`, loops, functions and subshells: what is set there may depend on what only the job knows.
  void look_within(const shell::SyntaxNode& node) {
    if (auto assignment = as_assignment(node)) x_inner.push_back(std::move(*assignment));
    for (const auto& child : node.children) look_within(child);
  }

  static bool is_activation(const shell::SyntaxNode& node, const std::string& word) {
    if (word != "source" && word != "." && word != "conda" && word != "mamba" && word != "micromamba")
      return false;
    if (node.words.size() < 2) return false;
    std::string text;
    for (const auto& part : node.words[1].parts) text += part.text;
    return word == "conda" || word == "mamba" || word == "micromamba"
               ? text == "activate"
               : text.ends_with("/activate") || text == "activate";
  }

  std::string shown(const shell::SyntaxNode& node) const {
    auto text = std::string(x_text.substr(node.place.offset, node.place.length));
    if (const auto end = text.find('\n'); end != std::string::npos) text = text.substr(0, end) + " …";
    return "'" + text + "'";
  }
  void note(const shell::SyntaxNode& node, const char* code, const std::string& what,
            const std::string& hint) {
    x_porting.note(node.place, code, shown(node) + " " + what, hint);
  }
  void cut(const shell::SyntaxNode& node, const char* code, const std::string& what,
           const std::string& hint) {
    note(node, code, what, hint);
    x_cuts.cut_lines({node.place.offset, node.place.offset + node.place.length});
  }

  bool is_lost(std::size_t at) const {
    if (x_cuts.holds(at) || x_cuts.in_comment(at)) return true;
    return std::any_of(x_launches.begin(), x_launches.end(), [&](const FoundLaunch& launch) {
      if (at < launch.begin || at >= launch.end) return false;
      // The program's own words stay; they are taken over as they are.
      return !is_written(launch, at);
    });
  }

  /// Whether the new launch still reads what stands at this place of the old one.
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
    return speaks(program.source) || speaks(program.step_options) || speaks(program.image_options) ||
           speaks({program.image}) || speaks(x_porting.agent_options);
  }

  /// Whether text that stays speaks of the variable.
  bool is_read(const std::string& name, const Range& own) const {
    for (auto at = x_text.find(name); at != std::string_view::npos; at = x_text.find(name, at + 1)) {
      const bool whole =
          (at + name.size() >= x_text.size() || !shell::is_name_char(x_text[at + name.size()])) && at > 0 &&
          !shell::is_name_char(x_text[at - 1]);
      if (!whole || (at >= own.begin && at < own.end)) continue;
      const bool expanded =
          x_text[at - 1] == '$' || x_text[at - 1] == '{' || x_text[at - 1] == '#' || x_text[at - 1] == '!';
      if (expanded && !is_lost(at)) return true;
    }
    return false;
  }
  bool was_read(const std::string& name, const Range& own) const {
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

  /// Variables that nothing reads any more go, first those that the new script sets, then what was there for
  /// them only.
  void cut_assignments() {
    for (bool again = true; again;) {
      again = false;
      for (auto& assigning : x_assignments) {
        if (assigning.names.empty()) continue;
        const bool owned = std::all_of(assigning.names.begin(), assigning.names.end(), is_owned);
        const bool unread =
            std::none_of(assigning.names.begin(), assigning.names.end(),
                         [&](const std::string& name) { return is_read(name, assigning.range); });
        const bool helper =
            !owned &&
            std::all_of(assigning.names.begin(), assigning.names.end(),
                        [&](const std::string& name) { return was_read(name, assigning.range); }) &&
            is_plumbing(assigning.range);
        if (!unread || (!owned && !helper)) continue;
        x_porting.note({assigning.range.begin, assigning.range.end - assigning.range.begin}, "port/variable",
                       util::join(assigning.names, ", ") +
                           (owned ? " is removed: the new script and its launcher set what this site needs"
                                  : " is removed: nothing reads it now"),
                       "use --env NAME=VALUE to set it anyway");
        x_cuts.cut_lines(assigning.range);
        assigning.names.clear();
        again = true;
      }
    }
  }

  std::string_view text_of(const Range& range) const {
    return x_text.substr(range.begin, range.end - range.begin);
  }

  /// What was there only for what is gone: all but what a command makes that may do more than ask Slurm or
  /// the host.
  bool is_plumbing(const Range& range) const {
    const auto text = text_of(range);
    const auto holds = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
    // What is exported may be there for the program.
    const bool exported = text.starts_with("export");
    if (!exported && !holds("$(") && !holds("`") && !holds("<(")) return true;
    if (exported && reads_launcher(text)) return true;
    if (exported && (holds("--") || holds("nodes") || holds("host") || holds("_ip") || holds("ip_")))
      return true;
    // Asks only, and changes nothing.
    return holds("dirname") || holds("basename") || holds("nproc") || holds("scontrol") ||
           holds("hostname") || holds("SLURM_") || holds("srun") || holds("RANDOM") || holds("shuf") ||
           holds("get_free_port") || holds("expr") || holds("MASTER");
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

  model::ImportedBody pieces() {
    model::ImportedBody body;
    body.file = x_porting.file;
    body.own_environment = x_own_environment;
    body.agent_options = x_porting.agent_options;
    body.least_nodes = x_porting.least_nodes;
    body.pieces.emplace_back();
    std::size_t at = 0;
    for (const auto& launch : x_launches) {
      body.pieces.back().text += x_cuts.rest(at, launch.begin);
      body.pieces.back().launch = launch.program;
      body.pieces.emplace_back();
      at = std::max(at, launch.end);
    }
    body.pieces.back().text += x_cuts.rest(at, x_text.size());
    auto& first = body.pieces.front().text;
    first.erase(0, first.find_first_not_of('\n'));
    return body;
  }

  ImportState& x_porting;
  std::string_view x_text;
  const slurm::ScriptHeader& x_header;
  const std::vector<FoundLaunch>& x_launches;
  TextCuts x_cuts;
  std::vector<AssignmentStatement> x_assignments; ///< of the outermost level
  std::vector<AssignmentStatement> x_inner;       ///< of all others
  bool x_own_environment = false;
};

} // namespace

model::ImportedBody port_body(ImportState& porting, const slurm::ScriptHeader& header,
                              const shell::SyntaxNode& program, const std::vector<FoundLaunch>& launches) {
  return BodyPorter(porting, header, launches).port(program);
}

} // namespace hpcml::import_script
