// SPDX-License-Identifier: MIT
#include "emulate/slurm_build.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

#include "core/util/embedded.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/scratch_path.hpp"
#include "core/util/text.hpp"
#include "core/util/user_path.hpp"

namespace hpcml::emulate {

namespace {

namespace fs = std::filesystem;
using MessageSink = std::function<void(const std::string&)>;

constexpr std::chrono::hours k_build_limit{3}; // of one step, on a machine that does much else

/// By numbers, so that 23.11.10 is newer than 23.11.9.
bool is_newer(const std::string& a, const std::string& b) {
  const auto left = util::split(a, '.'), right = util::split(b, '.');
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    const auto x = util::parse_unsigned(left[i]).value_or(0), y = util::parse_unsigned(right[i]).value_or(0);
    if (x != y) return x > y;
  }
  return left.size() > right.size();
}

/// One step of a build: what it prints goes to the log.
util::Status run_step(const std::vector<std::string>& words, const util::EnvSnapshot& env,
                      const std::string& what, const std::string& log_file, std::string& log) {
  const auto done = util::run_process(words, env, k_build_limit);
  log += "$ " + util::join(words, " ") + "\n" + (done ? done->out + done->err : done.error().what) + "\n";
  TRY_DONE(util::write_file(log_file, log));
  if (!done) return util::with_context(done.error(), what);
  if (done->exit_code == 0) return util::Success{};
  const auto lines = util::split(std::string(util::trim(done->err.empty() ? done->out : done->err)), '\n');
  return util::Error{
      fmt::format("{} failed: {}", what, lines.empty() ? "no output" : lines.back()),
      fmt::format("check {} for its output; Slurm needs gcc, make and perl (apt-get install "
                  "build-essential), and liblua5.4-dev and pkg-config to enforce the site's rules",
                  log_file)};
}

std::vector<std::string> configure_words(const std::string& tree, const std::string& prefix) {
  std::vector<std::string> words = {"env",
                                    "-C",
                                    tree,
                                    "./configure",
                                    "-q",
                                    "--prefix=" + prefix,
                                    "--sysconfdir=" + prefix + "/etc",
                                    "CFLAGS=-O1 -g0 -w -fcommon"};
  for (const auto& option : slurm_configure_options()) words.push_back(option);
  return words;
}

/// The sources in their own directory.
util::Status unpack(const std::string& source, const std::string& tree, const util::EnvSnapshot& env) {
  std::error_code error;
  fs::create_directories(tree, error);
  if (error)
    return util::Error{fmt::format("cannot create {} for the sources of Slurm: {}", tree, error.message()),
                       "set XDG_CACHE_HOME to a directory that you can write to"};
  const auto from = fs::absolute(source, error).string(); // a name may begin with "-"
  const auto words =
      fs::is_directory(from, error)
          ? std::vector<std::string>{"cp", "-a", from + "/.", tree}
          : std::vector<std::string>{"tar", "--force-local", "-C", tree, "--strip-components=1", "-xf", from};
  const auto done = util::run_process(words, env, std::chrono::minutes(30));
  if (!done) return util::with_context(done.error(), fmt::format("cannot unpack {}", source));
  if (done->exit_code != 0)
    return util::Error{fmt::format("cannot unpack {}: {}", source, util::trim(done->err)),
                       "use a tarball of Slurm's sources (slurm-23.11.10.tar.bz2), or a directory with them"};
  return util::Success{};
}

/// Configures and compiles for its last place, installs next to it and moves it there: half a Slurm is never
/// found.
util::Status build(const std::string& work, const std::string& prefix, const std::string& log_file,
                   const util::EnvSnapshot& env) {
  const auto tree = work + "/tree", stage = work + "/stage";
  const auto jobs = "-j" + std::to_string(std::max(1U, std::thread::hardware_concurrency()));
  std::string log;
  TRY_DONE(run_step(configure_words(tree, prefix), env, "configuring Slurm", log_file, log));
  TRY_DONE(run_step({"make", "-s", jobs, "-C", tree + "/src"}, env, "compiling Slurm", log_file, log));
  TRY_DONE(run_step({"make", "-s", "-C", tree + "/src", "install", "DESTDIR=" + stage}, env,
                    "installing Slurm", log_file, log));
  std::error_code error;
  fs::rename(stage + prefix, prefix, error);
  if (error)
    return util::Error{
        fmt::format("cannot move the built Slurm to {}: {}", prefix, error.message()),
        fmt::format("remove {} if it is incomplete, or set XDG_CACHE_HOME to another directory", prefix)};
  return util::Success{};
}

/// Where what is requested for is to be had.
util::Error not_built(const SlurmChoice& choice, const std::vector<std::string>& built) {
  return {fmt::format("Slurm {} is not built yet{}", choice.version,
                      built.empty() ? "" : fmt::format("; built: {}", util::join(built, ", "))),
          fmt::format("use --slurm-source slurm-{}{}.tar.bz2 once, from download.schedmd.com/slurm",
                      choice.version, util::split(choice.version, '.').size() > 2 ? "" : ".N")};
}

} // namespace

