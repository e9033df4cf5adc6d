// SPDX-License-Identifier: MIT
#include "emulate/fault_spec.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/model/walltime.hpp"
#include "core/util/text.hpp"

namespace hpcml::emulate {

namespace {

using std::chrono::seconds;

/// How a kind is written.
struct FaultRow {
  FaultKind kind;
  const char* name;
  bool of_node;        ///< ":NODE" follows
  bool cuts_links;     ///< needs a network of the nodes' own
  bool any_time;       ///< without a time it is so from the first job's beginning
  const char* no_end;  ///< why it has no end; nullptr: it may have one
  const char* example; ///< what is right
};

constexpr FaultRow k_rows[] = {
    {FaultKind::node_down, "node-down", true, false, false,
     "node-down has no end time, because a node that is down stays down", "node-down:2@30s"},
    {FaultKind::link_cut, "link-cut", true, true, false, nullptr, "link-cut:2@10s..20s"},
    {FaultKind::slow_link, "slow-link", true, true, true, nullptr, "slow-link:3:10x"},
    {FaultKind::controller_restart, "slurmctld-restart", false, false, false, nullptr,
     "slurmctld-restart@20s"},
    {FaultKind::out_of_memory, "oom", true, false, false,
     "oom has no end time, because a killed process stays dead", "oom:2@30s"},
    {FaultKind::preempt, "preempt", false, false, false, nullptr, "preempt@40s"},
};

const FaultRow* find_row(std::string_view name) {
  const auto found =
      std::find_if(std::begin(k_rows), std::end(k_rows), [&](const auto& row) { return row.name == name; });
  return found == std::end(k_rows) ? nullptr : &*found;
}

constexpr unsigned k_slowest = 10000;
constexpr seconds k_preemption{30}; ///< how long the nodes are taken if it is not given

/// Until the nodes are free: Slurm looks twice a minute whether a grace is over.
seconds lasting(seconds grace) { return grace.count() == 0 ? grace : grace + seconds(30); }

// The first is meant if none is given.
constexpr PreemptionModeNames k_preemption_modes[] = {
    {PreemptionMode::requeue, "requeue", "requeued", "REQUEUE"},
    {PreemptionMode::cancel, "cancel", "cancelled", "CANCEL"},
    {PreemptionMode::suspend, "suspend", "suspended", "SUSPEND,GANG"},
};

constexpr std::string_view k_by_qos = "qos"; ///< before a way: "qos", "qos-cancel"

std::string describe_ways() {
  std::vector<std::string> forms;
  for (const auto& row : k_preemption_modes)
    forms.push_back(fmt::format("preempt{}@40s (they are {})",
                                row.mode == k_preemption_modes[0].mode ? "" : std::string(":") + row.word,
                                row.done));
  forms.emplace_back("preempt:qos@40s or preempt:qos-cancel@40s (by QoS)");
  forms.emplace_back("preempt:cancel:20s@40s (20 s after their SIGTERM)");
  return util::join(forms, ", ");
}

constexpr seconds k_longest{7 * 24 * 3600};

/// "30s", "2m", "1h", "1m30s".
std::optional<seconds> parse_time(std::string_view text) {
  const auto time = model::parse_units(text);
  return time && *time <= k_longest ? time : std::nullopt;
}

/// One text on its way to a fault; what is wrong with it is gathered.
class Reader {
public:
  Reader(const std::string& text, const FaultValidationContext& cluster, FaultList& list)
      : x_text(text), x_cluster(cluster), x_list(list) {}

  void read() {
    const auto at = x_text.find('@');
    auto words = util::split(x_text.substr(0, at), ':');
    x_row = find_row(words.front());
    if (x_row == nullptr) return refuse_kind(words.front());
    const auto before = x_list.errors.size();
    x_fault.kind = x_row->kind;
    x_fault.text = x_text;
    if (x_row->kind == FaultKind::slow_link) take_factor(words);
    if (x_row->kind == FaultKind::preempt) take_way(words);
    read_node(words);
    read_times(at == std::string::npos ? std::string() : x_text.substr(at + 1));
    if (x_row->cuts_links && !x_cluster.networks)
      refuse(
          "the nodes share one loopback network (--shared-network), so hpcml cannot cut or slow their links",
          "remove --shared-network");
    if (x_list.errors.size() == before) x_list.faults.push_back(x_fault);
  }

private:
  void refuse(const std::string& why, const std::string& hint) {
    x_list.errors.push_back({fmt::format("--fault {}: {}", x_text, why), hint});
  }
  std::string like() const { return fmt::format("use for example {}", x_row->example); }

