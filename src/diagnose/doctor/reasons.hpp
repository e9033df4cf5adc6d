// SPDX-License-Identifier: MIT
// What is wrong here, from facts alone: a question, its answer, and the reasons. Pure.
#pragma once

#include <string>
#include <vector>

#include "diagnose/doctor/doctor_facts.hpp"

namespace hpcml::doctor {

/// Why something is not as it should be.
struct DoctorReason {
  std::string id;   ///< "torch-without-gpus"
  std::string what; ///< a sentence without a full stop
  std::string next; ///< what to do
};

/// One question about this place.
struct DoctorCheckResult {
  std::string question;
  std::string answer;                ///< a sentence
  std::vector<DoctorReason> reasons; ///< why the answer is no, the likeliest first; empty: it is yes
  bool is_good() const { return reasons.empty(); }
};

/// Does a program here see GPUs, and if not, why?
DoctorCheckResult evaluate_gpus(const Facts& facts);

/// May a program here lock the memory that the network needs? Only where a network is known that locks any.
DoctorCheckResult evaluate_locked_memory(const Facts& facts);

/// Everything that hpcml knows to ask. A question more is a function and a line in reasons.cpp.
std::vector<DoctorCheckResult> evaluate_all(const Facts& facts);

/// Return a text for users, and one JSON object on a line with the facts.
std::string render_text(const std::vector<DoctorCheckResult>& answers, const Facts& facts);
std::string render_json(const std::vector<DoctorCheckResult>& answers, const Facts& facts);

} // namespace hpcml::doctor
