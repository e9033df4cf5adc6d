// SPDX-License-Identifier: MIT
#include "agent/failure_order.hpp"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <sys/wait.h>

namespace hpcml::agent {

namespace {

/// As gloo, NCCL and torch's store say that somebody has gone with whom they were connected.
constexpr std::string_view k_gone[] = {
    "Connection closed by peer",
    "Connection reset by peer",
    "Connection closed by remote peer",
    "Connection was likely closed",
    "remote process exited",
    "failed to recv, got 0 bytes",
    "Broken pipe",
    "Connection was closed by",
    "peer closed",
};

bool says_gone(std::string_view text) {
  return std::any_of(std::begin(k_gone), std::end(k_gone),
                     [&](auto words) { return text.find(words) != std::string_view::npos; });
}

} // namespace

bool only_suffers(const FailureNote& note) {
  if (note.of_launcher || note.out_of_memory) return false;
  // Aborts are the watchdogs' way to end a program that waits for somebody.
  if (WIFSIGNALED(note.status) && WTERMSIG(note.status) != SIGABRT && !note.cut_short) return false;
  if (!note.message.empty()) return says_gone(note.message);
  return std::any_of(note.last_lines.begin(), note.last_lines.end(), says_gone);
}

bool comes_before(const FailureNote& later, const FailureNote& first) {
  if (later.gpu_fault.empty() != first.gpu_fault.empty()) return first.gpu_fault.empty();
  const bool suffers = only_suffers(later);
  if (suffers != only_suffers(first)) return !suffers;
  return later.told_at > 0 && first.told_at > 0 && later.told_at < first.told_at;
}

bool may_be_preceded(const FailureNote& first) {
  return first.gpu_fault.empty() && (first.told_at > 0 || only_suffers(first));
}

} // namespace hpcml::agent
