// SPDX-License-Identifier: MIT
// Slurm's node lists: nid[001-004,007], r[1-2]n[03-04], a,b[2-3]; from 23.11 also a suffix: n[1-2]-int.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::model {

/// Node names in the order in which the text gives them; duplicates are kept, as Slurm keeps them.
class Hostlist {
public:
  /// At most 100000 names; zero padding is kept ("n[01-10]"). Reversed ranges and steps are errors, as in
  /// Slurm.
  static util::Result<Hostlist> parse(std::string_view text);
  const std::vector<std::string>& names() const { return x_names; }
  /// The same, for who needs the list no longer.
  std::vector<std::string> take() && { return std::move(x_names); }
  std::size_t size() const { return x_names.size(); }

private:
  std::vector<std::string> x_names;
};

/// `names` in Slurm's compact form, order kept: {n1,n2,n4} gives "n[1-2,4]".
std::string compress_hostlist(const std::vector<std::string>& names);

} // namespace hpcml::model
