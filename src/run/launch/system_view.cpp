// SPDX-License-Identifier: MIT
#include "run/launch/system_view.hpp"

#include <fmt/format.h>
#include <net/if.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

#include "core/topo/live_files.hpp"
#include "core/topo/live_nics.hpp"
#include "core/util/file.hpp"
#include "core/util/process_stat.hpp"
#include "run/find_torch/find_torch.hpp"
#include "run/launch/job_key.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/resolve/task_starter.hpp"

namespace hpcml::launch {

namespace {

std::uint64_t from_kernel(rlim_t value) { return value == RLIM_INFINITY ? ProcessLimit::k_unlimited : value; }
rlim_t to_kernel(std::uint64_t value) { return value == ProcessLimit::k_unlimited ? RLIM_INFINITY : value; }

ProcessLimit read_limit(decltype(RLIMIT_NOFILE) resource) {
  rlimit found{};
  if (::getrlimit(resource, &found) != 0) return {};
  return {from_kernel(found.rlim_cur), from_kernel(found.rlim_max)};
}

void apply_limit(System& system, int resource, const ProcessLimit& limit) {
  const rlimit wanted{to_kernel(limit.soft), to_kernel(limit.hard)};
  system.setrlimit(resource, wanted);
}

/// Returns the names of all interfaces of this node, up or not; empty if unknown.
std::vector<std::string> read_interfaces() {
  std::vector<std::string> names;
  // Not from /sys: a container may show the host's interfaces there, but have its own network.
  struct if_nameindex* list = ::if_nameindex();
  for (const auto* entry = list; entry != nullptr && entry->if_index != 0; ++entry)
    names.emplace_back(entry->if_name);
  if (list != nullptr) ::if_freenameindex(list);
  return names;
}

/// Each CPU that may be used as a core: all that is known without /sys.
model::CpuShape cores_of(const model::IdSet& mask) {
  model::CpuShape shape;
  for (const unsigned cpu : mask.ids()) shape.core_threads.push_back(model::IdSet::of({cpu}));
  shape.cores = static_cast<unsigned>(shape.core_threads.size());
  shape.sockets = shape.threads_per_core = 1;
  return shape;
}

} // namespace

util::Result<NodeView> read_node(const LaunchRequest& request) {
  TRY(auto mask, topo::read_allowed_cpus());
  auto cpus = topo::read_live_cpus();
  if (!cpus && request.bind != BindMode::none)
    return util::Error{cpus.error().what, cpus.error().hint.empty()
                                              ? "use --bind none to start the program without binding"
                                              : fmt::format("use --bind none, or {}", cpus.error().hint)};
  if (!cpus) cpus = cores_of(mask);
  if (mask.empty())
    return util::Error{"this process may not use any CPU: its affinity mask is empty",
                       "check --cpu-bind of the step and the cgroup of the job"};
  NodeView node{std::move(*cpus), std::move(mask), topo::read_live_gpus(), {}, {}, {}};
  node.limits = read_limits();
  if (node.limits.locked_memory.soft < k_enough_locked_memory) node.locking_fabric = read_locking_fabric();
  const auto& names = site_or_none(request).network.interfaces;
  if (request.site)
    node.interfaces = read_interfaces(); // without one nothing names interfaces that could be missing
  if (request.gpus_per_task != 0U) node.nics = topo::read_live_nics(node.gpus.places, names);
  if (request.rank_order.kind == model::GpuOrderKind::ring)
    if (auto whole = topo::read_live_node()) node.links = std::move(whole->links);
  return node;
}

std::vector<std::string> read_ancestors() {
  constexpr std::size_t k_most = 64;
  std::vector<std::string> names;
  std::int64_t pid = ::getppid();
  while (pid > 1 && names.size() < k_most) {
    auto stat = util::read_process_stat(pid);
    if (!stat) break;
    auto name = std::move(stat->name);
    const bool last = name == k_step_daemon;
    if (last) name = util::read_file("/proc/" + std::to_string(pid) + "/cmdline").value_or(name);
    names.push_back(std::move(name));
    if (last) break;
    pid = stat->parent;
  }
  return names;
}

ProcessLimits read_limits() { return {read_limit(RLIMIT_MEMLOCK), read_limit(RLIMIT_NOFILE)}; }

void apply_limits(System& system, const ProcessLimits& limits) {
  apply_limit(system, RLIMIT_MEMLOCK, limits.locked_memory);
  apply_limit(system, RLIMIT_NOFILE, limits.open_files);
}

std::string read_locking_fabric(const std::filesystem::path& root) {
  const auto devices = root / "sys/class/infiniband";
  std::string fabric;
  for (const auto& name : topo::entries(devices)) {
    if (!topo::read_line(devices / name / "ports/1/state").ends_with("ACTIVE")) continue;
    if (topo::read_line(devices / name / "ports/1/link_layer") != "Ethernet")
      return name.starts_with("hfi1") ? "Omni-Path" : "InfiniBand";
    fabric = "RoCE";
  }
  return fabric;
}

bool SystemNodeQueries::has_file(const std::string& path) const {
  std::error_code none;
  return std::filesystem::exists(path, none);
}

std::string SystemNodeQueries::text_of_file(const std::string& path) const {
  return util::read_file(path).value_or("");
}

util::Result<slurm::StepNodes> SystemNodeQueries::step_nodes() const {
  return slurm::ask_step_nodes(x_context.env);
}

util::Result<JobChannelKey> SystemNodeQueries::job_channel(const slurm::StepIdentity& identity,
                                                           bool starts_all_ranks) const {
  return find_job_channel(x_context.env, identity, starts_all_ranks);
}

bool SystemNodeQueries::may_be_host(const std::string& address, const std::string& node, bool is_here) const {
  return launch::may_be_host(address, node, is_here);
}

util::Result<unsigned> SystemNodeQueries::free_port() const { return free_loopback_port(); }

find_torch::TorchLookupResult SystemNodeQueries::torch(const std::vector<std::string>& command,
                                                       const util::EnvSnapshot& env) const {
  char directory[4096];
  return find_torch::find_torch(command, env, ::getcwd(directory, sizeof directory) ? directory : "/");
}

NetworkView SystemNodeQueries::network(const std::vector<std::string>& hosts) const {
  return read_network(hosts);
}

std::string SystemNodeQueries::site_fabric() const {
  return x_context.find_fabric ? x_context.find_fabric() : std::string();
}

} // namespace hpcml::launch
