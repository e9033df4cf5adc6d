// SPDX-License-Identifier: MIT
// Scripts per second of processor time under all rules, and the memory after 1,000 and after 100,000 scripts:
// ninja check_bench && bin/check_bench [--site ID] [--version V] FILE…
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "check/check_script.hpp"
#include "core/config/site_store.hpp"
#include "core/util/file.hpp"

using namespace hpcml;

namespace {

/// Resident memory in KiB.
long resident() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmRSS:") {
      long size = 0;
      status >> size;
      return size;
    }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  std::vector<std::string> texts;
  std::optional<model::Site> site;
  check::TargetCluster target;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--site" && i + 1 < argc)
      site = config::load_site(argv[++i], {}).site;
    else if (word == "--version" && i + 1 < argc)
      target.version = slurm::parse_version(argv[++i]);
    else if (auto text = util::read_file(word))
      texts.push_back(std::move(*text));
  }
  if (texts.empty()) return std::puts("usage: check_bench [--site ID] [--version V] FILE…"), 2;
  if (site) target.site = &*site;
  std::size_t findings = 0, bytes = 0;
  for (const auto& text : texts) bytes += text.size();
  const auto run = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      findings += check::check_script("x.sh", texts[i % texts.size()], target).size();
  };
  run(1000);
  const long early = resident();
  const auto start = std::clock();
  constexpr std::size_t k_scripts = 100'000;
  run(k_scripts);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%.0f scripts per second (%zu files of %zu bytes on average, %zu rules), %.1f findings each; "
              "%ld KiB after 1,000 scripts, %ld KiB after %zu more\n",
              k_scripts / seconds, texts.size(), bytes / texts.size(), check::all_rules().size(),
              static_cast<double>(findings) / (k_scripts + 1000), early, resident(), k_scripts);
}
