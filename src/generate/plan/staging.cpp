// SPDX-License-Identifier: MIT
#include "generate/plan/staging.hpp"

#include <fmt/format.h>
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

void check_sources(model::PlannedStage& stage, PlanStepDiagnostics& diagnostics) {
  std::set<std::string> names;
  for (auto& source : stage.sources) {
    while (source.value.size() > 1 && source.value.back() == '/') source.value.pop_back();
    const auto name = name_of(source.value);
    if (!util::is_one_line(source.value) || name.empty() || name == "." || name == ".." ||
        source.value.front() != '/')
      diagnostics.error(
          "usage/stage",
          fmt::format(
              "'{}' cannot be copied to the nodes: it is not the absolute path of a file or directory",
              source.value),
          "use a path that begins with /, such as /project/me/data");
    else if (!names.insert(name).second)
      diagnostics.error(
          "usage/stage",
          fmt::format(
              "two paths to copy to the nodes have the same last part '{}', so one would replace the other",
              name),
          "remove one of the two paths, or use a copy with another name");
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

PlanStepResult<Software> stage_files(const RequestWithLaunch& input, Software software) {
  PlanStepResult<Software> result{std::move(software)};
  auto& [plan, diagnostics] = result;
  const bool packed = plan.python.kind == model::PythonEnvironmentKind::packed;
  if (input.job.stage.empty() && !packed) return result;
  const auto origin = packed ? plan.python.origin : input.job.stage.front().origin;
  const auto* node = input.node();
  if (!node || !node->local_disk) {
    diagnostics.error(
        "request/stage",
        fmt::format("files cannot be copied to the nodes: the profile of {} has no node-local storage{}",
                    input.site.name, node ? fmt::format(" for {}", node->id) : ""),
        packed ? "use an unpacked environment on storage that all nodes share"
               : "remove --stage, and use the data from storage that all nodes share");
    return result;
  }
  if (packed && plan.container && !model::row_of(plan.container->engine).keeps_host)
    diagnostics.error("usage/python",
                      "a packed environment (--venv or --conda) is made for the host, and does not run in "
                      "the image of --container",
                      "remove --container, or the packed environment");
  const auto& disk = *node->local_disk;
  const bool by_slurm = is_by_slurm(disk);
  // A requeued job must not find what its first run left.
  plan.stage = model::PlannedStage{by_slurm ? disk + "/stage" : job_directory(input.numbers(), disk, "stage"),
                                   !by_slurm, input.job.stage, origin, disk};
  if (packed) {
    plan.python.where = plan.stage->directory + "/env";
    plan.stage->sources.push_back({plan.python.packages.front(), plan.python.origin});
  }
  check_sources(*plan.stage, diagnostics);
  if (packed) { // has its own lines
    plan.python.packages.front() = plan.stage->sources.back().value;
    plan.stage->sources.pop_back();
  }
  if (input.site.storage.tmp_is_memory)
    diagnostics.note(fmt::format("the nodes of {} have no disk, so staged files are in memory: request "
                                 "memory for them in addition",
                                 input.site.name),
                     input.site.storage.origin);
  if (!plan.container || model::row_of(plan.container->engine).keeps_host) return result;
  if (plan.container->by_slurm)
    diagnostics.error(
        "request/stage",
        "--stage cannot be used with this image: Slurm starts the image before the files are on the nodes",
        "remove --stage, and use --bind to show the image a directory that all nodes share");
  else
    plan.container->binds.push_back(
        {"$HPCML_STAGE", {}, false, {model::OriginKind::site, "node_types: local_disk", {}, {}, {}}});
  return result;
}

} // namespace hpcml::plan
