// SPDX-License-Identifier: MIT
#include "core/util/signal_names.hpp"

#include <csignal>
#include <fmt/format.h>
#include <sys/wait.h>

namespace hpcml::util {

namespace {
struct SignalName {
  int number;
  const char* name;
};

constexpr SignalName k_signal_names[] = {
    {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},       {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
    {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"},     {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"},     {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
    {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"},     {SIGTERM, "SIGTERM"}, {SIGSTKFLT, "SIGSTKFLT"},
    {SIGCHLD, "SIGCHLD"}, {SIGCONT, "SIGCONT"},     {SIGSTOP, "SIGSTOP"}, {SIGTSTP, "SIGTSTP"},
    {SIGTTIN, "SIGTTIN"}, {SIGTTOU, "SIGTTOU"},     {SIGURG, "SIGURG"},   {SIGXCPU, "SIGXCPU"},
    {SIGXFSZ, "SIGXFSZ"}, {SIGVTALRM, "SIGVTALRM"}, {SIGPROF, "SIGPROF"}, {SIGWINCH, "SIGWINCH"},
    {SIGPOLL, "SIGPOLL"}, {SIGPWR, "SIGPWR"},       {SIGSYS, "SIGSYS"}};
} // namespace

const char* find_signal_name(int signal) {
  for (const auto& row : k_signal_names)
    if (row.number == signal) return row.name;
  return nullptr;
}

std::string signal_name(int signal) {
  const char* name = find_signal_name(signal);
  return name != nullptr ? name : fmt::format("signal {}", signal);
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was killed by {}", signal_name(WTERMSIG(status)));
  return fmt::format("exited with code {}", WEXITSTATUS(status));
}

} // namespace hpcml::util
