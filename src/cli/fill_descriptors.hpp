// SPDX-License-Identifier: MIT
// The standard descriptors at the start of a program.
#pragma once

#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

namespace hpcml::cli {

/// Opens those of the standard descriptors that are closed. A file, a pipe or a signalfd would take their
/// numbers otherwise, and what is printed would go there. Opened for reading only, the standard outputs still
/// fail as closed ones do.
inline void fill_closed_descriptors() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) != fd) ::_exit(70);
}

} // namespace hpcml::cli