std::vector<std::string> slurm_configure_options() {
  std::vector<std::string> options;
  for (const auto& file : embedded::slurm_options())
    for (const auto& line : util::split(std::string(file.text), '\n'))
      if (line.starts_with("--")) options.push_back(line);
  return options;
}

bool is_version(const std::string& version, const std::string& requested) {
  return version == requested || version.starts_with(requested + ".") || version.starts_with(requested + "-");
}

std::string find_meta_version(const std::string& meta) {
  for (const auto& line : util::split(meta, '\n')) {
    const auto words = std::string(util::trim(line));
    if (words.starts_with("Version:")) return std::string(util::trim(words.substr(8)));
  }
  return {};
}

util::Result<std::string> slurm_cache(const util::EnvSnapshot& env) {
  return util::cache_directory(env, "slurm");
}

std::vector<std::string> list_built_slurms(const std::string& cache) {
  std::vector<std::string> versions;
  std::error_code error;
  for (fs::directory_iterator entry(cache, error), end; entry != end && !error; entry.increment(error)) {
    std::error_code ignored;
    if (fs::exists(entry->path() / "sbin/slurmctld", ignored))
      versions.push_back(entry->path().filename().string());
  }
  std::sort(versions.begin(), versions.end(), is_newer);
  return versions;
}

util::Result<std::string> obtain_slurm(const SlurmChoice& choice, const util::EnvSnapshot& env,
                                       const MessageSink& report) {
  TRY(const auto cache, slurm_cache(env));
  const auto built = list_built_slurms(cache);
  if (choice.source.empty()) {
    for (const auto& version : built)
      if (is_version(version, choice.version)) return cache + "/" + version;
    return not_built(choice, built);
  }
  const util::ScratchPath work(cache + "/.build-" + std::to_string(::getpid()));
  TRY_DONE(unpack(choice.source, work.path() + "/tree", env));
  const auto version = find_meta_version(util::read_file(work.path() + "/tree/META").value_or(""));
  if (version.empty() || version.find('/') != std::string::npos)
    return util::Error{
        fmt::format("{} contains no sources of Slurm: the file META, which names the version, is missing",
                    choice.source),
        "use a tarball from download.schedmd.com/slurm"};
  if (!choice.version.empty() && !is_version(version, choice.version))
    return util::Error{
        fmt::format("{} contains Slurm {}, but --slurm-version is {}", choice.source, version,
                    choice.version),
        fmt::format("use --slurm-version {}, or the sources of Slurm {}", version, choice.version)};
  const auto prefix = cache + "/" + version;
  // Who waits here for another's build finds it done.
  const util::FileLock lock(cache + "/." + version + ".lock");
  std::error_code ignored;
  if (fs::exists(prefix + "/sbin/slurmctld", ignored)) return prefix;
  report(fmt::format("building Slurm {} once in {}, where later runs find it; the build takes minutes",
                     version, prefix));
  TRY_DONE(build(work.path(), prefix, cache + "/" + version + ".log", env));
  return prefix;
}

util::EnvSnapshot with_slurm_of(const std::string& directory, const util::EnvSnapshot& env) {
  auto changed = env;
  changed.set("PATH", directory + "/bin:" + directory + "/sbin:" + env.get_or("PATH", "/usr/bin:/bin"));
  return changed;
}

} // namespace hpcml::emulate
