// SPDX-License-Identifier: MIT
#include "generate/plan/staging.hpp"

#include <set>

#include "core/util/one_line.hpp"
#include "core/util/text.hpp"
#include "generate/plan/environment.hpp"
#include "generate/plan/software.hpp"

namespace hpcml::plan {

namespace {

/// "data.tar" of "/project/me/data.tar"; a "/" at the end does not count.
std::string name_of(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return util::base_name(path);
}

void check_sources(model::PlannedStage& stage, StepDiagnostics& diagnostics) {
  std::set<std::string> names;
  for (auto& source : stage.sources) {
    while (source.value.size() > 1 && source.value.back() == '/') source.value.pop_back();
    const auto name = name_of(source.value);
    if (!util::is_one_line(source.value) || name.empty() || name == "." || name == ".." ||
        source.value.front() != '/')
      diagnostics.error("usage/stage", "'" + source.value + "' is no file or folder to copy",
                        "a path, as --stage /project/me/data");
    else if (!names.insert(name).second)
      diagnostics.error("usage/stage", "two things called " + name + " cannot lie in one folder",
                        "rename one of them");
  }
}

} // namespace

bool is_archive(std::string_view path) {
  for (const char* ending : {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2"})
    if (path.ends_with(ending)) return true;
  return false;
}

bool is_by_slurm(const std::string& place) {
  return place == "$SLURM_TMPDIR" || place.starts_with("$SLURM_TMPDIR/");
}

StepResult<Software> stage_files(const LaunchInput& input, Software software) {
  StepResult<Software> result{std::move(software)};
  auto& [plan, diagnostics] = result;
  const bool packed = plan.python.kind == model::PythonKind::packed;
  if (input.job.stage.empty() && !packed) return result;
  const auto origin = packed ? plan.python.origin : input.job.stage.front().origin;
  const auto* node = input.node();
  if (!node || !node->local_disk) {
    diagnostics.error("request/stage",
                      input.site.name + " has no node-local storage in its profile" +
                          (node ? " for " + node->id : ""),
                      packed ? "unpack the environment where all nodes see it and give that folder"
                             : "leave the data where all nodes see it");
    return result;
  }
  if (packed && plan.container && !model::row_of(plan.container->engine).keeps_host)
    diagnostics.error("usage/python",
                      "an environment that was packed for the host does not run inside an image",
                      "leave one of them out");
  const auto& disk = *node->local_disk;
  const bool by_slurm = is_by_slurm(disk);
  // A requeued job must not find what its first run left.
  plan.stage = model::PlannedStage{by_slurm ? disk + "/stage" : job_directory(input.numbers(), disk, "stage"),
                                   !by_slurm, input.job.stage, origin};
  if (packed) {
    plan.python.where = plan.stage->directory + "/env";
    plan.stage->sources.push_back({plan.python.packages.front(), plan.python.origin});
  }
  check_sources(*plan.stage, diagnostics);
  if (packed) { // has lines of its own
    plan.python.packages.front() = plan.stage->sources.back().value;
    plan.stage->sources.pop_back();
  }
  if (input.site.storage.tmp_is_memory)
    diagnostics.note(
        "the nodes have no disk: what is staged takes their memory, of which the job needs as much more",
        input.site.storage.origin);
  if (!plan.container || model::row_of(plan.container->engine).keeps_host) return result;
  if (plan.container->by_slurm)
    diagnostics.error("request/stage", "Slurm starts the image before the nodes have the data",
                      "leave --stage out, and bind the folder that all nodes see");
  else
    plan.container->binds.push_back(
        {plan.stage->directory, {}, false, {model::OriginKind::site, "node_types: local_disk", {}, {}, {}}});
  return result;
}

} // namespace hpcml::plan
