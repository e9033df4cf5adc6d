// SPDX-License-Identifier: MIT
#include "ddp/checkpoint_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <stdexcept>
#include <unistd.h>
#include <vector>

#include "ddp/format_message.hpp"
#include "ddp/posix_files.hpp"
#include "hpcml/crc32.hpp"

namespace hpcml::ddp {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_complete = "complete";
constexpr const char* k_head = "hpcml-checkpoint 1";
constexpr const char* k_prefix = "step-";
constexpr const char* k_part = ".part"; ///< the end of a name while it is being written

[[noreturn]] void fail(const std::string& what, const fs::path& path, int error) {
  throw std::runtime_error(
      format_message("cannot {} {} for a checkpoint: {} (check the quota, free space and permissions)", what,
                     path.string(), std::strerror(error)));
}

/// Waits until the disk has it: a rename alone may survive a crash of the node that the bytes do not.
void sync_path(const fs::path& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) fail("open", path, errno);
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  // Some file systems do not support fsync of directories.
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

/// What `complete` lists of a file.
struct Entry {
  std::int64_t bytes = 0;
  std::string crc; ///< lower-case hexadecimal digits, without leading zeros
};

struct List {
  std::map<std::string, Entry> entries;
  std::string problem;     ///< why it cannot be used; empty: it can
  bool unfinished = false; ///< there is no such file
};

std::string hex(std::uint32_t value) {
  std::ostringstream text;
  text << std::hex << value;
  return text.str();
}

/// The text up to the next space, which is removed from it.
std::string take_field(std::string& line) {
  const auto end = line.find(' ');
  if (end == std::string::npos) return {};
  const auto field = line.substr(0, end);
  line.erase(0, end + 1);
  return field;
}

bool consists_of(const std::string& text, const char* characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string::npos;
}

/// Whether a listed name is inside the checkpoint.
bool is_inside(const std::string& name) {
  if (name.empty() || name.front() == '/' || name.find('\0') != std::string::npos) return false;
  return ("/" + name + "/").find("/../") == std::string::npos;
}

/// Reads "SIZE CRC32 NAME"; returns why it is not of this form.
std::string read_entry(std::string line, List& list) {
  const auto size = take_field(line), crc = take_field(line);
  if (!consists_of(size, "0123456789") || size.size() > 18 || !consists_of(crc, "0123456789abcdef") ||
      crc.size() > 8)
    return "expected 'SIZE CRC32 NAME'";
  if (!is_inside(line)) return "a listed name is outside the checkpoint";
  const Entry entry{std::stoll(size), hex(static_cast<std::uint32_t>(std::stoul(crc, nullptr, 16)))};
  return list.entries.emplace(line, entry).second ? "" : "a name is listed twice";
}

List read_list(const fs::path& checkpoint) {
  constexpr std::int64_t most = 64 << 20;
  List list;
  const auto path = (checkpoint / k_complete).string();
  const auto failed = [&](const std::string& why) {
    list.problem = format_message("{}: {}", path, why);
    return list;
  };
  RegularFile file(path);
  if (!file.problem().empty()) {
    list.unfinished = file.is_missing();
    return failed(file.problem());
  }
  if (file.size() > most)
    return failed("the checkpoint's list of files exceeds 64 MiB (damaged: use an older checkpoint)");
  std::istringstream lines(file.read(static_cast<std::size_t>(file.size())));
  std::string line;
  if (!std::getline(lines, line) || line != k_head)
    return failed(format_message("the checkpoint's list of files does not start with '{}' (damaged, or of "
                                 "another version: use an older checkpoint)",
                                 k_head));
  for (int number = 2; std::getline(lines, line); ++number) {
    if (lines.eof())
      return failed(
          "the checkpoint's list of files does not end with a newline (incomplete: use an older checkpoint)");
    if (const auto why = read_entry(line, list); !why.empty())
      return failed(format_message("line {}: {}", number, why));
  }
  return list.entries.empty() ? failed("lists no file") : list;
}

/// Reads a listed file; returns why it is not as listed. With `checksum`, its bytes go to `visit` in pieces.
template <class Visit>
std::string read_listed(const fs::path& path, const Entry& entry, bool checksum, const Visit& visit) {
  constexpr std::size_t piece_bytes = 1 << 20;
  const auto failed = [&](const std::string& why) { return format_message("{}: {}", path.string(), why); };
  RegularFile file(path.string());
  if (!file.problem().empty()) return failed(file.problem());
  if (file.size() != entry.bytes)
    return failed(format_message(
        "the checkpoint file has {} bytes, expected {} (incomplete: restore it, or use an older checkpoint)",
        file.size(), entry.bytes));
  if (!checksum) return {};
  Crc32 crc;
  std::int64_t count = 0;
  for (auto piece = file.read(piece_bytes); !piece.empty(); piece = file.read(piece_bytes)) {
    crc.add(piece);
    count += static_cast<std::int64_t>(piece.size());
    visit(piece);
  }
  if (!file.problem().empty()) return failed(file.problem());
  if (count != entry.bytes || hex(crc.value()) != entry.crc)
    return failed(format_message(
        "the file's CRC-32 is {}, expected {} (damaged: restore this file, or use an older checkpoint)",
        hex(crc.value()), entry.crc));
  return {};
}

/// Reads all files of a checkpoint with their checksums, and keeps the bytes of one.
CheckpointProblem read_one(const fs::path& checkpoint, const std::string& name, std::string& bytes) {
  const auto list = read_list(checkpoint);
  if (!list.problem.empty()) return {list.problem, list.unfinished};
  if (list.entries.count(name) == 0)
    return {format_message("{}: does not list {}", (checkpoint / k_complete).string(), name), false};
  bytes.clear();
  for (const auto& item : list.entries) {
    const bool is_wanted = item.first == name;
    const auto problem =
        read_listed(checkpoint / item.first, item.second, true, [&](const std::string& piece) {
          if (is_wanted) bytes += piece;
        });
    if (!problem.empty()) return {problem, false};
  }
  return {};
}

/// The number of "step-12"; -1: another name.
std::int64_t step_of(const std::string& name) {
  const std::string digits = name.rfind(k_prefix, 0) == 0 ? name.substr(std::strlen(k_prefix)) : "";
  if (!consists_of(digits, "0123456789") || digits.size() > 18) return -1;
  return digits.size() > 1 && digits.front() == '0' ? -1 : std::stoll(digits);
}

fs::path part_path(const fs::path& directory, std::int64_t step) {
  return directory / ("." + checkpoint_path(directory, step).filename().string() + k_part);
}

void remove_old(const fs::path& directory, std::int64_t newest) {
  std::size_t kept = 0;
  for (const auto step : checkpoint_steps(directory)) {
    // After a restart from the beginning, higher numbers belong to the run before: they stay until replaced.
    const auto path = checkpoint_path(directory, step);
    if (step > newest || find_checkpoint_problem(path, CheckpointCheck::sizes)) continue;
    if (++kept > k_kept_checkpoints) remove_tree(path.string());
  }
  const std::string head = std::string(".") + k_prefix, tail = k_part;
  for (const auto& name : names_in(directory.string()))
    if (name.rfind(head, 0) == 0 && name.size() > tail.size() &&
        name.compare(name.size() - tail.size(), tail.size(), tail) == 0)
      remove_tree((directory / name).string());
}

} // namespace

