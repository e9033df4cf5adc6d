// SPDX-License-Identifier: MIT
#include "ddp/checkpoint_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <unistd.h>
#include <vector>

#include "ddp/posix_files.hpp"

namespace hpcml::ddp {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_complete = "complete";
constexpr const char* k_head = "hpcml-checkpoint 1";
constexpr const char* k_prefix = "step-";
constexpr const char* k_part = ".part"; ///< the end of a name while it is being written

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
  throw std::runtime_error("cannot " + what + " " + path.string() + ": " + std::strerror(error));
}

/// Waits until the disk has it: a rename alone may survive a crash of the node that the bytes do not.
void sync_path(const fs::path& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) fail("open", path, errno);
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  // Some file systems know no fsync of folders.
  if (result != 0 && error != EINVAL) fail("write", path, error);
}

void write_whole(const fs::path& path, const std::string& bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) fail("write", path, errno);
  std::size_t done = 0;
  int error = 0;
  while (done < bytes.size() && error == 0) {
    const auto count = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (count > 0)
      done += static_cast<std::size_t>(count);
    else if (errno != EINTR)
      error = errno;
  }
  if (error == 0 && ::fsync(fd) != 0) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error != 0) fail("write", path, error);
}

std::string read_whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad() || !file.is_open()) throw std::runtime_error("cannot read " + path.string());
  return bytes;
}

struct Entry {
  std::int64_t bytes = 0;
  std::uint32_t crc = 0;
};

/// What `complete` lists; empty where it is not there or not of this kind.
std::map<std::string, Entry> read_list(const fs::path& checkpoint) {
  std::ifstream file(checkpoint / k_complete);
  std::string line;
  std::map<std::string, Entry> list;
  if (!std::getline(file, line) || line != k_head) return {};
  while (std::getline(file, line)) {
    std::istringstream words(line);
    Entry entry;
    std::string name;
    if (!(words >> entry.bytes >> std::hex >> entry.crc) || !std::getline(words >> std::ws, name)) return {};
    list[name] = entry;
  }
  return list;
}

bool is_whole(const fs::path& checkpoint) {
  const auto list = read_list(checkpoint);
  return !list.empty() && std::all_of(list.begin(), list.end(), [&](const auto& item) {
    return size_of_file((checkpoint / item.first).string()) == item.second.bytes;
  });
}

/// The number of "step-12"; -1: another name.
std::int64_t step_of(const std::string& name) {
  const std::string digits = name.rfind(k_prefix, 0) == 0 ? name.substr(std::strlen(k_prefix)) : "";
  if (digits.empty() || digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos)
    return -1;
  return std::stoll(digits);
}

/// Ascending.
std::vector<std::int64_t> whole_steps(const fs::path& folder) {
  std::vector<std::int64_t> steps;
  for (const auto& name : names_in(folder.string()))
    if (const auto step = step_of(name); step >= 0 && is_whole(folder / name)) steps.push_back(step);
  std::sort(steps.begin(), steps.end());
  return steps;
}

fs::path part_path(const fs::path& folder, std::int64_t step) {
  return folder / ("." + checkpoint_path(folder, step).filename().string() + k_part);
}

void remove_old(const fs::path& folder, std::int64_t newest) {
  auto steps = whole_steps(folder);
  // Of a run that began anew, higher numbers are of the run before: they stay until theirs are reached.
  steps.erase(std::remove_if(steps.begin(), steps.end(), [&](auto step) { return step > newest; }),
              steps.end());
  for (std::size_t i = 0; i + k_kept_checkpoints < steps.size(); ++i)
    remove_tree(checkpoint_path(folder, steps[i]).string());
  const std::string head = std::string(".") + k_prefix, tail = k_part;
  for (const auto& name : names_in(folder.string()))
    if (name.rfind(head, 0) == 0 && name.size() > tail.size() &&
        name.compare(name.size() - tail.size(), tail.size(), tail) == 0)
      remove_tree((folder / name).string());
}

} // namespace

std::uint32_t crc32(const std::string& bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320U : 0);
      entries[i] = value;
    }
    return entries;
  }();
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(c)) & 0xFF];
  return crc ^ 0xFFFFFFFFU;
}

fs::path checkpoint_path(const fs::path& folder, std::int64_t step) {
  return folder / (k_prefix + std::to_string(step));
}

void write_checkpoint(const fs::path& folder, std::int64_t step,
                      const std::map<std::string, std::string>& files) {
  if (const int error = make_folders(folder.string())) fail("make", folder, error);
  const auto part = part_path(folder, step), path = checkpoint_path(folder, step);
  remove_tree(part.string());
  if (const int error = make_folders(part.string())) fail("make", part, error);
  try {
    std::ostringstream list;
    list << k_head << "\n";
    for (const auto& [name, bytes] : files) {
      write_whole(part / name, bytes);
      list << std::dec << bytes.size() << " " << std::hex << crc32(bytes) << " " << name << "\n";
    }
    write_whole(part / k_complete, list.str());
    sync_path(part, O_RDONLY | O_DIRECTORY);
    remove_tree(path.string());
    if (::rename(part.c_str(), path.c_str()) != 0) fail("rename", part, errno);
  } catch (...) {
    remove_tree(part.string());
    throw;
  }
  sync_path(folder, O_RDONLY | O_DIRECTORY);
  remove_old(folder, step);
}

std::string read_checkpoint_file(const fs::path& folder, std::int64_t step, const std::string& name) {
  const auto checkpoint = checkpoint_path(folder, step);
  const auto list = read_list(checkpoint);
  const auto entry = list.find(name);
  if (entry == list.end())
    throw std::runtime_error(checkpoint.string() + " is not there, or its file `complete` does not list " +
                             name);
  auto bytes = read_whole(checkpoint / name);
  if (static_cast<std::int64_t>(bytes.size()) != entry->second.bytes || crc32(bytes) != entry->second.crc)
    throw std::runtime_error((checkpoint / name).string() +
                             " is not what was written: its size or checksum is another");
  return bytes;
}

std::int64_t find_latest_checkpoint(const fs::path& folder) {
  const auto steps = whole_steps(folder);
  return steps.empty() ? -1 : steps.back();
}

} // namespace hpcml::ddp
