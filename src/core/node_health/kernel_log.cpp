// SPDX-License-Identifier: MIT
#include "core/node_health/kernel_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

#include "core/util/text.hpp"

namespace hpcml::node_health {

namespace {

constexpr unsigned k_failed_gpu[] = {48, 64, 74, 79, 95, 119, 120, 140}; // Xid

/// What follows "): ", as in "NVRM: Xid (PCI:0000:41:00): 79, pid=7, GPU has fallen off the bus."
std::string_view after_device(std::string_view message, std::string_view mark) {
  const auto begin = message.find(mark);
  const auto device = begin == std::string_view::npos ? begin : message.find("): ", begin);
  return device == std::string_view::npos ? std::string_view() : message.substr(device + 3);
}

bool is_failed_gpu(std::string_view message) {
  const auto rest = after_device(message, "NVRM: Xid (");
  const auto number = util::parse_unsigned(rest.substr(0, rest.find(',')));
  return number &&
         std::find(std::begin(k_failed_gpu), std::end(k_failed_gpu), *number) != std::end(k_failed_gpu);
}

bool is_failed_switch(std::string_view message) {
  return after_device(message, ": SXid (").find(", Fatal,") != std::string_view::npos;
}

/// "amdgpu 0000:c1:00.0: amdgpu: 2 uncorrectable hardware errors detected in umc block"; it says "no …" and
/// "0 …" as well.
bool is_failed_memory(std::string_view message) {
  constexpr std::string_view k_errors = "uncorrectable hardware errors detected in";
  const auto at = message.find(k_errors);
  if (message.find("amdgpu") == std::string_view::npos || at == std::string_view::npos) return false;
  auto words = util::split(std::string(util::trim(message.substr(0, at))), ' ');
  if (!words.empty() && words.back() == "new") words.pop_back();
  const auto count = words.empty() ? std::nullopt : util::parse_unsigned(words.back());
  return count && *count > 0;
}

} // namespace

std::optional<std::string> find_gpu_fault(std::string_view message) {
  if (!is_failed_gpu(message) && !is_failed_switch(message) && !is_failed_memory(message))
    return std::nullopt;
  return std::string(util::trim(message));
}

KernelLog::KernelLog(const std::string& path)
    : x_fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  if (x_fd >= 0) ::lseek(x_fd, 0, SEEK_END);
}

KernelLog::~KernelLog() {
  if (x_fd >= 0) ::close(x_fd);
}

std::vector<std::string> KernelLog::take() {
  constexpr unsigned k_most = 20000; // a kernel that says more than we read does not keep us
  std::vector<std::string> messages;
  char record[8192]; // none is longer: Linux, Documentation/ABI/testing/dev-kmsg
  for (unsigned i = 0; x_fd >= 0 && i < k_most; ++i) {
    const auto size = ::read(x_fd, record, sizeof record);
    if (size < 0 && (errno == EINTR || errno == EPIPE)) continue; // EPIPE: some were lost
    if (size <= 0) break;
    // "6,1234,5678,-;the message", then lines of facts that begin with a space.
    for (const auto& line : util::split(std::string_view(record, static_cast<std::size_t>(size)), '\n')) {
      const auto begin = line.find(';');
      if (begin != std::string::npos && line.front() != ' ') messages.push_back(line.substr(begin + 1));
    }
  }
  return messages;
}

} // namespace hpcml::node_health
