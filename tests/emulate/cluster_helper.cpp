// SPDX-License-Identifier: MIT
#include "emulate/cluster_helper.hpp"

#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::test {

void Cluster::write(const std::string& name, const std::string& text) const {
  REQUIRE(util::write_file(x_directory.path() / name, text, 0755));
}

std::string Cluster::read(const std::string& name) const {
  return util::read_file(x_directory.path() / name).value_or("");
}

util::ProcessOutput Cluster::run(const std::string& script) const {
  std::vector<std::string> words = {"env", "-C", x_directory.path().string(), HPCML_BINARY, "emulate"};
  words.insert(words.end(), x_arguments.begin(), x_arguments.end());
  words.insert(words.end(), {"--", "bash", "-c", script});
  auto result = util::run_process(words, util::EnvSnapshot::of_process(), std::chrono::seconds(900));
  REQUIRE(result);
  return *result;
}

util::ProcessOutput Cluster::generate(const std::vector<std::string>& arguments) const {
  std::vector<std::string> words = {"env", "-C", x_directory.path().string(), HPCML_BINARY, "gen"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto result = util::run_process(words, util::EnvSnapshot::of_process(), std::chrono::seconds(300));
  REQUIRE(result);
  return *result;
}

void Cluster::generate_training(std::vector<std::string> flags, const std::vector<std::string>& words) const {
  flags.insert(flags.end(), {"--", "python3", "train.py"});
  flags.insert(flags.end(), words.begin(), words.end());
  const auto made = generate(flags);
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
}

util::ProcessOutput Cluster::run_job(const std::string& directives, const std::string& body) const {
  std::string script = "#!/bin/bash\n";
  for (const auto& directive : util::split(directives, ' ')) script += "#SBATCH " + directive + "\n";
  write("job.sh", script + "#SBATCH --output=slurm.out\n" + body + "\n");
  auto result = run("sbatch -W job.sh; code=$?; cat slurm.out; exit $code");
  return result;
}

} // namespace hpcml::test
