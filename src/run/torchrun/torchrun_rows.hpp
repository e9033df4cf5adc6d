// SPDX-License-Identifier: MIT
// The flags of torch 2.13's torchrun, a row each: how it is written, what it asks for, how we treat it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "run/torchrun/torchrun_flags.hpp"

namespace hpcml::torchrun {

enum class FlagSupport {
  same,    ///< as torchrun does
  better,  ///< what it is for is had in another way
  refused, ///< an error that says what to do instead
};

struct TorchrunFlag {
  std::string_view name;    ///< without the leading dashes; inner ones may be underscores
  char letter = 0;          ///< its short form; 0: none
  std::string_view value;   ///< what stands for its value; empty: a switch
  bool has_variable = true; ///< PET_NAME says it where the line does not
  FlagSupport treatment = FlagSupport::same;
  std::string_view help;     ///< what it means
  std::string_view fallback; ///< torchrun's default; empty: none
  std::string_view remark;   ///< what is better, or why it is refused and what to do instead; one sentence
  /// Takes a value over; what is wrong with it ("must be …"), or nothing.
  std::optional<std::string> (*read)(TorchrunRequest&, const std::string&) = nullptr;
  std::string_view note = {}; ///< said where it is given: "has no effect: …"

  constexpr bool is_switch() const { return value.empty(); }
};

/// Returns the 30 flags of torch 2.13 in the order of its help.
std::span<const TorchrunFlag> torchrun_flags();
/// What lines of torch.distributed.launch have, or need, besides.
std::span<const TorchrunFlag> flags_of_old_launch();

/// "--nproc-per-node"
std::string dashed_name(const TorchrunFlag& flag);
/// "PET_NPROC_PER_NODE"
std::string variable_of_flag(const TorchrunFlag& flag);

} // namespace hpcml::torchrun
