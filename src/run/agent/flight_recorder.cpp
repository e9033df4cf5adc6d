// SPDX-License-Identifier: MIT
#include "run/agent/flight_recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hpcml::agent {

namespace {

std::string pipe_stem(const std::string& directory) { return directory + "/flight_recorder_"; }

} // namespace

std::vector<std::pair<std::string, std::string>> flight_recorder_variables(const std::string& directory) {
  constexpr const char* k_entries = "2000";
  const auto file = directory + "/nccl_trace_rank_";
  return {
      {"TORCH_NCCL_TRACE_BUFFER_SIZE", k_entries}, {"TORCH_FR_BUFFER_SIZE", k_entries},
      {"TORCH_NCCL_DUMP_ON_TIMEOUT", "1"},         {"TORCH_NCCL_DEBUG_INFO_TEMP_FILE", file},
      {"TORCH_FR_DUMP_TEMP_FILE", file},           {"TORCH_NCCL_DEBUG_INFO_PIPE_FILE", pipe_stem(directory)}};
}

void ask_for_flight_records(const std::string& directory, const std::vector<unsigned>& ranks) {
  for (const unsigned rank : ranks) {
    const auto path = pipe_stem(directory) + std::to_string(rank) + ".pipe";
    const int fd = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) continue;
    struct stat found {};
    if (::fstat(fd, &found) == 0 && S_ISFIFO(found.st_mode)) (void)!::write(fd, "1\n", 2);
    ::close(fd);
  }
}

} // namespace hpcml::agent
