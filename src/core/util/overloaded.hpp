// SPDX-License-Identifier: MIT
// One function of several lambdas, for std::visit.
#pragma once

namespace hpcml::util {

template <class... Lambdas> struct Overloaded : Lambdas... { using Lambdas::operator()...; };
template <class... Lambdas> Overloaded(Lambdas...) -> Overloaded<Lambdas...>;

} // namespace hpcml::util
