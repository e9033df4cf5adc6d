// SPDX-License-Identifier: MIT
// What is asked of an agent that is more than a number: the directory of the logs, and how many nodes are
// enough.
#pragma once

#include <cstddef>
#include <fmt/format.h>
#include <string>
#include <string_view>

#include "core/util/result.hpp"
#include "core/util/text.hpp"

namespace hpcml::model {

/// The directory of the ranks' output, as written in the request.
struct LogDirectory {
  std::string path;

  static util::Result<LogDirectory> parse(const std::string& text) {
    if (text.empty())
      return util::Error{"the path of the log directory is empty", "use for example --log-dir logs"};
    // Slurm fills them in for --output; the run's own directory in this one is named by job and step already.
    constexpr std::string_view c_patterns = "AabJjNnstuxW";
    for (auto at = text.find('%'); at != std::string::npos; at = text.find('%', at + 1)) {
      if (at + 1 < text.size() && text[at + 1] == '%') {
        ++at;
        continue;
      }
      auto end = at + 1;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
      if (end < text.size() && c_patterns.find(text[end]) != std::string_view::npos)
        return util::Error{
            fmt::format("the log directory \"{}\" has \"{}\", but Slurm's patterns are not replaced in it",
                        text, text.substr(at, end + 1 - at)),
            fmt::format("remove {}: hpcml adds a separate directory for each run, named by job and step",
                        text.substr(at, end + 1 - at))};
    }
    return LogDirectory{text};
  }
  const std::string& text() const { return path; }
};

/// "2" or "2:4": with how many nodes the ranks start, and with how few they continue.
struct ElasticNodeRange {
  unsigned least = 0;
  unsigned most = 0;

  static util::Result<ElasticNodeRange> parse(const std::string& text) {
    constexpr unsigned c_most = 1000000;
    const auto colon = text.find(':');
    const auto least = util::parse_unsigned(text.substr(0, colon));
    const auto most = colon == std::string::npos ? least : util::parse_unsigned(text.substr(colon + 1));
    if (!least || !most || *least == 0 || *most == 0 || *least > c_most || *most > c_most)
      return util::Error{
          fmt::format("the numbers of nodes \"{}\" are not MIN:MAX or one number from 1 to 1000000", text),
          "use for example 3:4 for four nodes of which three are enough"};
    if (*least > *most)
      return util::Error{fmt::format("the minimum of nodes ({}) exceeds the maximum ({})", *least, *most),
                         fmt::format("use the smaller number first: {}:{}", *most, *least)};
    return ElasticNodeRange{static_cast<unsigned>(*least), static_cast<unsigned>(*most)};
  }
  std::string text() const {
    return least == most ? std::to_string(most) : std::to_string(least) + ":" + std::to_string(most);
  }
};

} // namespace hpcml::model
