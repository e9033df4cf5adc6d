// SPDX-License-Identifier: MIT
#include "generate/plan/program_signs.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/model/save_signal.hpp"
#include "core/util/text.hpp"

namespace hpcml::plan {

bool seems_to_handle_signals(const std::string& text) {
  static constexpr std::array<std::string_view, 12> c_signs = {
      "signal", "SIGUSR",   "SIGTERM", "SIGHUP", "HPCML_SAVE_SIGNAL", "preempt", "lightning", "exit_signal",
      "ignite", "composer", "nemo",    "hpcml"};
  return text.empty() || std::any_of(c_signs.begin(), c_signs.end(),
                                     [&](auto sign) { return text.find(sign) != std::string::npos; });
}

bool leaves_signal_to_lightning(const std::string& text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  return has("lightning") && has("Trainer") && !has("requeue_signal") && !has(model::k_save_variable) &&
         !has("signal.signal");
}

bool numbers_device_by_rank(const std::string& program) {
  constexpr std::array<std::string_view, 5> k_uses = {"set_device(", "cuda:{", "device_ids=[",
                                                      "device(\"cuda\", ", "device('cuda', "};
  if (program.find("device_count") != std::string::npos) return false;
  return std::ranges::any_of(k_uses, [&](std::string_view use) {
    for (auto at = program.find(use); at != std::string::npos; at = program.find(use, at + 1)) {
      const auto line = util::to_lower(program.substr(at, program.find('\n', at) - at));
      if (line.find("rank") != std::string::npos) return true;
    }
    return false;
  });
}

} // namespace hpcml::plan
