// SPDX-License-Identifier: MIT
// The parts of fmt that are code, compiled once: as headers only, every source that formats would compile
// them (3 seconds each).
#ifdef HPCML_FMT_ONCE
#include <fmt/format-inl.h>

template fmt::detail::thousands_sep_result<char>
    fmt::detail::thousands_sep_impl<char>(fmt::detail::locale_ref);
template char fmt::detail::decimal_point_impl<char>(fmt::detail::locale_ref);
#endif
