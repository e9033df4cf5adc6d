// SPDX-License-Identifier: MIT
#include "torch/build/compile_all.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <thread>

#include "core/topo/live_node.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"

namespace hpcml::torch_build {

unsigned default_jobs() {
  const auto cpus = topo::read_allowed_cpus();
  return static_cast<unsigned>(std::clamp<std::size_t>(cpus ? cpus->size() : 1, 1, 4));
}

std::vector<CompileFailure> compile_all(const std::vector<CompileStep>& steps, unsigned jobs,
                                        const util::EnvSnapshot& env, const CompileProgress& receive) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::size_t done = 0;
  std::vector<CompileFailure> failures;
  const auto work = [&] {
    while (!failed) {
      const auto at = next++;
      if (at >= steps.size()) return;
      const auto output = util::run_process(steps[at].words, env);
      const std::lock_guard<std::mutex> lock(mutex);
      if (output && output->exit_code == 0) {
        if (++done; receive) receive(done);
        continue;
      }
      failed = true;
      std::string text = output ? output->err : output.error().what;
      // A killed compiler prints nothing: usually the memory was exhausted.
      const bool killed = output && output->exit_code > 128;
      if (killed)
        text += fmt::format(
            "\nerror: the compiler was killed by signal {}; if it was out of memory, use --jobs 1",
            output->exit_code - 128);
      failures.push_back({steps[at], text, killed});
    }
  };
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < std::max(1U, jobs); ++i) workers.emplace_back(work);
  for (auto& worker : workers) worker.join();
  return failures;
}

std::string first_errors(const std::string& output) {
  std::vector<std::string> found;
  for (const auto& line : util::split(output, '\n'))
    if (found.size() < 2 &&
        (line.find("error:") != std::string::npos || line.find("undefined reference") != std::string::npos))
      found.emplace_back(util::trim(line));
  if (!found.empty()) return util::join(found, "; ");
  return std::string(util::trim(util::split(util::trim(output), '\n').back()));
}

} // namespace hpcml::torch_build
