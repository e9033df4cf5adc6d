// SPDX-License-Identifier: MIT
#include "torch/helper/pairing.hpp"

namespace hpcml::helper {

namespace {

int even(int count) { return count + count % 2; }

} // namespace

int rounds_of(int count) { return count < 2 ? 0 : even(count) - 1; }

std::optional<int> partner_of(int player, int count, int round) {
  const int circle = rounds_of(count); // all but the last one sit in a circle, which turns
  if (circle == 0) return std::nullopt;
  const int last = even(count) - 1;
  const int turn = round % circle;
  int partner = 0;
  if (player == last)
    partner = turn;
  else if (player == turn)
    partner = last;
  else
    partner = ((2 * turn - player) % circle + circle) % circle;
  if (partner >= count) return std::nullopt;
  return partner;
}

} // namespace hpcml::helper
