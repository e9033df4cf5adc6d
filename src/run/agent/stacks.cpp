// SPDX-License-Identifier: MIT
#include "run/agent/stacks.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/util/text.hpp"
#include "core/util/visible.hpp"
#include "run/store/stall.hpp"

namespace hpcml::agent {

namespace {

constexpr std::size_t k_most_place_frames = 64;
constexpr std::size_t k_most_hosts = 8;

/// "0-8,10"
std::string ranks_text(const StackGroup& group) {
  std::vector<std::string> names;
  for (const auto& rank : group.ranks) names.push_back(std::to_string(rank.rank));
  return store::range_text(names);
}

/// Each host once, in the order of the ranks; of many the first ones.
std::string hosts_text(const StackGroup& group) {
  std::vector<std::string> hosts;
  for (const auto& rank : group.ranks) util::add_once(hosts, rank.host);
  return util::join_some(hosts, k_most_hosts);
}

/// The functions in which a program waits for its other ranks: torch's stores and process groups, their
/// collectives, and those of Gloo, NCCL and MPI.
constexpr std::string_view k_waiting_functions[] = {"init_process_group",
                                                    "_store_based_barrier",
                                                    "TCPStore",
                                                    "PrefixStore",
                                                    "ProcessGroup",
                                                    "gloo::",
                                                    "ncclCommInit",
                                                    "all_reduce",
                                                    "allreduce",
                                                    "all_gather",
                                                    "allgather",
                                                    "reduce_scatter",
                                                    "barrier",
                                                    "MPI_"};

/// The function of a frame: "poll" of "poll (poll.c:29)".
std::string_view function_of(std::string_view frame) { return frame.substr(0, frame.rfind(" (")); }

/// True for the C library's own functions (`__GI___clock_nanosleep`), not for Python's (`__getitem__`).
bool is_of_c_library(std::string_view frame) {
  const auto name = function_of(frame);
  return name.starts_with("__") && !name.ends_with("__");
}

/// True if the ranks of the group wait for other ranks.
bool waits_for_others(const StackGroup& group) {
  const auto& frames = group.ranks[0].frames;
  return std::any_of(frames.begin(), frames.end(), [](const std::string& frame) {
    const auto function = function_of(frame);
    return function == "broadcast" ||
           std::any_of(std::begin(k_waiting_functions), std::end(k_waiting_functions),
                       [&](auto name) { return function.find(name) != std::string_view::npos; });
  });
}

/// The innermost function that is not one of the C library's own, else the state.
std::string place_text(const StackGroup& group) {
  const auto& place = group.ranks[0];
  for (const auto& frame : place.frames)
    if (!is_of_c_library(frame)) return frame;
  if (!place.frames.empty()) return place.frames.front();
  return place.state.empty() ? "not known" : place.state;
}

std::string names_of(const StackGroup& group, bool others) {
  const auto count = group.ranks.size();
  if (count == 1) return "rank " + std::to_string(group.ranks[0].rank) + " (" + group.ranks[0].host + ")";
  return others ? std::to_string(count) + " others" : "ranks " + ranks_text(group);
}

void add_frames(std::string& text, const std::vector<std::string>& frames, const std::string& indent) {
  for (const auto& frame : frames) text += indent + util::visible(frame) + "\n";
}

/// Threads that are at the same place, in the order of the first one.
std::vector<std::vector<const ThreadStack*>> equal_threads(const ProcessStack& process) {
  std::vector<std::vector<const ThreadStack*>> groups;
  for (const auto& thread : process.threads) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group[0]->state == thread.state && group[0]->frames == thread.frames;
    });
    if (same != groups.end())
      same->push_back(&thread);
    else
      groups.push_back({&thread});
  }
  return groups;
}

} // namespace

