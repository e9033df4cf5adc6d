// SPDX-License-Identifier: MIT
// Scripts of unusual size: the time grows with them and no faster, and what Slurm does not take is not read.
#include <algorithm>
#include <catch2/catch.hpp>
#include <ctime>
#include <functional>

#include "check/check_script.hpp"
#include "check/report_writer.hpp"

using namespace hpcml;

namespace {

using Line = std::function<std::string(unsigned)>;

std::string repeated(const std::string& head, unsigned count, const Line& line) {
  std::string text = "#!/bin/bash\n" + head;
  for (unsigned i = 0; i < count; ++i) text += line(i);
  return text;
}

/// Processor seconds of a check, its report and its fixes.
double seconds(const std::string& text, std::size_t& findings) {
  const auto start = std::clock();
  const auto list = check::check_script("x.sh", text);
  findings = list.size();
  static_cast<void>(check::make_report("text", false)->add(text, list));
  static_cast<void>(check::apply_fixes(text, list));
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

} // namespace

TEST_CASE("Four times as many findings take about four times as long", "[time]") {
  const std::string head = "#SBATCH --nodes=2 --ntasks-per-node=4 -c 8 --gpus-per-node=4\n";
  const auto n = [](unsigned i) { return std::to_string(i); };
  struct Row {
    const char* what;
    std::string head;
    Line line;
  };
  const std::vector<Row> rows = {
      {"options that nobody knows", "", [&](unsigned i) { return "#SBATCH --bogus" + n(i) + "=1\n"; }},
      {"directives behind a command", head + "srun true\n",
       [&](unsigned i) { return "#SBATCH --nodes=" + n(i) + "\n"; }},
      {"one option again and again", "", [&](unsigned i) { return "#SBATCH --nodes=" + n(i) + "\n"; }},
      {"mends", head, [&](unsigned i) { return "srun --cpu_bind=cores ./train" + n(i) + "\n"; }},
      {"ports", head,
       [&](unsigned i) {
         return "torchrun --nproc_per_node=4 --master_port=" + n(10000 + i) + " train" + n(i) + ".py\n";
       }},
      {"comments that ignore", head,
       [&](unsigned i) {
         return "# hpcml: disable=launch/fixed-port because " + n(i) + "\nsrun python t" + n(i) + ".py\n";
       }},
  };
  for (const auto& [what, header, line] : rows) {
    CAPTURE(what);
    std::size_t few = 0, many = 0;
    double fast = 1e9, slow = 1e9;
    const auto as_expected = [&] { return slow < 9 * fast + 0.05; }; // 16 times where it is quadratic
    for (int round = 0; round < 2 || (round < 6 && !as_expected()); ++round) { // others use the machine, too
      fast = std::min(fast, seconds(repeated(header, 2000, line), few));
      slow = std::min(slow, seconds(repeated(header, 8000, line), many));
    }
    CHECK(many >= 7000);
    CHECK(as_expected());
  }
}

TEST_CASE("A script that Slurm does not take for its size is an error, and is not read") {
  const auto script = [](std::size_t size) {
    std::string text = "#!/bin/bash\n#SBATCH --nodes=x\n";
    return text + std::string(size - text.size(), '#');
  };
  const auto codes = [](const std::string& text) {
    std::vector<std::string> list;
    for (const auto& finding : check::check_script("x.sh", text)) list.push_back(finding.what.code);
    return list;
  };
  CHECK(codes(script(std::size_t{4} << 20U)) == std::vector<std::string>{"slurm/value"});
  const auto large = check::check_script("x.sh", script((std::size_t{4} << 20U) + 1));
  REQUIRE(large.size() == 1);
  CHECK(large[0].what.code == "slurm/script-size");
  CHECK(large[0].what.severity == diag::Severity::error);
  CHECK(large[0].what.message.find("4 MiB") != std::string::npos);
  CHECK(check::fix_script(script((std::size_t{4} << 20U) + 1)).findings == 0);
}
