// SPDX-License-Identifier: MIT
// The old script's commands without what the new script does itself: modules, the ranks' variables, the old
// network's settings.
#include <algorithm>
#include <array>

#include "hpcml/rank_env.hpp"
#include "model/gpu_vendor.hpp"
#include "port/porting.hpp"
#include "shell/names.hpp"
#include "util/text.hpp"

namespace hpcml::port {
namespace {

struct Range {
  std::size_t begin = 0, end = 0;
};

/// Variables that hpcml or the new profile sets; of the others those of the old site's network and devices.
bool is_owned(const std::string& name) {
  static constexpr std::array<std::string_view, 8> k_names = {
      "MASTER_ADDR",    "MASTER_PORT",         "OMP_NUM_THREADS",  "SRUN_CPUS_PER_TASK",
      "SLURM_CPU_BIND", "SLURM_CPU_BIND_TYPE", "SINGULARITY_BIND", "APPTAINER_BIND"};
  static constexpr std::array<std::string_view, 9> k_prefixes = {"GLOO_",   "FI_",   "UCX_", "CXI_", "MPICH_",
                                                                 "MIOPEN_", "RCCL_", "OFI_", "NCCL_"};
  if (util::starts_with(name, "NCCL_DEBUG")) return false;
  const auto is_in = [&](const auto& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return is_in(k_names) || is_in(k_rank_variables) || is_in(model::k_visible_devices_variables) ||
         std::any_of(k_prefixes.begin(), k_prefixes.end(),
                     [&](std::string_view prefix) { return util::starts_with(name, prefix); });
}

struct Assigning {
  Range range;
  std::vector<std::string> names;
  bool kept = false;
};

/// A statement of the script's outermost level that does nothing but set variables.
std::optional<Assigning> as_assignment(const shell::Node& node) {
  if (node.kind != shell::Node::Kind::simple || !node.redirects.empty()) return std::nullopt;
  Assigning result;
  result.range = {node.place.offset, node.place.offset + node.place.length};
  const auto word = node.words.empty()                 ? std::string()
                    : node.words.front().parts.empty() ? std::string("?")
                                                       : node.words.front().parts.front().text;
  if (!node.words.empty() && word != "export") return std::nullopt;
  for (const auto& assignment : node.assignments) result.names.push_back(assignment.name);
  for (const auto& assignment : node.declared) result.names.push_back(assignment.name);
  // `export A B` without values says nothing by itself.
  for (std::size_t i = 1; i < node.words.size(); ++i)
    for (const auto& part : node.words[i].parts) result.names.push_back(part.text);
  return result.names.empty() ? std::nullopt : std::optional(result);
}

std::string first_word(const shell::Node& node) {
  if (node.kind != shell::Node::Kind::simple || node.words.empty() || node.words.front().parts.size() != 1)
    return {};
  return node.words.front().parts.front().text;
}

class BodyPorter {
public:
  BodyPorter(Porting& porting, const slurm::ScriptHeader& header, const std::vector<FoundLaunch>& launches)
      : x_porting(porting), x_text(porting.text), x_header(header), x_launches(launches) {}

  model::PortedBody port(const shell::Node& program) {
    cut_header();
    for (const auto& node : program.children) look_at(node);
    cut_assignments();
    return pieces();
  }

private:
  /// The lines that sbatch or nobody reads: the first one and the directives.
  void cut_header() {
    if (util::starts_with(x_text, "#!")) x_cuts.push_back({0, line_end(0)});
    for (const auto& directive : x_header.directives)
      if (!directive.words.empty())
        x_cuts.push_back({line_begin(directive.words.front().place.offset),
                          line_end(directive.words.front().place.offset)});
    cut_empty_directives();
  }

  /// `#SBATCH` alone says nothing.
  void cut_empty_directives() {
    for (std::size_t at = 0; at < x_text.size(); at = line_end(at))
      if (util::trim(x_text.substr(at, line_end(at) - at)) == "#SBATCH") x_cuts.push_back({at, line_end(at)});
  }

  void look_at(const shell::Node& node) {
    const auto word = first_word(node);
    if (word == "module" || word == "ml") {
      keep_versions(node);
      cut(node, "port/module", "is left out: the new site's modules are loaded above",
          "--module NAME loads more");
    } else if (is_activation(node, word)) {
      if (!x_porting.chosen.environment) x_own_environment = true;
      if (x_porting.chosen.environment)
        cut(node, "port/environment", "is left out: the request names an environment", "");
      else
        note(node, "port/environment", "stays: the environment must be at the same place on the new site",
             "--venv, --conda or --container name another");
    } else if (auto assignment = as_assignment(node)) {
      x_assignments.push_back(std::move(*assignment));
    }
  }

  /// A module that the new site's own environments load, too, in the script's version where the site names
  /// none. Only where environments are built in jobs of wheels for each version of Python: elsewhere a
  /// version of another site says little.
  void keep_versions(const shell::Node& node) {
    if (std::none_of(x_porting.to.python.begin(), x_porting.to.python.end(),
                     [](const auto& rule) { return rule.kind == model::PythonWay::wheelhouse; }))
      return;
    std::vector<std::string> usual;
    for (const auto& rule : x_porting.to.modules)
      usual.insert(usual.end(), rule.load.begin(), rule.load.end());
    for (const auto& rule : x_porting.to.python)
      usual.insert(usual.end(), rule.modules.begin(), rule.modules.end());
    const auto base = [](const std::string& name) { return name.substr(0, name.find('/')); };
    for (std::size_t i = 1; i < node.words.size(); ++i) {
      std::string name;
      for (const auto& part : node.words[i].parts) name += part.text;
      const auto same = std::find_if(usual.begin(), usual.end(),
                                     [&](const auto& other) { return base(other) == base(name); });
      if (same == usual.end()) continue;
      const auto taken = same->find('/') == std::string::npos ? name : *same;
      auto& modules = x_porting.result.job.modules;
      if (std::any_of(modules.begin(), modules.end(),
                      [&](const auto& other) { return other.value == taken; }))
        continue;
      modules.push_back({taken, x_porting.origin("a module")});
      note(node, "port/module", "is taken over as " + taken + ", which " + x_porting.to.id + " has, too",
           "see with module avail whether it has this version");
    }
  }

  static bool is_activation(const shell::Node& node, const std::string& word) {
    if (word != "source" && word != "." && word != "conda" && word != "mamba" && word != "micromamba")
      return false;
    if (node.words.size() < 2) return false;
    std::string text;
    for (const auto& part : node.words[1].parts) text += part.text;
    return word == "conda" || word == "mamba" || word == "micromamba"
               ? text == "activate"
               : util::ends_with(text, "/activate") || text == "activate";
  }

  std::string shown(const shell::Node& node) const {
    auto text = std::string(x_text.substr(node.place.offset, node.place.length));
    if (const auto end = text.find('\n'); end != std::string::npos) text = text.substr(0, end) + " …";
    return "'" + text + "'";
  }
  void note(const shell::Node& node, const char* code, const std::string& what, const std::string& hint) {
    x_porting.note(place_of(node.place), code, shown(node) + " " + what, hint);
  }
  void cut(const shell::Node& node, const char* code, const std::string& what, const std::string& hint) {
    note(node, code, what, hint);
    x_cuts.push_back(whole_lines({node.place.offset, node.place.offset + node.place.length}));
  }

  std::size_t line_begin(std::size_t at) const {
    const auto before = at == 0 ? std::string_view::npos : x_text.rfind('\n', at - 1);
    return before == std::string_view::npos ? 0 : before + 1;
  }
  std::size_t line_end(std::size_t at) const {
    const auto end = x_text.find('\n', at);
    return end == std::string_view::npos ? x_text.size() : end + 1;
  }
  /// With the rest of the line where nothing but blanks or a comment stands there.
  Range whole_lines(Range range) const {
    const auto begin = line_begin(range.begin);
    const auto end = line_end(range.end);
    const auto before = util::trim(x_text.substr(begin, range.begin - begin));
    auto behind = util::trim(x_text.substr(range.end, end - range.end));
    if (before.empty() && (behind.empty() || behind.front() == '#')) return {begin, end};
    if (!behind.empty() && behind.front() == ';') range.end = x_text.find(';', range.end) + 1;
    return range;
  }

  bool is_gone(std::size_t at) const {
    const auto holds = [&](const Range& range) { return at >= range.begin && at < range.end; };
    if (std::any_of(x_cuts.begin(), x_cuts.end(), holds)) return true;
    return std::any_of(x_launches.begin(), x_launches.end(), [&](const FoundLaunch& launch) {
      if (at < launch.begin || at >= launch.end) return false;
      // The program's own words stay; they are taken over as they are.
      return !is_written(launch, at);
    });
  }

  /// Whether the new launch still reads what stands at this place of the old one.
  bool is_written(const FoundLaunch& launch, std::size_t at) const {
    if (launch.program_begin < launch.end && at >= launch.program_begin) return true;
    const auto end =
        x_text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789", at);
    const auto name = std::string(x_text.substr(at, end == std::string_view::npos ? end : end - at));
    const auto speaks = [&](const std::vector<std::string>& words) {
      return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        for (auto found = word.find(name); found != std::string::npos; found = word.find(name, found + 1))
          if (found > 0 && (word[found - 1] == '$' || word[found - 1] == '{') &&
              (found + name.size() == word.size() || !shell::is_name_char(word[found + name.size()])))
            return true;
        return false;
      });
    };
    const auto& program = launch.program;
    return speaks(program.source) || speaks(program.step_options) || speaks(program.image_options) ||
           speaks(program.agent_options);
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
      if (expanded && !is_gone(at)) return true;
    }
    return false;
  }
  bool was_read(const std::string& name, const Range& own) const {
    for (auto at = x_text.find("$"); at != std::string_view::npos; at = x_text.find("$", at + 1)) {
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
      for (auto& one : x_assignments) {
        if (one.names.empty()) continue;
        const bool owned = std::all_of(one.names.begin(), one.names.end(), is_owned);
        const bool unread = std::none_of(one.names.begin(), one.names.end(),
                                         [&](const std::string& name) { return is_read(name, one.range); });
        const bool helper = !owned &&
                            std::all_of(one.names.begin(), one.names.end(),
                                        [&](const std::string& name) { return was_read(name, one.range); }) &&
                            is_plumbing(one.range);
        if (!unread && owned) keep_from_ranks(one);
        if (!unread || (!owned && !helper)) continue;
        x_porting.note({one.range.begin, one.range.end - one.range.begin}, "port/variable",
                       util::join(one.names, ", ") +
                           (owned ? " is left out: the new script and its launcher set what this site needs"
                                  : " is left out: nothing reads it any more"),
                       "--env NAME=VALUE sets it all the same");
        x_cuts.push_back(whole_lines(one.range));
        one.names.clear();
        again = true;
      }
    }
  }

