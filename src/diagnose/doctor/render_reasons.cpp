// SPDX-License-Identifier: MIT
#include "core/util/visible.hpp"
#include "diagnose/doctor/reasons.hpp"
#include "hpcml/json_line.hpp"

namespace hpcml::doctor {

namespace {

std::string word_of(Access access) {
  switch (access) {
  case Access::open: return "open";
  case Access::forbidden: return "forbidden";
  case Access::no_rights: return "no rights";
  case Access::missing: break;
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
  std::string text = "seen: GPUs on the bus " + std::to_string(gpus.on_bus) + ", by the driver " +
                     std::to_string(gpus.by_driver) + "; driver " + or_none(gpus.kernel_driver) + "; job " +
                     or_none(place.job) + "; container " + or_none(place.container) + "\n";
  if (torch.kind != TorchBuild::Kind::found)
    text += "seen: no torch that can be told: " + torch.why + "\n";
  else
    text += "seen: torch " + torch.version + " (" + torch.place + ")" + ", CUDA " + or_none(torch.cuda) +
            ", ROCm " + or_none(torch.rocm) + "\n";
  for (const auto& [name, value] : place.limits) text += "seen: " + name + "=" + value + "\n";
  if (!network.fabric.empty())
    text += "seen: " + network.fabric + "; locked memory " +
            launch::describe_bytes(network.locked_memory.soft) + ", hard limit " +
            launch::describe_bytes(network.locked_memory.hard) + "\n";
  return text;
}

} // namespace

std::string render_text(const std::vector<DoctorAnswer>& answers, const Facts& facts) {
  std::string text;
  for (const auto& answer : answers) {
    text += answer.question + " " + answer.answer + "\n";
    for (const auto& reason : answer.reasons)
      text += "- " + reason.what + " [" + reason.id + "]\n  next: " + reason.next + "\n";
  }
  return util::visible(text + facts_text(facts));
}

std::string render_json(const std::vector<DoctorAnswer>& answers, const Facts& facts) {
  const auto& [place, gpus, torch, network] = facts;
  std::vector<std::string> list;
  for (const auto& answer : answers) {
    std::vector<JsonLine> reasons;
    for (const auto& reason : answer.reasons)
      reasons.push_back(JsonLine()
                            .add("id", reason.id)
                            .add("what", util::visible(reason.what))
                            .add("next", util::visible(reason.next)));
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
