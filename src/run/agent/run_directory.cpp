// SPDX-License-Identifier: MIT
#include "run/agent/run_directory.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "core/util/own_directory.hpp"

namespace hpcml::agent {

namespace {

namespace fs = std::filesystem;

std::string directory_name(const std::string& run_id) {
  std::string name;
  for (const char c : run_id) name += c == '/' || static_cast<unsigned char>(c) < 32 ? '_' : c;
  return name == "." || name == ".." ? "_" : name;
}

/// Names a run without a name by the time of its start.
std::string name_by_time() {
  char text[32];
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return std::string(text) + "-" + std::to_string(::getpid());
}

util::Status make_directory(const std::string& path) {
  const auto made = util::make_own_directory(path);
  return made ? made : util::Error{made.error().what, "set --log-dir to a directory that belongs to you"};
}

} // namespace

std::string run_id_of(const AgentRequest& request, const slurm::StepIdentity& identity) {
  if (!request.run_id.empty()) return request.run_id;
  if (request.place && !request.place->run_id.empty()) return request.place->run_id;
  if (identity.job == 0) return "none";
  return std::to_string(identity.job) + "." + std::to_string(identity.step) +
         (identity.restart > 0 ? "." + std::to_string(identity.restart) : "");
}

util::Result<RunDirectory> RunDirectory::make(const AgentRequest& request, const std::string& run_id,
                                              const launch::RuntimeContext& context) {
  if (!request.log_directory.empty()) {
    std::error_code error;
    const auto base = fs::absolute(request.log_directory, error);
    if (error)
      return util::Error{fmt::format("cannot resolve the path of --log-dir '{}': {}", request.log_directory,
                                     error.message()),
                         "use an absolute path for --log-dir"};
    RunDirectory directory(base.string() + "/" + (run_id == "none" ? name_by_time() : directory_name(run_id)),
                           run_id, true);
    TRY_DONE(make_directory(directory.path()));
    return directory;
  }
  const auto base = context.env.get_or("TMPDIR", "/tmp");
  std::string path = base + "/hpcml-agent.XXXXXX";
  if (::mkdtemp(path.data()) == nullptr)
    return util::Error{fmt::format("cannot create a directory for the files of the ranks in '{}': {}", base,
                                   std::strerror(errno)),
                       "set TMPDIR to a directory on this node that you can write to, or set --log-dir"};
  RunDirectory directory(path, run_id, false);
  // A directory that cannot be locked is not removed if the agent is killed between two attempts.
  if (auto held = launch::hold_directory(path)) directory.x_held = *held;
  return directory;
}

RunDirectory::~RunDirectory() {
  std::error_code error;
  if (!x_path.empty() && !x_kept) fs::remove_all(x_path, error);
  launch::release_directory(x_held);
}

util::Status RunDirectory::make_rank(unsigned number, unsigned rank) const {
  TRY_DONE(make_directory(attempt(number)));
  return make_directory(attempt(number) + "/" + std::to_string(rank));
}

} // namespace hpcml::agent
