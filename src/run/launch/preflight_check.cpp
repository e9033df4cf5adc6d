// SPDX-License-Identifier: MIT
#include "run/launch/preflight_check.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <unistd.h>

#include "core/util/log.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/launch/report_bad_node.hpp"
#include "run/resolve/rendezvous_ports.hpp"

namespace hpcml::launch {

using util::Error;

namespace {

std::vector<std::string> helper_words(std::vector<std::string> words, const RankSetup& setup,
                                      const LaunchRequest& request) {
  words.insert(words.end(), {"preflight", "--backend", model::word_of(request.backend), "--timeout",
                             std::to_string(k_preflight_seconds)});
  // A port that is served already needs no proof that it can be.
  if (!setup.store_serves) words.insert(words.end(), {"--program-port", std::to_string(setup.world.port)});
  return words;
}

} // namespace

std::optional<std::string> find_torch_helper(const std::string& program) {
  const std::string directory = util::directory_name(program), name = util::base_name(program);
  // bin/hpcml-aarch64 has its own helper in the same directory.
  const std::string arch = name.starts_with("hpcml-") ? name.substr(5) : "";
  for (const auto& path :
       {directory + "/../libexec/hpcml/hpcml-torch" + arch, directory + "/hpcml-torch" + arch})
    if (::access(path.c_str(), X_OK) == 0) return path;
  return std::nullopt;
}

Error preflight_result(const std::string& lines) {
  Error result{""};
  for (const auto& line : util::split(lines, '\n'))
    if (auto fault = read_fault(nlohmann::json::parse(line, nullptr, false)); !fault.what.empty())
      result = std::move(fault);
  return result;
}

Error read_fault(const nlohmann::json& event) {
  const auto text = [&](const char* key) {
    const bool has = event.is_object() && event.contains(key) && event[key].is_string();
    return has ? event[key].get<std::string>() : std::string();
  };
  return {text("what"), text("hint")};
}

std::set<std::string> hosts_at_fault(const nlohmann::json& event) {
  std::set<std::string> hosts;
  if (event.value("phase", "") != "rendezvous")
    for (const auto& host : event.value("hosts", std::vector<std::string>{}))
      if (!host.empty()) hosts.insert(host);
  return hosts;
}

std::vector<std::string> faulty_hosts(const std::string& lines) {
  std::set<std::string> hosts;
  for (const auto& line : util::split(lines, '\n'))
    if (const auto event = nlohmann::json::parse(line, nullptr, false);
        event.is_object() && event.value("event", "") == "cause")
      hosts.merge(hosts_at_fault(event));
  return {hosts.begin(), hosts.end()};
}

std::string preflight_success(const std::string& lines) {
  for (const auto& line : util::split(lines, '\n')) {
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object() || object.value("event", "") != "summary" || !object.contains("ranks")) continue;
    return fmt::format("preflight passed: {}", describe_summary(object));
  }
  return {};
}

std::string describe_summary(const nlohmann::json& summary) {
  std::set<std::string> hosts;
  for (const auto& rank : summary.at("ranks")) hosts.insert(rank.value("host", ""));
  return fmt::format("{} on {} connected, all sums and messages are correct ({}, {:.2f} s)",
                     util::counted(summary.at("ranks").size(), "rank"), util::counted(hosts.size(), "host"),
                     summary.value("backend", ""), summary.value("seconds", 0.0));
}

std::optional<LauncherFailure> run_preflight(const RankSetup& setup, const LaunchRequest& request,
                                             const RuntimeContext& context) {
  const auto failure = [&](int code, Error error) {
    return LauncherFailure{code, "preflight", std::move(error), location_of(setup.world.layout, context.host),
                           context.host};
  };
  const auto program = context.choose_preflight(request.command, setup.env);
  if (!program)
    return failure(k_cannot_set_up, {fmt::format("--preflight: {}", program.error().what),
                                     fmt::format("{}, or remove --preflight", program.error().hint)});
  if (setup.world.layout.rank == 0 && !program->note.empty()) util::log_info(program->note);
  util::EnvSnapshot env = setup.env;
  // The program's own store must not receive connections of this group, which is being closed.
  env.set("MASTER_PORT", std::to_string(side_port(setup.world.port)));
  const auto words = helper_words(program->words, setup, request);
  const auto output = util::run_process(words, env, preflight_limit(k_preflight_seconds));
  if (!output) return failure(k_cannot_set_up, output.error());
  if (output->exit_code == 0) {
    if (const auto success = preflight_success(output->out); !success.empty()) util::log_info(success);
    return std::nullopt;
  }
  Error result = preflight_result(output->out);
  if (result.what.empty()) {
    const auto lines = util::split(std::string(util::trim(output->err)), '\n');
    result.what = fmt::format("{} exited with code {}: {}", util::base_name(words[0]), output->exit_code,
                              lines.back().empty() ? "it printed no error" : lines.back());
  }
  if (output->exit_code == k_preflight_failed)
    for (const auto& host : faulty_hosts(output->out))
      report_bad_node({host, "it failed the preflight"}, context.env);
  result.what = fmt::format("preflight failed: {}", result.what);
  return failure(output->exit_code == k_preflight_failed ? k_preflight_failed : k_cannot_set_up, result);
}

} // namespace hpcml::launch
