// SPDX-License-Identifier: MIT
// `hpcml checkpoint`: which checkpoint a training resumes from, for scripts and programs in any language.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <tuple>

#include "cli/command.hpp"
#include "cli/help/command_help.hpp"
#include "core/util/text.hpp"
#include "core/util/visible.hpp"
#include "core/util/zip_archive.hpp"
#include "hpcml/ddp/latest_checkpoint.hpp"

namespace hpcml::cli {

namespace {

struct CheckpointOptions {
  std::string directory;
  bool verify = false;
};

/// What may be a checkpoint, by its name.
struct CheckpointCandidate {
  std::filesystem::path path;
  bool is_archive = false; ///< a file of torch.save, not a directory step-N
  long long step = -1;     ///< -1: no number in the name
  timespec modified = {};
};

constexpr std::string_view k_digits = "0123456789";

/// The number after "step", else the first number of the name; -1: none.
long long step_in(std::string_view name) {
  const auto after_word = name.rfind("step");
  auto rest = after_word == std::string_view::npos ? name : name.substr(after_word + 4);
  auto begin = rest.find_first_of(k_digits);
  if (begin == std::string_view::npos) {
    rest = name;
    begin = rest.find_first_of(k_digits);
  }
  if (begin == std::string_view::npos) return -1;
  const auto number =
      util::parse_unsigned(rest.substr(begin, rest.find_first_not_of(k_digits, begin) - begin));
  return number && *number < 1000000000000000000ULL ? static_cast<long long>(*number) : -1;
}

bool is_archive_name(std::string_view name) {
  return !name.starts_with('.') &&
         (name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".ckpt"));
}

/// "step-020": a number, but none that save_checkpoint writes.
bool is_other_step(std::string_view name) {
  if (!name.starts_with("step-")) return false;
  const auto number = name.substr(5);
  return !number.empty() && number.find_first_not_of(k_digits) == std::string_view::npos &&
         ((number.size() > 1 && number.front() == '0') || number.size() > 18);
}

void warn(const std::string& text) {
  std::fprintf(stderr, "hpcml: warning: %s\n", util::visible(text).c_str());
}

/// What the directory holds, newest first: by step, then by time of modification. Nothing if it cannot be
/// read, and errno says why.
std::optional<std::vector<CheckpointCandidate>> find_candidates(const std::filesystem::path& directory) {
  DIR* open = ::opendir(directory.c_str());
  if (open == nullptr) return std::nullopt;
  std::vector<CheckpointCandidate> found;
  const auto add = [&](CheckpointCandidate candidate) {
    struct stat status {};
    if (::stat(candidate.path.c_str(), &status) == 0) candidate.modified = status.st_mtim;
    found.push_back(std::move(candidate));
  };
  while (const dirent* entry = ::readdir(open)) {
    const std::string name = entry->d_name;
    if (is_archive_name(name))
      add({directory / name, true, step_in(std::string_view(name).substr(0, name.rfind('.')))});
    if (is_other_step(name))
      warn(fmt::format(
          "{} is ignored: the number after step- must have at most 18 digits and no leading zeros",
          (directory / name).string()));
  }
  ::closedir(open);
  for (const auto step : ddp::checkpoint_steps(directory))
    add({ddp::checkpoint_path(directory, step), false, step});
  const auto newest_first = [](const CheckpointCandidate& a, const CheckpointCandidate& b) {
    const auto key = [](const CheckpointCandidate& c) {
      return std::tuple(c.step, c.modified.tv_sec, c.modified.tv_nsec);
    };
    return key(a) != key(b) ? key(a) > key(b) : a.path < b.path;
  };
  std::sort(found.begin(), found.end(), newest_first);
  return found;
}

/// Why the candidate cannot be used; empty: it is complete.
std::string problem_of(const CheckpointCandidate& candidate, bool verify) {
  if (!candidate.is_archive)
    return ddp::find_checkpoint_problem(candidate.path, verify ? ddp::CheckpointCheck::checksums
                                                               : ddp::CheckpointCheck::sizes)
        .text;
  const auto checked = util::check_torch_archive(candidate.path, verify ? util::ZipCheckLevel::checksums
                                                                        : util::ZipCheckLevel::directory);
  if (checked) return {};
  const auto& error = checked.error();
  return fmt::format("{}: {}{}{}", candidate.path.string(), error.what, error.hint.empty() ? "" : "; ",
                     error.hint);
}

int run_latest(const CheckpointOptions& options, const Context& context) {
  const auto candidates = find_candidates(options.directory);
  if (!candidates) {
    print_error(
        fmt::format("cannot read the checkpoint directory '{}': {}", options.directory, std::strerror(errno)),
        "use the directory of the checkpoints, such as \"$HPCML_CHECKPOINT_DIR\" in a job", context.colour);
    return k_world_failed;
  }
  for (const auto& candidate : *candidates) {
    const auto problem = problem_of(candidate, options.verify);
    if (problem.empty()) {
      std::printf("%s\n", candidate.path.c_str());
      return k_ok;
    }
    warn(fmt::format("cannot use checkpoint {}", problem));
  }
  std::fprintf(stderr, "hpcml: no complete checkpoint in %s\n", util::visible(options.directory).c_str());
  return k_findings;
}

constexpr CommandHelp k_checkpoint_help = {
    .summary = "Find the checkpoint that a training resumes from",
    .examples = R"(hpcml checkpoint latest checkpoints)",
};

constexpr CommandHelp k_latest_help = {
    .summary = "Print the newest complete checkpoint of a directory",
    .examples = R"(hpcml checkpoint latest checkpoints
# Also compare checksums
hpcml checkpoint latest --verify "$HPCML_CHECKPOINT_DIR")",
    .notes = R"(A checkpoint is one of these:
  - A directory step-N with a file `complete`: a first line
    "hpcml-checkpoint 1", then a line "SIZE CRC32 NAME" for each other file.
    It is complete if all these files have their sizes; with --verify, also
    their checksums.
  - A file of torch.save (.pt, .pth, .ckpt). It is complete if it is a zip
    archive with its directory and an entry data.pkl; with --verify, also if
    all entries match their checksums. Its step is the number after "step" in
    its name, else the first number in it.

The highest step is the newest. Without a number, or if two are equal, the modification time decides. A
newer checkpoint that is incomplete or damaged is reported on standard error.

Exit codes: 0 a path is printed, 1 no complete checkpoint, 5 the directory cannot be read.)",
};

} // namespace

void add_checkpoint(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "checkpoint", k_checkpoint_help);
  command->require_subcommand(1);
  auto* latest = add_command(*command, "latest", k_latest_help);
  const auto options = std::make_shared<CheckpointOptions>();
  latest->add_option("DIR", options->directory, "Directory of the checkpoints")->required();
  latest->add_flag("--verify", options->verify, "Also read all bytes and compare their checksums");
  latest->callback([options, &context, &exit_code] { exit_code = run_latest(*options, context); });
}

} // namespace hpcml::cli