  /// A rank's variable that commands of the script read stays theirs: exported it would contradict the
  /// launcher.
  void keep_from_ranks(Assigning& one) {
    static constexpr std::string_view k_export = "export ";
    const auto is_rank = [](const std::string& name) {
      return name == "MASTER_ADDR" || name == "MASTER_PORT" ||
             std::find(k_rank_variables.begin(), k_rank_variables.end(), name) != k_rank_variables.end();
    };
    const auto text = x_text.substr(one.range.begin, one.range.end - one.range.begin);
    if (!std::any_of(one.names.begin(), one.names.end(), is_rank) || !util::starts_with(text, k_export) ||
        one.kept || text.find('=') == std::string_view::npos)
      return;
    one.kept = true;
    x_porting.note(
        {one.range.begin, one.range.end - one.range.begin}, "port/variable",
        util::join(one.names, ", ") +
            " stays for the commands that read it, but is not exported: the launcher sets it for the ranks");
    x_cuts.push_back({one.range.begin, one.range.begin + k_export.size()});
  }

  /// What was there only for what is gone: all but what a command makes that may do more than ask Slurm or
  /// the host.
  bool is_plumbing(const Range& range) const {
    const auto text = x_text.substr(range.begin, range.end - range.begin);
    const auto holds = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
    // What is exported may be there for the program.
    const bool exported = util::starts_with(text, "export");
    if (!exported && !holds("$(") && !holds("`") && !holds("<(")) return true;
    if (exported && (holds("--") || holds("nodes") || holds("host") || holds("_ip") || holds("ip_")))
      return true;
    return holds("scontrol") || holds("hostname") || holds("SLURM_") || holds("srun") || holds("RANDOM") ||
           holds("shuf") || holds("get_free_port") || holds("expr") || holds("MASTER");
  }

