// SPDX-License-Identifier: MIT
// What a run under AddressSanitizer leaves to the release run: foreign programs, and most of what is drawn by
// a seed.
#pragma once

namespace hpcml::test {

#ifdef HPCML_SANITIZED // by CMake: the compilers say it in different words
constexpr bool k_sanitized = true;
#else
constexpr bool k_sanitized = false;
#endif

/// A fifth of `count` under a sanitizer, which is there for memory and takes ten times as long: the release
/// run draws them all.
constexpr unsigned sampled(unsigned count) { return k_sanitized ? count / 5 : count; }

} // namespace hpcml::test
