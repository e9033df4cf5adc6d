// SPDX-License-Identifier: MIT
#include "core/failures/failure_report.hpp"
#include "core/util/visible.hpp"
#include "diagnose/doctor/reasons.hpp"
#include "hpcml/json_line.hpp"
#include <fmt/format.h>

namespace hpcml::doctor {

namespace {

std::string word_of(DeviceAccess access) {
  switch (access) {
  case DeviceAccess::open: return "open";
  case DeviceAccess::forbidden: return "forbidden";
  case DeviceAccess::no_rights: return "no rights";
  case DeviceAccess::missing: break;
  }
  return "missing";
}

std::string or_none(const std::string& text) { return text.empty() ? "none" : text; }

JsonLine json_of(const std::map<std::string, std::string>& values) {
  JsonLine line;
  for (const auto& [name, value] : values) line.add(name, util::visible(value));
  return line;
}

std::string facts_text(const Facts& facts) {
  const auto& [place, gpus, torch, network] = facts;
  std::string text = fmt::format(
      "found: {} GPUs on the PCI bus, {} listed by the driver; driver {}; job {}; container {}\n",
      gpus.on_bus, gpus.by_driver, or_none(gpus.kernel_driver), or_none(place.job), or_none(place.container));
  if (torch.kind != TorchBuild::Kind::found)
    text += fmt::format("found: no known torch: {}\n", torch.why);
  else
    text += fmt::format("found: torch {} ({}), CUDA {}, ROCm {}\n", torch.version, torch.place,
                        or_none(torch.cuda), or_none(torch.rocm));
  for (const auto& [name, value] : place.limits) text += fmt::format("found: {}={}\n", name, value);
  if (!network.fabric.empty())
    text += fmt::format("found: {}; locked memory {}, hard limit {}\n", network.fabric,
                        launch::describe_bytes(network.locked_memory.soft),
                        launch::describe_bytes(network.locked_memory.hard));
  return text;
}

} // namespace

std::string render_text(const std::vector<DoctorCheckResult>& answers, const Facts& facts) {
  std::string text;
  for (const auto& answer : answers) {
    text += fmt::format("{} {}\n", answer.question, answer.answer);
    for (const auto& reason : answer.reasons)
      for (const auto& line :
           failures::render_lines({fmt::format("- {} [{}]", reason.what, reason.id), {}, {reason.next}}))
        text += line + "\n";
  }
  return util::visible(text + facts_text(facts));
}

std::string render_json(const std::vector<DoctorCheckResult>& answers, const Facts& facts) {
  const auto& [place, gpus, torch, network] = facts;
  std::vector<std::string> list;
  for (const auto& answer : answers) {
    std::vector<JsonLine> reasons;
    for (const auto& reason : answer.reasons)
      reasons.push_back(JsonLine()
                            .add("id", reason.id)
                            .add("what", util::visible(reason.what))
                            .add("hint", util::visible(reason.next)));
    list.push_back(JsonLine()
                       .add("question", answer.question)
                       .add("good", answer.is_good())
                       .add("answer", util::visible(answer.answer))
                       .add("reasons", reasons)
                       .text());
  }
  JsonLine devices;
  for (const auto& [name, access] : gpus.devices) devices.add(name, word_of(access));
  JsonLine seen;
  seen.add("vendor", model::word_of(gpus.vendor))
      .add("gpus_on_bus", gpus.on_bus)
      .add("gpus_by_driver", gpus.by_driver)
      .add("kernel_driver", gpus.kernel_driver)
      .add("driver_library", gpus.library)
      .add("devices", devices)
      .add("container", place.container)
      .add("job", place.job)
      .add("slurm_says", json_of(place.gpu_variables))
      .add("limited_by", json_of(place.limits))
      .add("torch", util::visible(torch.version))
      .add("torch_place", util::visible(torch.place))
      .add("torch_cuda", torch.cuda)
      .add("torch_rocm", torch.rocm)
      .add("locking_fabric", network.fabric)
      .add("locked_memory", launch::describe_bytes(network.locked_memory.soft))
      .add("locked_memory_hard", launch::describe_bytes(network.locked_memory.hard));
  return JsonLine().add_json_list("answers", list).add("facts", seen).text() + "\n";
}

} // namespace hpcml::doctor