  model::PortedBody pieces() {
    std::sort(x_cuts.begin(), x_cuts.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
    model::PortedBody body;
    body.file = x_porting.file;
    body.own_environment = x_own_environment;
    body.pieces.emplace_back();
    std::size_t at = 0;
    const auto take = [&](std::size_t end) {
      for (const auto& range : x_cuts) {
        if (range.end <= at || range.begin >= end) continue;
        if (range.begin > at) body.pieces.back().text += x_text.substr(at, range.begin - at);
        at = std::min(std::max(at, range.end), end);
      }
      if (end > at) body.pieces.back().text += x_text.substr(at, end - at);
      at = std::max(at, end);
    };
    for (const auto& launch : x_launches) {
      take(launch.begin);
      body.pieces.back().launch = launch.program;
      body.pieces.emplace_back();
      at = launch.end;
    }
    take(x_text.size());
    auto& first = body.pieces.front().text;
    first.erase(0, first.find_first_not_of('\n'));
    return body;
  }

  Porting& x_porting;
  std::string_view x_text;
  const slurm::ScriptHeader& x_header;
  const std::vector<FoundLaunch>& x_launches;
  std::vector<Range> x_cuts;
  std::vector<Assigning> x_assignments;
  bool x_own_environment = false;
};

} // namespace

model::PortedBody port_body(Porting& porting, const slurm::ScriptHeader& header, const shell::Node& program,
                            const std::vector<FoundLaunch>& launches) {
  return BodyPorter(porting, header, launches).port(program);
}

} // namespace hpcml::port