  void refuse_kind(const std::string& name) {
    std::vector<std::string> names;
    for (const auto& row : k_rows) names.emplace_back(row.name);
    const auto meant = util::nearest(name, names);
    refuse(meant ? fmt::format("unknown fault '{}'; did you mean {}?", name, *meant)
                 : fmt::format("unknown fault '{}'", name),
           fmt::format("use one of {}", describe_faults()));
  }

  /// The "10x" after the node.
  void take_factor(std::vector<std::string>& words) {
    if (words.size() < 3)
      return refuse("slow-link needs a factor after the node number, such as 10x for a tenth of the speed",
                    like());
    const std::string word = words.back();
    words.pop_back();
    const auto number =
        util::parse_unsigned(std::string_view(word).substr(0, word.size() - word.ends_with('x')));
    if (!word.ends_with('x') || !number || *number < 2 || *number > k_slowest)
      return refuse(fmt::format("the link slowdown '{}' must be a factor from 2x to {}x", word, k_slowest),
                    like());
    x_fault.factor = static_cast<unsigned>(*number);
  }

  /// "cancel", "qos", "qos-cancel"; false: it is none of them.
  bool read_way(std::string_view word) {
    x_fault.by_qos = word == k_by_qos || word.starts_with(std::string(k_by_qos) + "-");
    if (word == k_by_qos) return true;
    if (x_fault.by_qos) word.remove_prefix(k_by_qos.size() + 1);
    const auto mode = std::find_if(std::begin(k_preemption_modes), std::end(k_preemption_modes),
                                   [&](const auto& row) { return row.word == word; });
    if (mode != std::end(k_preemption_modes)) x_fault.mode = mode->mode;
    return mode != std::end(k_preemption_modes);
  }

  /// The way and the grace between kind and time; each may be missing.
  void take_way(std::vector<std::string>& words) {
    const std::vector<std::string> terms(words.begin() + 1, words.end());
    words.resize(1);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const auto grace = parse_time(terms[i]);
      if (grace && i + 1 == terms.size())
        x_fault.grace = *grace;
      else if (i > 0 || !read_way(terms[i]))
        return refuse(fmt::format("unknown form of preemption '{}' for --fault preempt", terms[i]),
                      fmt::format("use one of {}", describe_ways()));
    }
    if (x_fault.by_qos && !x_cluster.networks)
      refuse("preemption by QoS needs slurmdbd, which does not run with --shared-network",
             "remove --shared-network");
  }

  void read_node(const std::vector<std::string>& words) {
    if (!x_row->of_node) {
      if (words.size() > 1)
        refuse(fmt::format("{} affects the whole cluster and accepts no node number", x_row->name), like());
      return;
    }
    if (words.size() != 2)
      return refuse(words.size() < 2
                        ? fmt::format("{} needs the number of a node, the first of which is 1", x_row->name)
                        : fmt::format("{} accepts only one node number before the time", x_row->name),
                    like());
    const auto number = util::parse_unsigned(words[1]);
    if (!number || *number == 0)
      return refuse(fmt::format("'{}' is not a valid node number (the first node is 1)", words[1]), like());
    if (!x_cluster.whole_site && *number > x_cluster.nodes)
      return refuse(fmt::format("node {} does not exist: the cluster has {}", words[1],
                                util::counted(x_cluster.nodes, "node")),
                    fmt::format("use --nodes {} to emulate more nodes", words[1]));
    x_fault.node = static_cast<unsigned>(*number);
  }

  /// Reads the start or the end of the fault; reports a text that is not a time.
  std::optional<seconds> read_time(const std::string& text, const char* what) {
    const auto time = parse_time(text);
    if (!time)
      refuse(fmt::format("'{}' is not a valid time for the {} of the fault (limit: {} days)", text, what,
                         std::chrono::floor<std::chrono::days>(k_longest).count()),
             "use 30s, 2m or 1m30s");
    return time;
  }

  void read_times(const std::string& times) {
    if (times.empty() && x_row->any_time) return;
    if (times.empty())
      return refuse(fmt::format("{} needs a start time such as @30s, counted from the start of the first job",
                                x_row->name),
                    like());
    const auto dots = times.find("..");
    const auto from = read_time(times.substr(0, dots), "start");
    if (!from) return;
    x_fault.from = *from;
    if (x_row->kind == FaultKind::preempt) x_fault.until = *from + k_preemption + lasting(x_fault.grace);
    if (dots == std::string::npos) return;
    if (x_row->no_end != nullptr) return refuse(x_row->no_end, like());
    const auto until = read_time(times.substr(dots + 2), "end");
    if (!until) return;
    if (*until <= *from)
      return refuse("the end of the fault must be after its start",
                    "use the earlier time first: link-cut:2@10s..20s");
    x_fault.until = until;
  }

