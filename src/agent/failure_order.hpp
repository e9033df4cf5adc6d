// SPDX-License-Identifier: MIT
// Of two ranks that failed in one attempt, which one is to be named: the end of one is often the cause of the
// other's, and who is heard of first need not have failed first. Pure.
#pragma once

#include "agent/failure_note.hpp"

namespace hpcml::agent {

/// Whether a rank says only that another one has gone: its connection was closed.
bool only_suffers(const FailureNote& note);

/// Whether `later`, which was heard of later, is to be named in the place of `first`: its node's kernel
/// tells of a GPU, it failed of itself and the other only suffers, or both say in their error files when, and
/// it was before.
bool comes_before(const FailureNote& later, const FailureNote& first);

/// Whether any failure could come before this one.
bool may_be_preceded(const FailureNote& first);

} // namespace hpcml::agent