MainThreadStack place_of(const RankStacks& rank, const std::string& host) {
  MainThreadStack place;
  place.rank = rank.rank;
  place.host = host;
  if (rank.program >= rank.processes.size() || rank.processes[rank.program].threads.empty()) {
    place.state = "has ended";
    return place;
  }
  const auto& process = rank.processes[rank.program];
  auto main = std::find_if(process.threads.begin(), process.threads.end(),
                           [&](const auto& thread) { return thread.tid == process.pid; });
  if (main == process.threads.end()) main = process.threads.begin();
  place.state = main->state;
  place.frames = main->frames;
  if (place.frames.size() > k_most_place_frames) place.frames.resize(k_most_place_frames);
  return place;
}

std::vector<StackGroup> group_places(std::vector<MainThreadStack> places) {
  std::stable_sort(places.begin(), places.end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
  // The state is omitted if there are frames: of two ranks in one loop, one may run while the other
  // sleeps.
  std::map<std::pair<std::vector<std::string>, std::string>, std::size_t> known;
  std::vector<StackGroup> groups;
  for (auto& place : places) {
    const auto [found, is_new] =
        known.try_emplace({place.frames, place.frames.empty() ? place.state : ""}, groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].ranks.push_back(std::move(place));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return std::pair(waits_for_others(a), a.ranks.size()) < std::pair(waits_for_others(b), b.ranks.size());
  });
  return groups;
}

std::string render_places(const std::vector<StackGroup>& groups, const std::string& why) {
  std::size_t ranks = 0;
  for (const auto& group : groups) ranks += group.ranks.size();
  std::string text =
      fmt::format("Stack traces of {} ({}).\n", util::counted(ranks, "rank"), util::visible(why));
  if (groups.size() > 1)
    text += fmt::format("{} different places; ranks that wait for others are last, else the place with the "
                        "fewest ranks is first.\n",
                        groups.size());
  for (const auto& group : groups) {
    const auto& place = group.ranks[0];
    const bool is_single = group.ranks.size() == 1;
    text += "\n" + (is_single ? "rank " : std::to_string(group.ranks.size()) + " ranks: ") +
            ranks_text(group) + " on " + util::visible(hosts_text(group)) + "\n";
    if (!place.state.empty()) text += "  " + util::visible(place.state) + "\n";
    add_frames(text, place.frames, "    ");
  }
  return text;
}

std::string render_odd_ranks(const std::vector<StackGroup>& groups) {
  if (groups.empty()) return {};
  if (groups.size() == 1 && groups[0].ranks.size() > 1)
    return util::visible("all " + std::to_string(groups[0].ranks.size()) +
                         " ranks: " + place_text(groups[0]));
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const bool last = i + 1 == groups.size();
    if (i < 2 || last) parts.push_back(names_of(groups[i], i > 0) + ": " + place_text(groups[i]));
    if (i == 2 && !last) parts.push_back(std::to_string(groups.size() - 3) + " more places");
  }
  return util::visible(util::join(parts, "; "));
}

std::string render_threads(const RankStacks& rank, const std::string& host) {
  std::string text = "rank " + std::to_string(rank.rank) + " on " + util::visible(host) + "\n";
  if (rank.processes.empty()) text += "  no process of this rank runs any more\n";
  for (const auto& remark : rank.remarks) text += "  " + util::visible(remark) + "\n";
  for (const auto& process : rank.processes) {
    text += "  process " + std::to_string(process.pid) + " " + util::visible(process.name) +
            (process.tool.empty() ? "" : ", by " + process.tool) + "\n";
    for (const auto& threads : equal_threads(process)) {
      std::vector<std::string> names;
      for (const auto* thread : threads) util::add_once(names, thread->name);
      const auto more = names.size() > k_most_hosts;
      if (more) names.resize(k_most_hosts);
      text += "    " +
              (threads.size() == 1 ? "thread " + std::to_string(threads[0]->tid)
                                   : std::to_string(threads.size()) + " threads") +
              " " + util::visible(util::join(names, ", ")) + (more ? ", …" : "") + ": " +
              util::visible(threads[0]->state) + "\n";
      add_frames(text, threads[0]->frames, "      ");
    }
  }
  return text;
}

} // namespace hpcml::agent
