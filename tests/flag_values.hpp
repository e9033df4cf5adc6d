// SPDX-License-Identifier: MIT
// Values of a request as flags of the command line give them.
#pragma once

#include <string>
#include <utility>

#include "core/model/origin.hpp"

namespace hpcml::test {

template <class T> model::Sourced<T> flag(T value, const std::string& name = "--flag") {
  return {std::move(value), {model::OriginKind::flag, name, {}, {}, {}}};
}
inline model::Sourced<std::string> text(const std::string& value) { return flag(value); }
inline model::Sourced<unsigned> number(unsigned value) { return flag(value); }

} // namespace hpcml::test
