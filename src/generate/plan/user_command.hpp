// SPDX-License-Identifier: MIT
// What follows from the words of the user's command: the program, whether Python runs it, a job name.
#pragma once

#include <string>
#include <vector>

namespace hpcml::plan {

/// True if Python runs the program: "python3 train.py", "train.py".
bool is_python(const std::vector<std::string>& command);
/// The program's name without directory and ending, fit for file names: "python -u src/train.py" gives
/// "train".
std::string job_name_of(const std::vector<std::string>& command);

} // namespace hpcml::plan