  const std::string& x_text;
  const FaultValidationContext& x_cluster;
  FaultList& x_list;
  const FaultRow* x_row = nullptr;
  ClusterFault x_fault;
};

/// A job is submitted to slurmctld, and ended by it: that must exist then.
void refuse_preemption_without_controller(FaultList& list) {
  const auto of_kind = [&](FaultKind kind) {
    return std::find_if(list.faults.begin(), list.faults.end(),
                        [&](const auto& fault) { return fault.kind == kind; });
  };
  const auto preemption = of_kind(FaultKind::preempt), restart = of_kind(FaultKind::controller_restart);
  if (preemption == list.faults.end() || restart == list.faults.end()) return;
  const auto is_away = [&](seconds at) {
    return at >= restart->from && at <= restart->until.value_or(restart->from);
  };
  const bool begins = is_away(preemption->from);
  if (!begins && !is_away(preemption->until.value_or(preemption->from))) return;
  list.errors.push_back(
      {fmt::format("--fault {} and --fault {}: slurmctld is down when the preempting job would {}",
                   preemption->text, restart->text, begins ? "be submitted" : "end"),
       "use times at which slurmctld runs: preempt@40s..50s"});
}

/// Two faults of one thing would undo each other.
void refuse_pairs(FaultList& list) {
  const auto& faults = list.faults;
  for (std::size_t later = 0; later < faults.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const auto &first = faults[earlier], &second = faults[later];
      const bool same_node = first.node != 0 && first.node == second.node;
      const bool same_kind = first.node == 0 && first.kind == second.kind;
      if (!same_node && !same_kind) continue;
      list.errors.push_back({fmt::format("--fault {} and --fault {}{}", first.text, second.text,
                                         same_node ? " affect the same node" : " are of the same kind"),
                             same_node ? "use a different node for each fault" : "remove one of them"});
      break;
    }
}

} // namespace

FaultList parse_faults(const std::vector<std::string>& texts, const FaultValidationContext& cluster) {
  FaultList list;
  for (const auto& text : texts) Reader(text, cluster, list).read();
  refuse_pairs(list);
  refuse_preemption_without_controller(list);
  if (cluster.whole_site && !texts.empty())
    list.errors.push_back({"--fault has no effect with --whole-site, which runs no nodes",
                           "remove --whole-site, and use --nodes to set how many run"});
  return list;
}

const PreemptionModeNames& preemption_mode_names(PreemptionMode mode) {
  return *std::find_if(std::begin(k_preemption_modes), std::end(k_preemption_modes),
                       [&](const auto& row) { return row.mode == mode; });
}

bool needs_links(FaultKind kind) {
  return std::any_of(std::begin(k_rows), std::end(k_rows),
                     [&](const auto& row) { return row.kind == kind && row.cuts_links; });
}

bool needs_memory_limits(const std::vector<ClusterFault>& faults) {
  return std::any_of(faults.begin(), faults.end(),
                     [](const auto& fault) { return fault.kind == FaultKind::out_of_memory; });
}

bool needs_accounting(const std::vector<ClusterFault>& faults) {
  return std::any_of(faults.begin(), faults.end(), [](const auto& fault) { return fault.by_qos; });
}

std::string describe_faults() {
  std::vector<std::string> forms;
  for (const auto& row : k_rows) forms.emplace_back(row.example);
  return util::join(forms, ", ");
}

unsigned choose_node_timeout(const std::vector<ClusterFault>& faults) {
  constexpr unsigned k_soon = 10, k_never = 600;
  constexpr seconds k_of_sites{300}; // SlurmdTimeout where a site says nothing else
  unsigned timeout = k_never;
  seconds longest_cut{0};
  for (const auto& fault : faults) {
    const bool cut = fault.kind == FaultKind::link_cut;
    const bool whole_in_time = cut && fault.until && *fault.until - fault.from < k_of_sites;
    if (fault.kind == FaultKind::node_down || (cut && !whole_in_time)) timeout = k_soon;
    if (whole_in_time) longest_cut = std::max(longest_cut, *fault.until - fault.from);
  }
  return timeout == k_never ? timeout
                            : std::min(k_never, timeout + static_cast<unsigned>(longest_cut.count()));
}

std::string describe_seconds(std::chrono::seconds time) {
  const auto minutes = time.count() / 60, rest = time.count() % 60;
  std::string text = minutes == 0 ? std::string() : fmt::format("{} min", minutes);
  if (rest != 0 || minutes == 0) text += (text.empty() ? "" : " ") + std::to_string(rest) + " s";
  return text;
}

} // namespace hpcml::emulate
