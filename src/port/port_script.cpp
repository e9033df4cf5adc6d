// SPDX-License-Identifier: MIT
#include "port/port_script.hpp"

#include <algorithm>
#include <filesystem>

#include "port/porting.hpp"
#include "shell/view.hpp"

namespace hpcml::port {
namespace {

/// What sbatch itself refuses: the script never ran as it is. Options that it does not know may be those of
/// the old site's plugins.
bool take_refusals(Porting& porting, const slurm::Findings& findings) {
  for (auto finding : findings.list()) {
    if (finding.code == "slurm/option-unknown") {
      finding.severity = diag::Severity::note;
      finding.message += ": it is left out";
      finding.hint = "if the new site has it, too: --sbatch=…";
    }
    porting.result.findings.push_back(std::move(finding));
  }
  return !diag::has_errors(porting.result.findings);
}

void port_container(Porting& porting, const FoundLaunch& found) {
  const auto* container = found.launch->container();
  if (!container || container->operands.empty() || porting.chosen.environment) return;
  const auto& image = container->operands.front();
  if (!image.known()) {
    porting.error(place_of(image.place), "port/container", "the image is known only when the script runs",
                  "name it: --container FILE");
    return;
  }
  auto& job = porting.result.job;
  job.container = model::Sourced<std::string>{image.text(), porting.origin("the image")};
  porting.note(place_of(image.place), "port/container",
               "the program runs in this image at the new site, too: " + image.text(),
               "--container names another one");
  for (const auto& option : container->options)
    if ((option.name == "B" || option.name == "bind") && option.value)
      porting.note(place_of(option.place), "port/container",
                   "this bind is left out: the new site's own are used", "--bind SRC:DST adds one");
}

} // namespace

Ported port_script(const std::string& file, std::string_view text, const model::Site& to,
                   const Chosen& chosen) {
  Porting porting{file, text, to, chosen};
  constexpr auto k_version = slurm::k_newest_version;
  slurm::Findings findings(file, text);
  const auto header = slurm::read_header(text, k_version, findings);
  const auto components = slurm::read_settings(header, {}, k_version, findings);
  std::vector<slurm::Request> requests;
  for (const auto& settings : components)
    requests.push_back(slurm::make_request(settings, k_version, findings));
  const auto tree = shell::read_script(std::string(text));
  const auto view = shell::make_view(tree);
  const auto launches = check::find_launches(view);
  if (!take_refusals(porting, findings)) return std::move(porting.result);
  if (requests.size() != 1) {
    porting.error({}, "port/hetjob", "a heterogeneous job cannot be written for another site",
                  "make a job of each component");
    return std::move(porting.result);
  }
  const auto programs = find_programs(porting, launches, view);
  port_request(porting, requests[0], slurm::size_job(requests[0], k_version, 0), programs);
  if (programs.empty()) {
    if (!diag::has_errors(porting.result.findings))
      porting.error(
          {}, "port/no-program", "no program is seen that the script starts on its nodes",
          "give the program behind --, without --from, or show it in the script: srun python train.py");
    return std::move(porting.result);
  }
  for (const auto& found : programs)
    if (!porting.result.job.container) port_container(porting, found);
  porting.result.job.command = programs.front().program.command;
  for (const auto& found : programs)
    if (!found.program.once) {
      porting.result.job.command = found.program.command;
      break;
    }
  // sbatch names a job after its script where nobody does.
  if (!porting.result.job.job_name)
    porting.result.job.job_name =
        model::Sourced<std::string>{std::filesystem::path(file).stem().string(), porting.origin("the name")};
  porting.result.job.body = port_body(porting, header, tree.program, programs);
  diag::sort_by_place(porting.result.findings);
  return std::move(porting.result);
}

} // namespace hpcml::port
