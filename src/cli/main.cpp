// SPDX-License-Identifier: MIT
// Entry of the program: snapshots the world once and hands it to the command.
#include <fcntl.h>
#include <unistd.h>

#include "cli/app.hpp"
#include "core/util/env_snapshot.hpp"

namespace {

/// A descriptor that was closed before us must not become a file, a pipe or a signalfd of ours: what is
/// printed would go there. Opened for reading only, the standard outputs still fail as closed ones do.
void fill_closed_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != fd) ::_exit(70);
}

} // namespace

int main(int argc, char** argv) {
  fill_closed_descriptors();
  return hpcml::cli::run(argc, argv, hpcml::util::EnvSnapshot::of_process());
}
