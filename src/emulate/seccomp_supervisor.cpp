// SPDX-License-Identifier: MIT
#include "emulate/seccomp_supervisor.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "emulate/task_status.hpp"
#include "emulate/thread_bindings.hpp"

namespace hpcml::emulate {

namespace {

// Reading and writing another process's memory.

void* as_pointer(std::uint64_t address) {
  // An address of another process, which only the kernel follows.
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)); // NOLINT(performance-no-int-to-ptr)
}

/// True if all `size` bytes could be copied.
bool read_remote(pid_t pid, std::uint64_t address, void* data, std::size_t size) {
  const iovec local_part{data, size};
  const iovec remote_part{as_pointer(address), size};
  return ::process_vm_readv(pid, &local_part, 1, &remote_part, 1, 0) == static_cast<ssize_t>(size);
}

/// The same in the other direction.
bool write_remote(pid_t pid, std::uint64_t address, const void* data, std::size_t size) {
  const iovec local_part{const_cast<void*>(data), size};
  const iovec remote_part{as_pointer(address), size};
  return ::process_vm_writev(pid, &local_part, 1, &remote_part, 1, 0) == static_cast<ssize_t>(size);
}

/// The text that ends with a zero byte at `address`; empty if it is longer than the buffer or cannot be read.
std::string_view read_remote_text(pid_t pid, std::uint64_t address, char* buffer, std::size_t size) {
  // The text may end just before an unmapped page: the second piece is allowed to fail.
  static const std::uint64_t page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t first = std::min<std::uint64_t>(size, page - address % page);
  const iovec local_part{buffer, size};
  const iovec remote_parts[2] = {{as_pointer(address), first}, {as_pointer(address + first), size - first}};
  const ssize_t count = ::process_vm_readv(pid, &local_part, 1, remote_parts, first < size ? 2 : 1, 0);
  if (count <= 0) return {};
  const void* end = std::memchr(buffer, 0, static_cast<std::size_t>(count));
  if (!end) return {};
  return {buffer, static_cast<std::size_t>(static_cast<const char*>(end) - buffer)};
}

/// What a call returns: a value, or a negative error number.
using CallResult = long long;

class CallSupervisor {
public:
  CallSupervisor(int listener, const EmulatedNodeView& node)
      : x_listener(listener), x_tasks(node.cpu.all(), node.first_tag) {
    x_domains = node.cpu.numa;
    for (const auto& domain : x_domains) x_memory_nodes.add(domain.id);
    if (x_memory_nodes.empty()) x_memory_nodes.add(0);
  }

