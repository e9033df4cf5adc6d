// SPDX-License-Identifier: MIT
// Paths and variables of the old site in the text that stays: said, each once.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>

#include "core/diag/visible_text.hpp"
#include "core/model/site_queries.hpp"
#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"
#include "core/util/user_path.hpp"
#include "generate/import_script/import_state.hpp"

namespace hpcml::import_script {
namespace {

/// True for directories that every machine has.
bool is_common_directory(const std::string& directory) {
  static constexpr std::array<std::string_view, 16> k_common = {"bin", "boot", "dev",  "etc",  "lib", "lib64",
                                                                "mnt", "opt",  "proc", "root", "run", "sbin",
                                                                "sys", "tmp",  "usr",  "var"};
  return std::find(k_common.begin(), k_common.end(), std::string_view(directory)) != k_common.end();
}

/// Notes of a kind: a script with more has more than a reader takes in.
constexpr std::size_t k_most_notes = 200;

constexpr std::string_view k_devices = "CUDA_VISIBLE_DEVICES";

/// Finds whether places of a text are in comments; the places must be asked for in ascending order.
class CommentFinder {
public:
  explicit CommentFinder(std::string_view text) : x_text(text) { read_line(0); }
  bool holds(std::size_t at) {
    while (x_end < at) read_line(x_end + 1);
    return x_first <= at && x_first < x_text.size() && x_text[x_first] == '#';
  }

private:
  void read_line(std::size_t begin) {
    x_end = std::min(x_text.find('\n', begin), x_text.size());
    x_first = x_text.find_first_not_of(" \t", begin);
  }
  std::string_view x_text;
  std::size_t x_first = 0; ///< the first character of the line that is not a space or tab
  std::size_t x_end = 0;   ///< of the line
};

/// The names in a text that are not expansions: NAME=…, read NAME, for NAME in, printf -v NAME.
std::set<std::string_view> find_plain_names(std::string_view text) {
  std::set<std::string_view> names;
  for (std::size_t at = 0; at < text.size();) {
    auto end = at;
    while (end < text.size() && shell::is_name_char(text[end])) ++end;
    const bool expanded = at > 0 && (text[at - 1] == '$' || text[at - 1] == '{');
    if (end > at && !expanded) names.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

/// Words of lines that build or activate a Python environment.
constexpr std::array<std::string_view, 4> k_setup_words = {"virtualenv", "venv ", "pip", "activate"};

class Leftovers {
public:
  Leftovers(ImportState& porting, const model::ImportedBody& body, const std::vector<model::Site>& catalogue)
      : x_porting(porting), x_set(find_plain_names(porting.text)) {
    for (const auto& site : catalogue)
      for (const auto& node : site.node_types)
        if (const auto name = util::leading_variable(node.local_disk.value_or("")); !name.empty())
          x_disk_variables.insert(std::string(name)); // one that all sites set is never reported
    for (const auto& piece : body.pieces) {
      x_kept.push_back(piece.text);
      for (const auto* words :
           {&piece.launch.source, &piece.launch.step_options, &piece.launch.image_options})
        for (const auto& word : *words) x_kept.push_back(word);
      x_kept.push_back(piece.launch.image);
    }
    if (body.lacks_visible_devices) {
      x_set.insert(k_devices);
      porting.note(place_of_variable(std::string(k_devices)), "port/gpus",
                   fmt::format("{} is set to the GPUs of the job in the script for {}, whose jobs do not set "
                               "it",
                               k_devices, porting.to.id));
    }
    for (const auto& option : porting.result.job.sbatch) x_kept.push_back(option.value);
    if (porting.result.job.output) x_kept.push_back(porting.result.job.output->value);
  }

  void note() {
    for (const auto& text : x_kept) {
      find_paths(text);
      find_variables(text);
    }
    if (!x_porting.is_of_new_site()) report_names();
    note_suffixes();
    warn_of_numbers();
    warn_of_vendor();
    note_hidden();
    const bool wheels = model::has_python(x_porting.to, model::PythonPackageSource::wheelhouse);
    if (const auto at = wheels ? std::nullopt : find_kept("--no-index"))
      x_porting.note(
          *at, "port/wheels",
          fmt::format("pip --no-index in the script needs local wheels, and the profile of {} has none",
                      x_porting.to.id),
          "add --venv PATH or --conda NAME to hpcml gen, or remove --no-index from the script");
  }

private:
  /// Paths and variables that only the old site may have.
  void report_names() const {
    for (const auto& [directory, path] : x_paths)
      if (const auto* old = file_system_of(path))
        x_porting.warn(
            place_of_text(path), "port/path",
            fmt::format("path '{}'{} is in {}, a file system of {} that the profile of {} does not "
                        "have",
                        path, more_lines("/" + directory + "/"), *old, x_porting.source_name(),
                        x_porting.to.id),
            fmt::format("copy the data to {}, and change the path in the script", x_porting.to.id));
      else
        x_porting.note(place_of_text(path), "port/path",
                       fmt::format("path '{}' (and any other below /{}{}) is kept, but may not exist on {}",
                                   path, directory, more_lines("/" + directory + "/"), x_porting.to.id),
                       "check that the path exists there, or use another one in the script");
    const auto is_set = [&](const std::string& name) { // in front of the script's own text
      return x_porting.chosen.variables.count(name) > 0 ||
             (!x_kept.empty() && x_kept.front().find("export " + name + "=") != std::string::npos);
    };
    for (const auto& name : x_variables)
      if (is_set(name))
        continue;
      else if (x_disk_variables.contains(name) && reads(name, builds_environment))
        report_disk(name);
      else
        x_porting.warn(place_of_variable(name), "port/site-variable",
                       fmt::format("the script reads ${}{}, which neither the script nor the profile of {} "
                                   "sets",
                                   name, more_lines(name), x_porting.to.id),
                       fmt::format("add --env {}=VALUE to hpcml gen, or set it in the script", name));
  }

  /// A directory of the job on another site's nodes: without it, files go to wrong places.
  void report_disk(const std::string& name) const {
    const auto* node = target_node(x_porting);
    const auto disk = node ? node->local_disk.value_or("") : std::string();
    x_porting.error(
        place_of_variable(name), "port/site-variable",
        fmt::format("the script uses ${}{}, the directory of a job on its node's disk, which {} does not set",
                    name, more_lines(name), x_porting.to.id),
        fmt::format("add --env {}={} to hpcml gen, or use another directory in the script", name,
                    disk.empty() ? "DIRECTORY" : disk));
  }

  /// Whether the line builds or activates a Python environment.
  static bool builds_environment(std::string_view line) {
    return std::any_of(k_setup_words.begin(), k_setup_words.end(),
                       [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
  }

  /// The file system of the old site that the path is in; null if it is in none.
  const std::string* file_system_of(std::string_view path) const {
    for (const auto& root : x_porting.old_file_systems)
      if (path.starts_with(root + "/")) return &root;
    return nullptr;
  }

  /// Paths of a file system of the old site are reported together, others by their first directory.
  std::string key_of(std::string_view path, const std::string& directory) const {
    const auto* root = file_system_of(path);
    return root ? root->substr(1) : directory;
  }

  /// The other lines of the script with the text, ", also in lines 7, 9"; empty if there are none.
  std::string more_lines(std::string_view text) const {
    constexpr std::size_t k_most = 5;
    const auto script = x_porting.text;
    CommentFinder comments(script);
    std::vector<unsigned> lines;
    for (auto at = script.find(text); at != std::string_view::npos && lines.size() < k_most + 2;
         at = script.find(text, at + 1)) {
      const auto end = at + text.size();
      const bool whole = text.ends_with("/") || ((at == 0 || !shell::is_name_char(script[at - 1])) &&
                                                 (end >= script.size() || !shell::is_name_char(script[end])));
      const auto line = x_porting.script.number_at(at);
      if (whole && !comments.holds(at) && (lines.empty() || lines.back() != line)) lines.push_back(line);
    }
    if (lines.size() < 2) return {};
    std::vector<std::string> names;
    for (std::size_t i = 1; i < std::min(lines.size(), k_most + 1); ++i)
      names.push_back(std::to_string(lines[i]));
    return fmt::format(", also in {} {}{}", names.size() == 1 ? "line" : "lines", util::join(names, ", "),
                       lines.size() > k_most + 1 ? " and more" : "");
  }

  /// Numbers of nodes that the remaining commands read, and that are others in the new job.
  void warn_of_numbers() const {
    const auto& nodes = x_porting.result.job.nodes;
    if (!nodes || nodes->value == x_porting.old_nodes) return;
    for (const std::string name : {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"})
      if (reads(name))
        x_porting.warn(
            place_of_variable(name), "port/nodes",
            fmt::format("{} is {} in the new job and was {} in the old one: what the script computes from it "
                        "changes",
                        name, nodes->value, x_porting.old_nodes),
            fmt::format("use the number {} in the script in place of ${} to keep the old results",
                        x_porting.old_nodes, name));
  }

  /// Variables and programs of the other vendor's GPUs.
  void warn_of_vendor() const {
    const auto vendor = vendor_of_target(x_porting);
    if (vendor == model::GpuVendor::unknown) return;
    const bool amd = vendor == model::GpuVendor::amd;
    const std::string tool = amd ? "nvidia-smi" : "rocm-smi", now = amd ? "rocm-smi" : "nvidia-smi";
    if (const auto at = find_kept(tool))
      x_porting.warn(*at, "port/gpus",
                     fmt::format("the script runs {}, but {} has {} GPUs: {} does not exist there", tool,
                                 x_porting.to.id, amd ? "AMD" : "NVIDIA", tool),
                     fmt::format("use {} in the script, or remove the command", now));
    if (amd && !x_set.contains(k_devices) && reads("CUDA_VISIBLE_DEVICES"))
      x_porting.warn(place_of_variable("CUDA_VISIBLE_DEVICES"), "port/gpus",
                     fmt::format("the script reads $CUDA_VISIBLE_DEVICES, but in jobs on {} "
                                 "CUDA_VISIBLE_DEVICES is not set",
                                 x_porting.to.id),
                     "use ROCR_VISIBLE_DEVICES in the script in its place");
  }

  /// Whether the line only prints.
  static bool is_printed(std::string_view line) {
    return line.starts_with("echo ") || line.starts_with("printf ");
  }

  /// Whether the line expands the variable: $NAME, ${NAME}, $((NAME * 2)).
  static bool expands_in(std::string_view line, std::string_view name) {
    for (auto at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
      const auto end = at + name.size();
      const bool whole = at > 0 && (end == line.size() || !shell::is_name_char(line[end]));
      if (whole && std::string_view("${( ").find(line[at - 1]) != std::string_view::npos) return true;
    }
    return false;
  }

  /// Whether a line that stays, other than a comment or a line that prints or is ignored, expands the
  /// variable.
  bool reads(
      const std::string& name,
      bool (*is_ignored)(std::string_view) = [](std::string_view) { return false; }) const {
    const auto reads_here = [&](std::string_view text) {
      const auto line = util::trim(text);
      return !line.starts_with('#') && !is_printed(line) && !is_ignored(line) &&
             expands_in(line.substr(0, line.find(" #")), name);
    };
    return std::any_of(x_kept.begin(), x_kept.end(), [&](const std::string& text) {
      for (std::size_t begin = 0; begin < text.size();) { // each line once: lines may be long
        const auto end = std::min(text.find('\n', begin), text.size());
        if (reads_here(std::string_view(text).substr(begin, end - begin))) return true;
        begin = end + 1;
      }
      return false;
    });
  }

  /// Reports characters that are invisible in an editor or change the direction of text: the first per line.
  void note_hidden() const {
    bool noted = false; // on this line
    for (std::size_t at = 0; at < x_porting.text.size();) {
      const auto rest = x_porting.text.substr(at);
      const auto c = diag::first_visible(rest);
      const bool blank = rest[0] == '\n' || rest[0] == '\t' || rest[0] == '\r';
      if (rest[0] == '\n') noted = false;
      if (!blank && c.shown != rest.substr(0, c.length) && !noted) {
        noted = true;
        x_porting.note(
            {at, c.length}, "port/hidden-character",
            fmt::format(
                "line {} of {} has a character that is invisible or reverses the text direction ({}): "
                "the line may run hidden code",
                x_porting.script.number_at(at), x_porting.file, c.shown),
            "remove the character unless it is intended");
      }
      at += c.length;
    }
  }

  void find_paths(const std::string& text) {
    constexpr std::string_view k_before = " \t\n\"'=:;(,`";
    constexpr std::size_t k_longest_path = 4096;
    CommentFinder comments(text);
    for (auto at = text.find('/'); at != std::string::npos; at = text.find('/', at + 1)) {
      const bool starts = at == 0 || k_before.find(text[at - 1]) != std::string_view::npos;
      if (!starts || comments.holds(at) || text.compare(at, 2, "//") == 0) continue;
      auto end = at + 1;
      while (end < text.size() && (shell::is_name_char(text[end]) || text[end] == '-' || text[end] == '.'))
        ++end;
      const auto directory = text.substr(at + 1, end - at - 1);
      if (directory.empty() || end >= text.size() || text[end] != '/' || is_common_directory(directory))
        continue;
      const auto rest = std::string_view(text).substr(at, k_longest_path);
      const auto path = rest.substr(0, rest.find_first_of(" \t\n\"';:,)`"));
      const auto key = key_of(path, directory);
      if (is_in_image(directory) || x_paths.contains(key) || x_paths.size() >= k_most_notes) continue;
      x_paths.emplace(key, path);
    }
  }

  /// Whether a bind that stays puts something there: the path is then one of the image.
  bool is_in_image(const std::string& directory) const {
    const auto& binds = x_porting.result.job.binds;
    return std::any_of(binds.begin(), binds.end(), [&](const auto& bind) {
      const auto target = bind.value.substr(bind.value.find(':') + 1);
      return target == "/" + directory || target.starts_with("/" + directory + "/");
    });
  }

  /// `"${HOST}i"`: names of a network that only the old site has.
  void note_suffixes() const {
    for (const auto& suffix : x_porting.host_suffixes)
      if (x_porting.to.network.master.suffix != suffix)
        for (const auto* end : {"}", ")"}) note_suffix(end + suffix);
  }

  /// The first place that ends a host's name so: "}i", ")i".
  void note_suffix(const std::string& ending) const {
    for (const auto& text : x_kept)
      for (auto at = text.find(ending); at != std::string::npos; at = text.find(ending, at + 1)) {
        const auto end = at + ending.size();
        if (end < text.size() && (shell::is_name_char(text[end]) || text[end] == '-')) continue;
        const auto line = text.rfind('\n', at) + 1; // npos + 1 is 0
        return x_porting.warn(
            place_of_text(std::string_view(text).substr(line, end - line)), "port/host-suffix",
            fmt::format("the script adds '{}' to a host name, but such names exist on {} only, not on {}",
                        ending.substr(1), x_porting.source_name(), x_porting.to.id),
            "remove the suffix from the script: the launcher finds the address by itself");
      }
  }

  void find_variables(const std::string& text) {
    CommentFinder comments(text);
    for (auto at = text.find('$'); at != std::string::npos; at = text.find('$', at + 1)) {
      const bool brace = at + 1 < text.size() && text[at + 1] == '{';
      auto begin = at + (brace ? 2 : 1);
      auto end = begin;
      while (end < text.size() && shell::is_name_char(text[end])) ++end;
      const auto name = text.substr(begin, end - begin);
      if (name.size() < 2 || !shell::is_name_start(name[0]) || comments.holds(at)) continue;
      // ${NAME:-…} says itself what happens without it.
      if (brace && end < text.size() && text[end] != '}') continue;
      if (x_set.contains(name) || model::has_job_variable(x_porting.to, name)) continue;
      if (x_variables.size() < k_most_notes) x_variables.insert(name);
    }
  }

  std::optional<diag::TextRange> find_kept(std::string_view word) const {
    const bool kept = std::any_of(x_kept.begin(), x_kept.end(), [&](const std::string& text) {
      return text.find(word) != std::string::npos;
    });
    return kept ? std::optional(place_of_text(word)) : std::nullopt;
  }
  diag::TextRange place_of_variable(const std::string& name) const {
    const auto place = place_of_text("$" + name);
    return place.length > 0 ? place : place_of_text("${" + name);
  }
  diag::TextRange place_of_text(std::string_view word) const {
    const auto at = x_porting.text.find(word);
    return at == std::string_view::npos ? diag::TextRange{} : diag::TextRange{at, word.size()};
  }

  ImportState& x_porting;
  std::set<std::string_view> x_set; ///< names that some line of the script may give a value
  std::vector<std::string> x_kept;
  std::map<std::string, std::string> x_paths;
  std::set<std::string> x_variables;
  std::set<std::string>
      x_disk_variables; ///< variables that some sites set to a directory of the job on its node
};

} // namespace

void note_leftovers(ImportState& porting, const model::ImportedBody& body,
                    const std::vector<model::Site>& catalogue) {
  Leftovers(porting, body, catalogue).note();
}

} // namespace hpcml::import_script
