// SPDX-License-Identifier: MIT
// Where a value came from, carried next to it up to the last rendering.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/util/shared_text.hpp"

namespace hpcml::model {

/// Who decides a value; a later one beats an earlier.
enum class OriginKind { rule, site, config, job_file, environment, flag };

/// Another value that a source gives for the same thing, and why it was not taken.
struct SupersededValue {
  std::string value;
  std::string source;
  std::string why;
};

/// What decided a value. `by` names the decider: a profile path ("partitions[0].max_time"), a flag ("--time")
/// or a rule in words.
struct Origin {
  OriginKind kind = OriginKind::rule;
  std::string by;
  util::SharedText source = {};  ///< the document, for site facts
  util::SharedText checked = {}; ///< YYYY-MM-DD, when the source was read
  std::vector<SupersededValue> superseded = {};
};

/// A value with its origin.
template <class T> struct Sourced {
  T value{};
  Origin origin = {};
};

/// A value that may be unknown: unknown stays unknown, never a guess.
template <class T> using Known = std::optional<Sourced<T>>;

} // namespace hpcml::model
