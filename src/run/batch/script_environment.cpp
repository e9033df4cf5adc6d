// SPDX-License-Identifier: MIT
#include "run/batch/script_environment.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "core/util/input_file.hpp"
#include "core/util/log.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/launch/job_key.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/script_store.hpp"

namespace hpcml::batch {

namespace {

/// The address at which the ranks connect to this node, if the site has a rule for it.
util::Status set_address(const BatchRequest& request, util::EnvSnapshot& env) {
  const auto host = request.host.empty() ? env.get_or("SLURMD_NODENAME", "") : request.host;
  std::string address = request.host;
  if (!request.interface.empty()) {
    TRY(address, launch::interface_address(request.interface));
  } else if (request.resolves_host) {
    const auto found = launch::addresses_of(host);
    const auto is_ipv4 = [](const std::string& text) { return text.find(':') == std::string::npos; };
    const auto first = std::find_if(found.begin(), found.end(), is_ipv4);
    if (first == found.end())
      return util::Error{
          fmt::format("the name of the first node, '{}', has no IPv4 address", host),
          fmt::format("run getent ahostsv4 {} on this node: if it prints nothing, report that to "
                      "the site's administrators",
                      host)};
    address = *first;
  }
  if (address.empty()) return util::Success{}; // the ranks use the name of the first node
  env.set("HPCML_MASTER_ADDR", address);
  env.set("HPCML_MASTER_NODE", env.get_or("SLURMD_NODENAME", ""));
  return util::Success{};
}

/// Starts the store in a child that ends with this process. Returns HOST:PORT; empty if it could not be
/// started, which the child has reported: the ranks then serve one themselves.
std::string start_store(const std::string& name, const util::EnvSnapshot& env) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  util::ChildOptions options;
  options.mask = util::no_signals();
  auto child = util::ChildProcess::fork(options, [&] {
    ::prctl(PR_SET_NAME, "hpcml-store"); // as ps shows it
    launch::ScriptStoreRequest store;
    store.name = name;
    store.with_parent = true;
    const auto ended = launch::serve_for_script(
        store, env,
        [&](const std::string& place) {
          (void)!::write(ends[1], place.data(), place.size());
          ::close(ends[1]);
        },
        [](const std::string& line) { util::log_info(line); });
    if (!ended) util::log_error(ended.error());
    return ended ? 0 : 1;
  });
  ::close(ends[1]);
  std::array<char, 512> text{};
  const auto size = child ? ::read(ends[0], text.data(), text.size()) : 0;
  ::close(ends[0]);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

unsigned count_lines(const std::string& file) {
  const auto text = util::read_input(file, {1 << 20, true, k_own_file_hint});
  return text ? static_cast<unsigned>(std::count(text->begin(), text->end(), '\n')) : 0;
}

std::size_t script_index(const std::vector<std::string>& command) {
  std::size_t index = 1;
  while (index < command.size() && command[index].starts_with("-")) ++index;
  return index;
}

} // namespace

std::string script_of(const std::vector<std::string>& command) {
  const auto index = script_index(command);
  return index < command.size() ? command[index] : std::string();
}

std::vector<std::string> script_arguments(const std::vector<std::string>& command) {
  const auto index = std::min(script_index(command) + 1, command.size());
  return {command.begin() + static_cast<std::ptrdiff_t>(index), command.end()};
}

void append_line(const std::string& file, const std::string& line) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  const auto text = line + "\n";
  if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    util::log_warning(
        fmt::format("cannot record this restart in '{}', so that --max-requeues does not count it: {}\n"
                    "hint: check the quota and permissions of the file",
                    file, std::strerror(errno)));
  if (fd >= 0) ::close(fd);
}

util::Result<util::EnvSnapshot> prepare_script_environment(const BatchRequest& request, BatchJob& job,
                                                           const util::EnvSnapshot& env) {
  if (!job.checkpoint_directory.empty()) {
    std::error_code error;
    std::filesystem::create_directories(job.checkpoint_directory, error);
    if (error)
      return util::Error{fmt::format("cannot create the checkpoint directory '{}': {}",
                                     job.checkpoint_directory, error.message()),
                         "set --checkpoint-dir to a directory that you can write to"};
  }
  if (request.program_nodes > 0) job.starts_here = count_lines(job.starts_file());
  job.restarts += job.starts_here;
  auto script = make_script_environment(request, job, env);
  TRY_DONE(set_address(request, script));
  if (request.needs_secret) {
    TRY(const auto secret, launch::make_job_secret(script));
    script.set(util::k_job_secret_variable, secret);
  }
  if (request.serves_store) {
    auto name = script.get_or("HPCML_MASTER_ADDR", request.host);
    if (name.empty()) name = env.get_or("SLURMD_NODENAME", "");
    if (const auto place = start_store(name, script); !place.empty()) script.set("HPCML_STORE_ADDR", place);
  }
  return script;
}

} // namespace hpcml::batch