std::vector<std::int64_t> checkpoint_steps(const fs::path& directory) {
  std::vector<std::int64_t> steps;
  for (const auto& name : names_in(directory.string()))
    if (const auto step = step_of(name); step >= 0) steps.push_back(step);
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

CheckpointProblem find_checkpoint_problem(const fs::path& checkpoint, CheckpointCheck check) {
  const auto list = read_list(checkpoint);
  if (!list.problem.empty()) return {list.problem, list.unfinished};
  for (const auto& [name, entry] : list.entries) {
    const bool checksums = check == CheckpointCheck::checksums;
    const auto problem = read_listed(checkpoint / name, entry, checksums, [](const std::string&) {});
    if (!problem.empty()) return {problem, false};
  }
  return {};
}

fs::path checkpoint_path(const fs::path& directory, std::int64_t step) {
  return directory / (k_prefix + std::to_string(step));
}

void write_checkpoint(const fs::path& directory, std::int64_t step,
                      const std::map<std::string, std::string>& files) {
  if (const int error = make_directories(directory.string())) fail("create", directory, error);
  const auto part = part_path(directory, step), path = checkpoint_path(directory, step);
  remove_tree(part.string());
  if (const int error = make_directories(part.string())) fail("create", part, error);
  try {
    std::ostringstream list;
    list << k_head << "\n";
    for (const auto& [name, bytes] : files) {
      write_whole(part / name, bytes);
      Crc32 crc;
      crc.add(bytes);
      list << bytes.size() << " " << hex(crc.value()) << " " << name << "\n";
    }
    write_whole(part / k_complete, list.str());
    sync_path(part, O_RDONLY | O_DIRECTORY);
    remove_tree(path.string());
    if (::rename(part.c_str(), path.c_str()) != 0) fail("rename", part, errno);
  } catch (...) {
    remove_tree(part.string());
    throw;
  }
  sync_path(directory, O_RDONLY | O_DIRECTORY);
  remove_old(directory, step);
}

std::string read_checkpoint_file(const fs::path& directory, std::int64_t step, const std::string& name) {
  std::string bytes;
  if (const auto problem = read_one(checkpoint_path(directory, step), name, bytes))
    throw std::runtime_error(problem.text);
  return bytes;
}

UsableCheckpoint find_usable_checkpoint(const fs::path& directory, const std::string& name) {
  UsableCheckpoint found;
  for (const auto step : checkpoint_steps(directory)) {
    const auto problem = read_one(checkpoint_path(directory, step), name, found.bytes);
    if (!problem) {
      found.step = step;
      return found;
    }
    found.skipped.push_back(problem.text);
    found.damaged = found.damaged || !problem.unfinished;
  }
  found.bytes.clear();
  return found;
}

std::int64_t find_latest_checkpoint(const fs::path& directory) {
  for (const auto step : checkpoint_steps(directory))
    if (!find_checkpoint_problem(checkpoint_path(directory, step), CheckpointCheck::sizes)) return step;
  return -1;
}

} // namespace hpcml::ddp
