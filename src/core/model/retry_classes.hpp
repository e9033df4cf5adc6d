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
      if (const char* why = reason_against(word); why != nullptr)
        return util::Error{fmt::format("hpcml cannot requeue jobs after \"{}\": {}", word, why),
                           "use one or more of time-limit, preempted, node, launcher"};
      classes.x_words.push_back(word);
    }
    return classes;
  }
  /// "node,preempted".
  std::string text() const { return util::join(x_words, ","); }
  const std::vector<std::string>& words() const { return x_words; }
  bool empty() const { return x_words.empty(); }

private:
  /// Why no job is requeued after this cause; nullptr if jobs may be.
  static const char* reason_against(const std::string& word) {
    const auto cause = find_word<FailureClass>(word);
    if (!cause) return "it is not a known cause";
    switch (*cause) {
    case FailureClass::program:
    case FailureClass::out_of_memory: return "a program that failed by itself would fail again";
    case FailureClass::user: return "the user ended the job";
    case FailureClass::terminated: return "the step of the job was cancelled";
    default: return nullptr;
    }
  }

  std::vector<std::string> x_words;
};

} // namespace hpcml::model
