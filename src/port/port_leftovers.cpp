// SPDX-License-Identifier: MIT
// Paths and variables of the old site in the text that stays: said, each once.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "diag/visible_text.hpp"
#include "port/porting.hpp"
#include "shell/names.hpp"
#include "util/text.hpp"

namespace hpcml::port {
namespace {

/// Folders that every machine has.
bool is_common_folder(const std::string& folder) {
  static constexpr std::array<std::string_view, 16> k_common = {"bin", "boot", "dev",  "etc",  "lib", "lib64",
                                                                "mnt", "opt",  "proc", "root", "run", "sbin",
                                                                "sys", "tmp",  "usr",  "var"};
  return std::find(k_common.begin(), k_common.end(), std::string_view(folder)) != k_common.end();
}

/// Variables that bash, the login or Slurm itself sets.
bool is_common_variable(const std::string& name) {
  static constexpr std::array<std::string_view, 45> k_common = {
      "BASH",         "BASHPID",  "BASH_SOURCE",     "BASH_VERSION",
      "COLUMNS",      "CPATH",    "DISPLAY",         "EDITOR",
      "EPOCHSECONDS", "EUID",     "FUNCNAME",        "GROUPS",
      "HOME",         "HOSTNAME", "HOSTTYPE",        "IFS",
      "LANG",         "LC_ALL",   "LD_LIBRARY_PATH", "LD_PRELOAD",
      "LINENO",       "LOGNAME",  "MACHTYPE",        "MASTER_ADDR",
      "MASTER_PORT",  "OLDPWD",   "OPTARG",          "OPTIND",
      "OSTYPE",       "PATH",     "PIPESTATUS",      "PPID",
      "PS1",          "PWD",      "PYTHONPATH",      "RANDOM",
      "REPLY",        "SECONDS",  "SHELL",           "SHLVL",
      "SRANDOM",      "TERM",     "TMPDIR",          "UID",
      "USER"};
  if (std::find(k_common.begin(), k_common.end(), std::string_view(name)) != k_common.end()) return true;
  if (name.starts_with("SLURMD_")) return true;
  if (name.starts_with("SLURM_")) return name == "SLURM_TMPDIR" ? false : true;
  return name.find("RANK") != std::string::npos || name == "WORLD_SIZE" || name == "LOCAL_WORLD_SIZE";
}

class Leftovers {
public:
  Leftovers(Porting& porting, const model::PortedBody& body) : x_porting(porting) {
    for (const auto& piece : body.pieces) {
      x_kept.push_back(piece.text);
      for (const auto* words :
           {&piece.launch.source, &piece.launch.step_options, &piece.launch.image_options})
        for (const auto& word : *words) x_kept.push_back(word);
      x_kept.push_back(piece.launch.image);
    }
    for (const auto& option : porting.result.job.sbatch) x_kept.push_back(option.value);
    if (porting.result.job.output) x_kept.push_back(porting.result.job.output->value);
  }

  void note() {
    for (const auto& text : x_kept) {
      find_paths(text);
      find_variables(text);
    }
    for (const auto& [folder, path] : x_paths)
      x_porting.note(place_of_text(path), "port/path",
                     path + " is a path of the site that the script was written for (everything below /" +
                         folder + ")",
                     "see that it is there on " + x_porting.to.id + ", or name another one");
    for (const auto& name : x_variables)
      x_porting.note(place_of_text("$" + name), "port/site-variable",
                     "nothing in the script sets " + name +
                         ": a variable of the old site, or of your login there",
                     "--env " + name + "=… sets it on " + x_porting.to.id);
    note_hidden();
    const auto& python = x_porting.to.python;
    const bool wheels = std::any_of(python.begin(), python.end(), [](const auto& rule) {
      return rule.kind == model::PythonWay::wheelhouse;
    });
    if (const auto at = wheels ? std::nullopt : find_kept("--no-index"))
      x_porting.note(*at, "port/wheels",
                     "pip --no-index takes the wheels of the site that the script was written for",
                     "on " + x_porting.to.id +
                         " only where it has such wheels, too; --venv or --conda names an "
                         "environment made there");
  }

private:
  /// Characters that nobody sees in an editor, or that turn the writing: the first of them on each line.
  void note_hidden() const {
    std::size_t last_line = std::string::npos;
    for (std::size_t at = 0; at < x_porting.text.size();) {
      const auto rest = x_porting.text.substr(at);
      const auto c = diag::first_visible(rest);
      const bool blank = rest[0] == '\n' || rest[0] == '\t' || rest[0] == '\r';
      const auto line = x_porting.text.rfind('\n', at);
      if (!blank && c.shown != rest.substr(0, c.length) && line != last_line) {
        last_line = line;
        x_porting.note(
            {at, c.length}, "port/hidden-character",
            "this line has a character that cannot be seen or that turns the direction of writing (" +
                c.shown + "): what runs may not be what you read",
            "take it out where nobody meant it");
      }
      at += c.length;
    }
  }

