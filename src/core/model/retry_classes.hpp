// SPDX-License-Identifier: MIT
// Why a run ended, as one word each, and after which of these its job may be tried again.
#pragma once

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "core/model/enum_names.hpp"

namespace hpcml::model {

/// Why a run ended badly.
enum class FailureClass {
  program,       ///< by itself
  out_of_memory, ///< the kernel killed a process of it for lack of memory
  time_limit,    ///< it was asked to save, since its job's time was over
  preempted,     ///< Slurm ended its job to give the nodes to another job
  node,          ///< a node was lost
  launcher,      ///< hpcml itself, or what it was asked for cannot be
  user,          ///< the user interrupted it
  terminated,    ///< SIGTERM, and Slurm names no reason: another task of the step failed, or was cancelled
};

template <>
inline constexpr std::array<NamedValue<FailureClass>, 8> k_words<FailureClass> = {
    {{"program", FailureClass::program},
     {"out-of-memory", FailureClass::out_of_memory},
     {"time-limit", FailureClass::time_limit},
     {"preempted", FailureClass::preempted},
     {"node", FailureClass::node},
     {"launcher", FailureClass::launcher},
     {"user", FailureClass::user},
     {"terminated", FailureClass::terminated}}};

/// A list of them, as --requeue-on takes it: "node,preempted". Never a program's own failure, nor a user's
/// wish.
class RetryClasses {
public:
  static util::Result<RetryClasses> parse(const std::string& text) {
    RetryClasses classes;
    for (const auto& piece : util::split(text, ',')) {
      const std::string word(util::trim(piece));
      const auto refused = [](std::string why) {
        return util::Error{std::move(why), "use one or more of time-limit, preempted, node, launcher"};
      };
      const auto why = find_word<FailureClass>(word);
      if (!why) return refused(fmt::format("\"{}\" is not a cause after which a job can be requeued", word));
      if (*why == FailureClass::program || *why == FailureClass::out_of_memory)
        return refused(fmt::format(
            "no job is requeued after \"{}\": a program that failed by itself would fail again", word));
      if (*why == FailureClass::user)
        return refused(fmt::format("no job is requeued after \"{}\": its user ended it", word));
      if (*why == FailureClass::terminated)
        return refused(fmt::format("no job is requeued after \"{}\": its step was cancelled", word));
      classes.x_words.push_back(word);
    }
    return classes;
  }
  /// "node,preempted".
  std::string text() const { return util::join(x_words, ","); }
  const std::vector<std::string>& words() const { return x_words; }
  bool empty() const { return x_words.empty(); }

private:
  std::vector<std::string> x_words;
};

} // namespace hpcml::model
