// SPDX-License-Identifier: MIT
// The table of known failures: what identifies each, its class, and what to do about it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/model/retry_classes.hpp"

namespace hpcml::failures {

/// Where a failure is seen.
enum class ErrorSource {
  rank_output,   ///< lines of programs and libraries
  hpcml_message, ///< lines of hpcml in the log of a job
  slurm_message, ///< lines of srun and slurmstepd
  exit_status,   ///< the signal that ended a rank; `text` is its name
  kernel_report, ///< the kernel of the node; no text identifies it
};

/// A row of the table. A line with both texts is one of this failure; the comparison is case-sensitive.
struct KnownError {
  std::string_view id; ///< "cuda-out-of-memory": unique, and the same in all versions
  ErrorSource source;
  std::string_view text;
  std::string_view and_text;  ///< empty: nothing more is required
  std::string_view hint;      ///< "{host}" in it is the rank's; empty: such a line is not a failure
  std::string_view reference; ///< the document or source that has the text
  model::FailureClass failure_class = model::FailureClass::program; ///< of a run that ends because of it
  bool of_node = false;         ///< no program causes it: the node is faulty
  unsigned least = 1;           ///< lines in a log that make a failure
  bool is_word = false;         ///< white space or the end of the line must follow `text`
  bool is_of_lost_peer = false; ///< printed by a rank because another one has ended

  bool is_printed() const {
    return source != ErrorSource::exit_status && source != ErrorSource::kernel_report;
  }
};

/// Returns all rows. The first one that matches a line applies: a cause is before what follows from it, and
/// a row without a hint before those that would take its line for a failure.
std::span<const KnownError> known_errors();
/// Returns the first row that the condition is true for; null if there is none.
template <class Condition> const KnownError* find_error(Condition condition) {
  for (const auto& error : known_errors())
    if (condition(error)) return &error;
  return nullptr;
}
/// Returns the row with this ID, which must exist.
const KnownError& known_error(std::string_view id);
/// True if the text has the part in it; faster than string_view::find if the part begins with a frequent
/// letter.
bool holds(std::string_view text, std::string_view part);
/// True if the line is one of this failure.
bool matches(const KnownError& error, std::string_view line);
/// Returns its hint for a rank on this host.
std::string hint_for(const KnownError& error, std::string_view host);

} // namespace hpcml::failures
