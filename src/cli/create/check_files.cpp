// SPDX-License-Identifier: MIT
#include "cli/create/check_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

#include "check/check_script.hpp"
#include "core/util/file.hpp"
#include "core/util/input_file.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {
namespace {

namespace fs = std::filesystem;

class Search {
public:
  Search(const Context& context, const std::function<void(const std::string&, std::string)>& visit)
      : x_context(context), x_visit(visit) {}

  void file(const fs::path& path, const std::string& name) {
    auto text = read_script_file(path);
    if (text) return x_visit(name, std::move(*text));
    print_error(text.error(), x_context.colour);
    good = false;
  }

  /// Only if it is a job script or hpcml.json.
  void found(const fs::path& path, const std::string& name) {
    if (name == "hpcml.json") return file(path, path.string());
    constexpr std::size_t k_head = 32768;
    const auto head = util::read_input_head(path, k_head);
    if (!head) {
      print_error(head.error(), x_context.colour);
      good = false;
    } else if (is_job_script(name, *head)) {
      file(path, path.string());
    }
  }

  /// Visits the files in sorted order, so that two runs print the same. Links are not followed: they lead out
  /// of the directory, or to files that are found anyway.
  void directory(const fs::path& path) {
    std::vector<std::pair<std::string, bool>> names;
    std::error_code error;
    fs::directory_iterator entries(path, error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      std::error_code ignored;
      const auto kind = entries->symlink_status(ignored).type();
      const auto name = entries->path().filename().string();
      if (kind == fs::file_type::regular)
        names.emplace_back(name, false);
      else if (kind == fs::file_type::directory && name != ".git" && name != ".hg" && name != ".svn")
        names.emplace_back(name, true);
    }
    if (error) {
      print_error(fmt::format("cannot check the files of directory '{}': {}", path.string(), error.message()),
                  "check the permissions of the directory, or use its files as arguments", x_context.colour);
      good = false;
    }
    std::sort(names.begin(), names.end());
    for (const auto& [name, is_directory] : names) {
      if (is_directory)
        directory(path / name);
      else
        found(path / name, name);
    }
  }

  bool good = true;

private:
  const Context& x_context;
  const std::function<void(const std::string&, std::string)>& x_visit;
};

} // namespace

bool is_job_script(const std::string& name, std::string_view head) {
  if (head.find("#SBATCH") == std::string_view::npos ||
      head.substr(0, 8192).find('\0') != std::string_view::npos)
    return false;
  static constexpr std::array<std::string_view, 11> k_endings = {
      ".sh", ".bash", ".slurm", ".slm", ".sbatch", ".sb", ".job", ".batch", ".sub", ".cmd", ".zsh"};
  static constexpr std::array<std::string_view, 7> k_templates = {".j2",   ".jinja", ".jinja2", ".mustache",
                                                                  ".tmpl", ".tpl",   ".in"};
  const auto ends = [&](std::string_view ending) { return name.ends_with(ending); };
  if (std::any_of(k_templates.begin(), k_templates.end(), ends)) return false;
  const bool named =
      name.find('.') == std::string::npos || std::any_of(k_endings.begin(), k_endings.end(), ends);
  if (!head.starts_with("#!") && !named) return false;
  for (int line = 0; line < 100 && !head.empty(); ++line) {
    if (head.starts_with("#SBATCH")) return true;
    head.remove_prefix(std::min(head.find('\n'), head.size() - 1) + 1);
  }
  return false;
}

util::Result<std::string> read_script_file(const std::filesystem::path& path) {
  return util::read_input_head(path, check::k_largest_script + 1);
}

std::optional<std::string> read_named_file(const std::string& script, const std::string& name) {
  constexpr std::size_t c_most = 64U << 10U;
  if (script == "-" || name.empty()) return std::nullopt;
  const auto path = std::filesystem::path(script).parent_path() / name;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > c_most)
    return std::nullopt;
  const auto text = util::read_file(path, c_most);
  return text ? std::optional(*text) : std::nullopt;
}

bool visit_files(const std::vector<std::string>& paths, bool only_scripts, const Context& context,
                 const std::function<void(const std::string& name, std::string text)>& visit) {
  Search search(context, visit);
  for (const auto& path : paths) {
    std::error_code ignored;
    if (path == "-")
      search.file("/dev/stdin", path);
    else if (fs::is_directory(path, ignored))
      search.directory(path);
    else if (only_scripts)
      search.found(path, fs::path(path).filename().string());
    else
      search.file(path, path);
  }
  return search.good;
}

} // namespace hpcml::cli