  /// Lines of comments say nothing to bash.
  static bool in_comment(const std::string& text, std::size_t at) {
    const auto begin = text.rfind('\n', at);
    const auto first = text.find_first_not_of(" \t", begin == std::string::npos ? 0 : begin + 1);
    return first != std::string::npos && first <= at && text[first] == '#';
  }

  void find_paths(const std::string& text) {
    for (auto at = text.find('/'); at != std::string::npos; at = text.find('/', at + 1)) {
      const bool starts = at == 0 || text.find_first_of(" \t\n\"'=:;(,`", at - 1) == at - 1;
      if (!starts || in_comment(text, at) || text.substr(at, 2) == "//") continue;
      auto end = at + 1;
      while (end < text.size() && (shell::is_name_char(text[end]) || text[end] == '-' || text[end] == '.'))
        ++end;
      const auto folder = text.substr(at + 1, end - at - 1);
      if (folder.empty() || end >= text.size() || text[end] != '/' || is_common_folder(folder)) continue;
      if (is_in_image(folder)) continue;
      const auto rest = text.find_first_of(" \t\n\"';:,)`", at);
      auto path = text.substr(at, rest == std::string::npos ? rest : rest - at);
      x_paths.emplace(folder, std::move(path));
    }
  }

  /// Whether a bind that stays puts something there: the path is then one of the image.
  bool is_in_image(const std::string& folder) const {
    const auto& binds = x_porting.result.job.binds;
    return std::any_of(binds.begin(), binds.end(), [&](const auto& bind) {
      const auto target = bind.value.substr(bind.value.find(':') + 1);
      return target == "/" + folder || target.starts_with("/" + folder + "/");
    });
  }

  /// Whether the new site's nodes have such a variable: the place of their own disk.
  bool is_of_new_site(const std::string& name) const {
    const auto& nodes = x_porting.to.node_types;
    return std::any_of(nodes.begin(), nodes.end(), [&](const model::NodeType& node) {
      return node.local_disk && node.local_disk->starts_with("$" + name);
    });
  }

  void find_variables(const std::string& text) {
    for (auto at = text.find('$'); at != std::string::npos; at = text.find('$', at + 1)) {
      const bool brace = at + 1 < text.size() && text[at + 1] == '{';
      auto begin = at + (brace ? 2 : 1);
      auto end = begin;
      while (end < text.size() && shell::is_name_char(text[end])) ++end;
      const auto name = text.substr(begin, end - begin);
      if (name.size() < 2 || !shell::is_name_start(name[0]) || in_comment(text, at)) continue;
      // ${NAME:-…} says itself what happens without it.
      if (brace && end < text.size() && text[end] != '}') continue;
      if (!is_common_variable(name) && !is_set(name) && !is_of_new_site(name)) x_variables.insert(name);
    }
  }

  /// Whether any line of the script gives the variable a value.
  bool is_set(const std::string& name) const {
    const auto text = x_porting.text;
    for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
      const auto end = at + name.size();
      const bool begins =
          at == 0 || (!shell::is_name_char(text[at - 1]) && text[at - 1] != '$' && text[at - 1] != '{');
      const bool ends = end >= text.size() || !shell::is_name_char(text[end]);
      if (begins && ends) return true; // NAME=…, read NAME, for NAME in, printf -v NAME
    }
    return false;
  }

  std::optional<diag::Place> find_kept(std::string_view word) const {
    const bool kept = std::any_of(x_kept.begin(), x_kept.end(), [&](const std::string& text) {
      return text.find(word) != std::string::npos;
    });
    return kept ? std::optional(place_of_text(word)) : std::nullopt;
  }
  diag::Place place_of_text(std::string_view word) const {
    const auto at = x_porting.text.find(word);
    return at == std::string_view::npos ? diag::Place{} : diag::Place{at, word.size()};
  }

  Porting& x_porting;
  std::vector<std::string> x_kept;
  std::map<std::string, std::string> x_paths;
  std::set<std::string> x_variables;
};

} // namespace

void note_leftovers(Porting& porting, const model::PortedBody& body) { Leftovers(porting, body).note(); }

} // namespace hpcml::port
