// SPDX-License-Identifier: MIT
#include "ddp/posix_files.hpp"

#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>

namespace hpcml::ddp {

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* open = ::opendir(folder.c_str());
  if (open == nullptr) return names;
  while (const dirent* entry = ::readdir(open)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  ::closedir(open);
  return names;
}

void remove_tree(const std::string& path) {
  constexpr int k_open_folders = 16;
  ::nftw(
      path.c_str(),
      [](const char* entry, const struct stat*, int, FTW*) {
        std::remove(entry);
        return 0; // on with the rest
      },
      k_open_folders, FTW_DEPTH | FTW_PHYS);
}

int make_folders(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    struct stat found {};
    if (::mkdir(part.c_str(), 0777) != 0) {
      const int error = errno;
      // On file systems that cannot be written a folder that is there is told so, too.
      if (::stat(part.c_str(), &found) != 0) return error;
      if (!S_ISDIR(found.st_mode)) return ENOTDIR;
    }
    if (end == std::string::npos) return 0;
  }
}

std::int64_t size_of_file(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? static_cast<std::int64_t>(found.st_size) : -1;
}

} // namespace hpcml::ddp
