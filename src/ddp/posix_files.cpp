// SPDX-License-Identifier: MIT
#include "ddp/posix_files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hpcml::ddp {

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  DIR* open = ::opendir(directory.c_str());
  if (open == nullptr) return names;
  while (const dirent* entry = ::readdir(open)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  ::closedir(open);
  return names;
}

void remove_tree(const std::string& path) {
  constexpr int k_open_directories = 16;
  ::nftw(
      path.c_str(),
      [](const char* entry, const struct stat*, int, FTW*) {
        std::remove(entry);
        return 0; // on with the rest
      },
      k_open_directories, FTW_DEPTH | FTW_PHYS);
}

int make_directories(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    struct stat found {};
    if (::mkdir(part.c_str(), 0777) != 0) {
      const int error = errno;
      // Read-only file systems report their error for existing directories as well.
      if (::stat(part.c_str(), &found) != 0) return error;
      if (!S_ISDIR(found.st_mode)) return ENOTDIR;
    }
    if (end == std::string::npos) return 0;
  }
}

RegularFile::RegularFile(const std::string& path) {
  struct stat found {};
  x_fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (x_fd < 0 || ::fstat(x_fd, &found) != 0) {
    x_is_missing = errno == ENOENT || errno == ENOTDIR;
    x_problem = std::strerror(errno);
  } else if (!S_ISREG(found.st_mode)) {
    x_problem = "not a regular file";
  } else {
    x_size = static_cast<std::int64_t>(found.st_size);
  }
}

RegularFile::~RegularFile() {
  if (x_fd >= 0) ::close(x_fd);
}

std::string RegularFile::read(std::size_t most) {
  std::string bytes(most, '\0');
  std::size_t done = 0;
  while (done < most && x_problem.empty()) {
    const auto count = ::read(x_fd, bytes.data() + done, most - done);
    if (count == 0) break;
    if (count > 0)
      done += static_cast<std::size_t>(count);
    else if (errno != EINTR)
      x_problem = std::strerror(errno);
  }
  bytes.resize(x_problem.empty() ? done : 0);
  return bytes;
}

} // namespace hpcml::ddp
