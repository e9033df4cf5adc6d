// SPDX-License-Identifier: MIT
// What an agent does from its first order to its last.
#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/agents_meeting.hpp"
#include "agent/request.hpp"
#include "agent/run_folder.hpp"
#include "launch/launch.hpp"
#include "launch/overseer.hpp"
#include "launch/supervisor.hpp"

namespace hpcml::agent {

class AgentLoop : public launch::Overseer {
public:
  AgentLoop(const AgentRequest& request, const launch::Surroundings& here, launch::World own,
            AgentsMeeting met, RunFolder folder, std::string run_id, const sigset_t& mask);
  ~AgentLoop() override;

  /// Obeys orders until the last one.
  launch::Outcome run();

  int fd() const override { return x_met.link->fd(); }
  bool wants_to_write() const override { return x_met.link->wants_to_write(); }
  std::optional<Time> due() const override;
  bool look(const launch::Supervisor& ranks) override;
  void failed(const launch::RankProcess& process, const launch::Supervisor& ranks) override;
  void asked_to_end(int signal) override;

private:
  /// An attempt that is prepared.
  struct Attempt {
    unsigned number = 0;
    launch::World world;
    std::shared_ptr<launch::NodeSetup> node;
  };

  void wait_for_order();
  void obey(const Order& order);
  bool prepare(const Order& order);
  void serve(const Order& order);
  void start(const Order& order);
  void take_stop(const Order& order);
  void end(const Order& order);
  void fail(const launch::Failure& failure);
  void tell(Event event);
  void watch_for_stall(const launch::Supervisor& ranks);
  void end_store(pid_t& store);

  AgentRequest x_request;
  const launch::Surroundings& x_here;
  launch::World x_own;
  AgentsMeeting x_met;
  RunFolder x_folder;
  std::string x_run_id;
  sigset_t x_mask;
  int x_signals = -1;
  std::optional<Attempt> x_attempt;
  std::vector<launch::CacheDir> x_caches;
  pid_t x_store = -1; ///< serves this attempt's ranks
  Time x_started{};
  bool x_told_failure = false; ///< of this attempt
  bool x_quiet = false;
  std::optional<Order> x_stop; ///< of this attempt
  std::optional<launch::Outcome> x_end;
  int x_signal = 0; ///< that asked this agent to end
};

} // namespace hpcml::agent
