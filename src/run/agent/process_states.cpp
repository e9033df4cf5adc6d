// SPDX-License-Identifier: MIT
#include "run/agent/process_states.hpp"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/util/process_stat.hpp"
#include "core/util/text.hpp"
#include "run/agent/syscall_names.hpp"

namespace hpcml::agent {

namespace {

constexpr std::size_t k_most_processes = 64;
constexpr std::size_t k_most_threads = 512;
constexpr std::size_t k_most_of_maps = 4U << 20U;

/// Reads at most `most` bytes of a file of /proc; empty if it may not be read, or its process has exited.
std::string head_of_file(const std::string& path, std::size_t most = 16384) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  std::string text;
  char buffer[16384];
  while (text.size() < most) {
    const auto count = ::read(fd, buffer, std::min(sizeof buffer, most - text.size()));
    if (count <= 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(fd);
  return text;
}

/// Returns the numbers among the names in a directory, sorted.
std::vector<std::int64_t> numbers_in(const std::string& directory) {
  std::vector<std::int64_t> numbers;
  DIR* stream = ::opendir(directory.c_str());
  if (!stream) return numbers;
  while (const dirent* entry = ::readdir(stream))
    if (const auto number = util::parse_unsigned(entry->d_name); number && *number <= INT32_MAX)
      numbers.push_back(static_cast<std::int64_t>(*number));
  ::closedir(stream);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

bool runs_python(const std::string& directory) {
  char target[4096];
  const auto length = ::readlink((directory + "/exe").c_str(), target, sizeof target);
  if (length <= 0) return false; // of the kernel, gone, or not ours to look at
  if (util::base_name(std::string_view(target, static_cast<std::size_t>(length))).starts_with("python"))
    return true;
  return head_of_file(directory + "/maps", k_most_of_maps).find("/libpython") != std::string::npos;
}

ThreadState read_thread(const std::string& directory, std::int64_t tid) {
  ThreadState thread;
  thread.tid = tid;
  if (const auto stat = util::parse_process_stat(head_of_file(directory + "/stat"))) {
    thread.name = stat->name;
    thread.state = stat->state;
  }
  thread.syscall = parse_syscall(head_of_file(directory + "/syscall"));
  const auto channel = head_of_file(directory + "/wchan");
  if (channel != "0") thread.wait_channel = util::trim(channel);
  thread.kernel_frames = parse_kernel_stack(head_of_file(directory + "/stack"));
  return thread;
}

std::optional<ProcessState> read_process(std::int64_t pid, const std::string& proc) {
  const auto directory = proc + "/" + std::to_string(pid);
  const auto stat = util::parse_process_stat(head_of_file(directory + "/stat"));
  if (!stat) return std::nullopt;
  ProcessState process;
  process.pid = pid;
  process.parent = stat->parent;
  process.name = stat->name;
  process.is_python = runs_python(directory);
  auto tids = numbers_in(directory + "/task");
  std::stable_partition(tids.begin(), tids.end(), [&](auto tid) { return tid == pid; });
  if (tids.size() > k_most_threads) tids.resize(k_most_threads);
  for (const auto tid : tids)
    process.threads.push_back(read_thread(directory + "/task/" + std::to_string(tid), tid));
  return process;
}

bool waits_for_child(const ProcessState& process) {
  if (process.threads.empty()) return false;
  const auto& main = process.threads.front();
  return main.syscall == "wait4" || main.syscall == "waitid" ||
         (main.syscall.empty() && main.wait_channel == "do_wait");
}

} // namespace

std::string parse_syscall(std::string_view text) {
  const auto word = util::trim(text.substr(0, text.find(' ')));
  const auto number = util::parse_unsigned(word);
  return number && *number < 100000 ? syscall_name(static_cast<long>(*number)) : std::string();
}

std::vector<std::string> parse_kernel_stack(std::string_view text) {
  std::vector<std::string> frames;
  for (const auto& line : util::split(text, '\n')) {
    const auto close = line.find("] ");
    if (!line.starts_with("[<") || close == std::string::npos) continue;
    const auto name = line.substr(close + 2);
    frames.push_back(name.substr(0, name.find('+')));
  }
  return frames;
}

std::string render_state(const ThreadState& thread) {
  std::string text;
  switch (thread.state) {
  case 'R': text = "runs"; break;
  case 'S':
  case 'I': text = "sleeps"; break;
  case 'D': text = "waits for a device or a file system"; break;
  case 'T': text = "is stopped"; break;
  case 't': text = "is held by a debugger"; break;
  case 'Z':
  case 'X': return "has ended";
  default: return "not known";
  }
  if (!thread.syscall.empty()) text += " in " + thread.syscall;
  if (!thread.wait_channel.empty()) text += " (" + thread.wait_channel + ")";
  return text;
}

std::multimap<std::int64_t, std::int64_t> read_children(const std::string& proc) {
  std::multimap<std::int64_t, std::int64_t> children;
  for (const auto pid : numbers_in(proc))
    if (const auto stat = util::parse_process_stat(head_of_file(proc + "/" + std::to_string(pid) + "/stat")))
      children.emplace(stat->parent, pid);
  return children;
}

std::vector<ProcessState> read_process_tree(std::int64_t pid,
                                            const std::multimap<std::int64_t, std::int64_t>& children,
                                            const std::string& proc) {
  std::vector<ProcessState> tree;
  std::vector<std::int64_t> next = {pid};
  for (std::size_t i = 0; i < next.size() && tree.size() < k_most_processes; ++i) {
    auto process = read_process(next[i], proc);
    if (process)
      tree.push_back(*std::move(process));
    else if (i == 0)
      break;
    const auto [begin, end] = children.equal_range(next[i]);
    for (auto child = begin; child != end; ++child)
      if (!util::contains(next, child->second)) next.push_back(child->second);
  }
  return tree;
}

std::size_t find_program_in_tree(const std::vector<ProcessState>& tree) {
  const auto python =
      std::find_if(tree.begin(), tree.end(), [](const auto& process) { return process.is_python; });
  if (python != tree.end()) return static_cast<std::size_t>(python - tree.begin());
  std::size_t at = 0;
  for (std::size_t steps = 0; steps < tree.size() && waits_for_child(tree[at]); ++steps) {
    const auto is_child = [&](const ProcessState& process) { return process.parent == tree[at].pid; };
    if (std::count_if(tree.begin(), tree.end(), is_child) != 1) break;
    at = static_cast<std::size_t>(std::find_if(tree.begin(), tree.end(), is_child) - tree.begin());
  }
  return at;
}

} // namespace hpcml::agent