  void run() {
    // Linux 6.6: hand the CPU to the supervisor and back at once, which halves the time of a call. Older ones
    // refuse.
#ifdef SECCOMP_IOCTL_NOTIF_SET_FLAGS
    ::ioctl(x_listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
#else
    ::ioctl(x_listener, _IOW('!', 4, std::uint64_t), 1UL);
#endif
    for (;;) {
      pollfd ready{x_listener, POLLIN, 0};
      if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return;
      if (ready.revents & POLLIN)
        serve_one();
      else if (ready.revents & (POLLHUP | POLLERR))
        return; // no process uses the filter any more
    }
  }

private:
  void serve_one() {
    seccomp_notif call;
    std::memset(&call, 0, sizeof call);
    if (::ioctl(x_listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return; // the caller was killed meanwhile
    switch (call.data.nr) {
    case SYS_sched_setaffinity: return reply(call, set_affinity(call));
    case SYS_sched_getaffinity: return reply(call, get_affinity(call));
    case SYS_set_mempolicy: return reply(call, set_memory_policy(call));
    case SYS_get_mempolicy: return reply(call, get_memory_policy(call));
    case SYS_mbind: return reply(call, bind_memory(call));
    default: return serve_open(call);
    }
  }

  void reply(const seccomp_notif& call, CallResult answer) {
    seccomp_notif_resp response{};
    response.id = call.id;
    if (answer < 0)
      response.error = static_cast<int>(answer);
    else
      response.val = answer;
    ::ioctl(x_listener, SECCOMP_IOCTL_NOTIF_SEND, &response); // fails when the caller is gone: nothing to do
  }

  void let_kernel_do_it(const seccomp_notif& call) {
    seccomp_notif_resp response{};
    response.id = call.id;
    response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ::ioctl(x_listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
  }

  /// False once the caller is gone, when its number may already be another process's.
  bool is_waiting(const seccomp_notif& call) const {
    std::uint64_t id = call.id;
    return ::ioctl(x_listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
  }

  pid_t caller(const seccomp_notif& call) const { return static_cast<pid_t>(call.pid); }
  pid_t target(const seccomp_notif& call) const {
    const auto pid = static_cast<pid_t>(call.data.args[0]);
    return pid == 0 ? caller(call) : pid;
  }
  /// Bytes of a mask as the kernel counts them.
  std::size_t mask_size() const { return std::size_t{x_tasks.cpu_ids() + 63} / 64 * 8; }

  CallResult set_affinity(const seccomp_notif& call) {
    unsigned char bytes[8192] = {};
    const std::size_t size =
        std::min<std::uint64_t>({static_cast<unsigned>(call.data.args[1]), mask_size(), sizeof bytes});
    if (size > 0 && !read_remote(caller(call), call.data.args[2], bytes, size)) return -EFAULT;
    if (!is_waiting(call)) return -ESRCH;
    model::IdSet wanted;
    for (unsigned id = 0; id < size * CHAR_BIT; ++id)
      if (bytes[id / CHAR_BIT] >> (id % CHAR_BIT) & 1) wanted.add(id);
    switch (x_tasks.set_cpus(target(call), wanted)) {
    case ThreadBindings::SetResult::done: return 0;
    case ThreadBindings::SetResult::no_such_task: return -ESRCH;
    case ThreadBindings::SetResult::empty_mask: return -EINVAL;
    }
    return -EINVAL;
  }

  CallResult get_affinity(const seccomp_notif& call) {
    const std::size_t length = static_cast<unsigned>(call.data.args[1]);
    if (length * CHAR_BIT < x_tasks.cpu_ids() || length % sizeof(long) != 0) return -EINVAL;
    const auto state = x_tasks.get(target(call));
    if (!state) return -ESRCH;
    const auto bytes = to_bytes(state->cpus, std::min(length, mask_size()));
    if (!is_waiting(call)) return -ESRCH;
    if (!write_remote(caller(call), call.data.args[2], bytes.data(), bytes.size())) return -EFAULT;
    return static_cast<CallResult>(bytes.size());
  }

  static std::vector<unsigned char> to_bytes(const model::IdSet& ids, std::size_t size) {
    std::vector<unsigned char> bytes(size);
    for (const unsigned id : ids.ids())
      if (id / CHAR_BIT < size) bytes[id / CHAR_BIT] |= static_cast<unsigned char>(1u << (id % CHAR_BIT));
    return bytes;
  }

  /// The set of memory nodes at `address`, of which the first `count - 1` bits count; an error number where
  /// the kernel has one.
  CallResult read_nodes(const seccomp_notif& call, std::uint64_t address, std::uint64_t count,
                        model::IdSet& nodes) const {
    constexpr std::uint64_t k_most = std::uint64_t{4096} * CHAR_BIT;
    if (count <= 1 || address == 0) return 0;
    const std::uint64_t bits = count - 1;
    if (bits > k_most) return -EINVAL;
    std::vector<unsigned char> bytes((bits + 63) / 64 * 8);
    if (!read_remote(caller(call), address, bytes.data(), bytes.size())) return -EFAULT;
    for (unsigned id = 0; id < bits; ++id)
      if (bytes[id / CHAR_BIT] >> (id % CHAR_BIT) & 1) nodes.add(id);
    return 0;
  }

  CallResult set_memory_policy(const seccomp_notif& call) {
    model::IdSet wanted;
    if (const auto error = read_nodes(call, call.data.args[1], call.data.args[2], wanted); error < 0)
      return error;
    const auto policy = make_mem_policy(static_cast<int>(call.data.args[0]), wanted, x_memory_nodes);
    if (!policy) return -EINVAL;
    return is_waiting(call) && x_tasks.set_memory(caller(call), *policy) ? 0 : -ESRCH;
  }

  /// Accepted or refused as on the node; where the pages are does not change on this machine.
  CallResult bind_memory(const seccomp_notif& call) const {
    constexpr std::uint64_t k_flags = MPOL_MF_STRICT | MPOL_MF_MOVE | MPOL_MF_MOVE_ALL;
    const auto& args = call.data.args;
    if ((args[5] & ~k_flags) != 0 || args[0] % static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) != 0)
      return -EINVAL;
    model::IdSet wanted;
    if (const auto error = read_nodes(call, args[3], args[4], wanted); error < 0) return error;
    return make_mem_policy(static_cast<int>(args[2]), wanted, x_memory_nodes) ? 0 : -EINVAL;
  }

  CallResult get_memory_policy(const seccomp_notif& call) const {
    const auto& args = call.data.args; // mode, nodes, count, address, flags
    const auto flags = args[4];
    const bool by_address = (flags & MPOL_F_ADDR) != 0, as_node = (flags & MPOL_F_NODE) != 0;
    const bool allowed = (flags & MPOL_F_MEMS_ALLOWED) != 0;
    if ((flags & ~std::uint64_t(MPOL_F_NODE | MPOL_F_ADDR | MPOL_F_MEMS_ALLOWED)) != 0 ||
        (allowed && (by_address || as_node)))
      return -EINVAL;
    if (!by_address && args[3] != 0) return -EINVAL;
    if (args[1] != 0 && args[2] < x_memory_nodes.ids().back() + 1) return -EINVAL;
    const auto state = x_tasks.get(caller(call));
    if (!state) return -ESRCH;
    const auto& policy = state->memory;
    if (as_node && !by_address && policy.mode != MPOL_INTERLEAVE) return -EINVAL;
    int mode = allowed ? 0 : policy.mode | policy.flags;
    if (as_node) mode = static_cast<int>(choose_memory_node(policy, domain_of(state->cpus)));
    if (!is_waiting(call)) return -ESRCH;
    if (args[0] != 0 && !write_remote(caller(call), args[0], &mode, sizeof mode)) return -EFAULT;
    if (args[1] == 0) return 0;
    const auto bytes = to_bytes(allowed ? x_memory_nodes : policy.shown,
                                std::min<std::uint64_t>((args[2] + 62) / 64 * 8, 4096));
    return write_remote(caller(call), args[1], bytes.data(), bytes.size()) ? 0 : -EFAULT;
  }

  unsigned domain_of(const model::IdSet& cpus) const {
    for (const auto& domain : x_domains)
      if (domain.cpus.intersects(cpus)) return domain.id;
    return x_memory_nodes.first();
  }

  void serve_open(const seccomp_notif& call) {
    const bool old_open = call.data.nr != SYS_openat && call.data.nr != SYS_openat2;
    char buffer[128]; // longer paths name none of the files
    const auto path = read_remote_text(caller(call), call.data.args[old_open ? 0 : 1], buffer, sizeof buffer);
    for (const char* name : {"status", "numa_maps"})
      if (path.ends_with(name) && hand_in_file(call, path, name, old_open)) return;
    let_kernel_do_it(call);
  }

  bool hand_in_file(const seccomp_notif& call, std::string_view path, const std::string& name,
                    bool old_open) {
    const auto task = find_file_task(absolute(call, path, old_open), name, caller(call));
    if (!task || !is_waiting(call) || !x_tasks.owns(*task)) return false;
    const auto real = util::read_file("/proc/" + std::to_string(*task) + "/" + name);
    const auto state = x_tasks.get(*task);
    if (!real || !state) return false;
    const int file = ::memfd_create(name.c_str(), MFD_CLOEXEC);
    if (file < 0) return false;
    const std::string text =
        name == "status" ? render_status(*real, state->cpus, x_tasks.cpu_ids(), x_memory_nodes)
                         : render_numa_maps(*real, state->memory,
                                            choose_memory_node(state->memory, domain_of(state->cpus)));
    const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                         ::lseek(file, 0, SEEK_SET) == 0;
    seccomp_notif_addfd hand_in{};
    hand_in.id = call.id;
    hand_in.flags = SECCOMP_ADDFD_FLAG_SEND; // also answers the call, with the descriptor's number there
    hand_in.srcfd = static_cast<std::uint32_t>(file);
    hand_in.newfd_flags = open_flags(call, old_open) & O_CLOEXEC;
    const bool handed_in = written && ::ioctl(x_listener, SECCOMP_IOCTL_NOTIF_ADDFD, &hand_in) >= 0;
    const bool lost = !handed_in && errno == ENOENT;
    ::close(file);
    return handed_in || lost;
  }

  std::string absolute(const seccomp_notif& call, std::string_view path, bool old_open) const {
    if (path.starts_with("/")) return std::string(path);
    const auto directory = static_cast<int>(call.data.args[0]);
    const std::string link =
        "/proc/" + std::to_string(call.pid) +
        (old_open || directory == AT_FDCWD ? "/cwd" : "/fd/" + std::to_string(directory));
    char where[256];
    const ssize_t length = ::readlink(link.c_str(), where, sizeof where);
    if (length <= 0 || length == static_cast<ssize_t>(sizeof where)) return {};
    return std::string(where, static_cast<std::size_t>(length)) + "/" + std::string(path);
  }

  std::uint32_t open_flags(const seccomp_notif& call, bool old_open) const {
    if (call.data.nr != SYS_openat2) return static_cast<std::uint32_t>(call.data.args[old_open ? 1 : 2]);
    open_how how{};
    return read_remote(caller(call), call.data.args[2], &how, sizeof how)
               ? static_cast<std::uint32_t>(how.flags)
               : O_CLOEXEC;
  }

  int x_listener;
  ThreadBindings x_tasks;
  std::vector<model::CpuDomain> x_domains; ///< of memory
  model::IdSet x_memory_nodes;
};

} // namespace

void run_supervisor(int listener, const EmulatedNodeView& node) { CallSupervisor(listener, node).run(); }

} // namespace hpcml::emulate
