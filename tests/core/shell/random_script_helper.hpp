// SPDX-License-Identifier: MIT
// Random scripts whose commands are `show NUMBER words…`, for a comparison with what bash does.
#pragma once

#include <random>
#include <string>

namespace hpcml::test {

/// Writes scripts out of a grammar; the same seed gives the same script.
class RandomScript {
public:
  explicit RandomScript(unsigned seed) : x_random(seed) {}
  std::string make();

private:
  unsigned below(unsigned limit) { return static_cast<unsigned>(x_random() % limit); }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class List> auto pick(const List& list) {
    return *(list.begin() + below(static_cast<unsigned>(list.size())));
  }
  std::string name();
  std::string plain();
  std::string word();
  std::string piece(bool in_quotes);
  std::string expansion();
  std::string words(unsigned most);
  std::string show();
  std::string assignment();
  std::string statement(int depth);
  std::string compound(int depth);
  std::string nested(int depth);
  std::string builtin();
  std::string block(int depth, unsigned most);
  std::string escaped(const std::string& text);

  std::mt19937 x_random;
  int x_number = 0;
  int x_functions = 0;
  int x_here = 0;
  bool x_single_quotes = true; ///< false inside bash -c '…'
};

} // namespace hpcml::test
