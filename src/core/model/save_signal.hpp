// SPDX-License-Identifier: MIT
// The signal that asks a job's programs to save what they have and to end.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "core/model/gpu_vendor.hpp"
#include "core/util/result.hpp"

namespace hpcml::model {

/// What Slurm sends the batch shell of a script that asks its ranks to save. No other process receives it.
inline constexpr std::string_view k_limit_signal = "USR1";
/// What such a script sends the tasks of its step where hpcml launch hands the request on: by default no
/// other process takes notice of it, so that no process of a task has to handle it.
inline constexpr std::string_view k_save_word = "URG";
/// Variable with the signal that asks launch and the programs to save: "USR2".
inline constexpr const char* k_save_variable = "HPCML_SAVE_SIGNAL";

/// One of those that a program may take for it, by its name without "SIG".
class SaveSignal {
public:
  /// "USR1", "SIGUSR1" and "usr1" are one.
  static util::Result<SaveSignal> parse(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (text.starts_with("SIG")) text.erase(0, 3);
    for (const auto name : k_names)
      if (name == text) return SaveSignal(name);
    return util::Error{fmt::format("the save signal \"{}\" is not USR1, USR2, TERM or HUP", text),
                       "use the one of these that the program handles by saving"};
  }
  /// What ranks are asked by by default: one that the libraries of their GPUs leave alone. NCCL has caught
  /// USR1 (github.com/NVIDIA/nccl/issues/704), an RCCL change catches USR2 (github.com/ROCm/rccl/pull/584).
  static SaveSignal of_gpus(GpuVendor vendor) {
    return SaveSignal(vendor == GpuVendor::nvidia ? "USR2" : "USR1");
  }
  /// What other launchers' agents pass on to the processes that they start
  /// (docs.pytorch.org/docs/stable/elastic/agent.html).
  static SaveSignal of_agents() { return SaveSignal("TERM"); }

  SaveSignal() = default;
  std::string text() const { return std::string(x_name); }
  bool operator==(const SaveSignal&) const = default;

private:
  static constexpr std::array<std::string_view, 4> k_names = {"USR1", "USR2", "TERM", "HUP"};
  explicit SaveSignal(std::string_view name) : x_name(name) {}
  std::string_view x_name = "USR1";
};

} // namespace hpcml::model
