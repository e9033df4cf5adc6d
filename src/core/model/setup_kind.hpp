// SPDX-License-Identifier: MIT
// The kinds of environment that a script can make.
#pragma once

#include <array>

#include "core/model/enum_names.hpp"

namespace hpcml::model {

/// What hpcml env makes: an environment of that kind, or (libtorch) one to build C++ programs with.
enum class SetupKind { venv, wheelhouse, conda, uv, container, libtorch };

template <>
inline constexpr std::array<NamedValue<SetupKind>, 6> k_words<SetupKind> = {
    {{"venv", SetupKind::venv},
     {"wheelhouse", SetupKind::wheelhouse},
     {"conda", SetupKind::conda},
     {"uv", SetupKind::uv},
     {"container", SetupKind::container},
     {"libtorch", SetupKind::libtorch}}};

} // namespace hpcml::model
