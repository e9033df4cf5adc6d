// SPDX-License-Identifier: MIT
// Where a program's own arguments place the rendezvous: "--dist-url tcp://localhost:23456".
#pragma once

#include <string>
#include <vector>

#include "check/subject.hpp"
#include "core/diag/text_range.hpp"

namespace hpcml::check {

/// An address, a port or both that a program gets by an argument.
struct RendezvousArgument {
  std::string host; ///< may contain variables, as in the script: "$HOST"; empty: none
  std::string port; ///< empty: none
  diag::TextRange place;
};

/// The arguments after the program's file that scripts use for this, with and without dashes.
std::vector<RendezvousArgument> rendezvous_arguments(const Link& program);

} // namespace hpcml::check
