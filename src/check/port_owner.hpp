// SPDX-License-Identifier: MIT
// Whose port a number of the script is: of a host of the job, or of another one.
#pragma once

#include <string_view>

#include "check/subject.hpp"
#include "core/diag/text_range.hpp"

namespace hpcml::check {

/// Whether the nodes rendezvous through a service, as etcd is, which does not run in the job's ranks.
bool has_rendezvous_service(const Launch& launch, const Link& agent);
/// True if the backend is given by an expression with an unknown value.
bool has_unknown_backend(const Launch& launch, const Link& agent);
/// Whether the word gives a host, in front of a port or alone, that is not known to be one of the job:
/// neither a loopback address nor a name in --nodelist. False if it is not known, as "$(hostname)".
bool names_foreign_host(const LintContext& subject, const shell::Argument& word, bool with_port);
/// Whether the number at the place is given to a variable that also something else than the rendezvous reads.
bool is_used_elsewhere(const LintContext& subject, diag::TextRange place);

} // namespace hpcml::check
