// SPDX-License-Identifier: MIT
#include "generate/import_script/listed_gpus.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/model/gpu_vendor.hpp"
#include "core/util/text.hpp"

namespace hpcml::import_script {
namespace {

/// The list of visible devices that the program gets from the script; null if it gets none.
const shell::Argument* device_list_of(const FoundLaunch& found) {
  for (const auto name : model::k_visible_devices_variables)
    if (const auto* value = found.launch->variable(name)) return value;
  return nullptr;
}

/// Whether the list hides all GPUs: "", "-1".
bool hides_gpus(const FoundLaunch& found) {
  const auto* list = device_list_of(found);
  return list && list->known() && (list->text().empty() || list->text() == "-1");
}

/// Whether each pass of a loop shows its program other GPUs: `CUDA_VISIBLE_DEVICES=$I python x.py`.
bool lists_by_loop(const FoundLaunch& found) {
  const auto* list = device_list_of(found);
  return list && !list->known() && found.bare() && found.launch->command->context.loop;
}

/// Whether a step for one program requests its own GPUs, which the new step does not: it sees those of its
/// node.
bool requests_own_gpus(const FoundLaunch& found) {
  const auto* step = found.program.once ? found.launch->step() : nullptr;
  if (!step) return false;
  const auto names = {"gpus", "gpus-per-node", "gpus-per-task", "gres"};
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return step->find(name); });
}

} // namespace

unsigned listed_gpus(const FoundLaunch& found) {
  const auto* list = device_list_of(found);
  const auto text = list && list->known() ? list->text() : std::string();
  if (text.empty() || text.find_first_not_of("0123456789,") != std::string::npos) return 0;
  return static_cast<unsigned>(1 + std::count(text.begin(), text.end(), ','));
}

bool chooses_own_gpu(std::string_view text) {
  constexpr std::string_view k_list = "VISIBLE_DEVICES=";
  for (auto at = text.find(k_list); at != std::string_view::npos; at = text.find(k_list, at + 1)) {
    const auto begin = at + k_list.size();
    const auto value = text.substr(begin, text.find_first_of("\n;&", begin) - begin);
    for (const std::string_view rank : {"LOCALID", "LOCAL_RANK", "LOCAL_ID"})
      if (value.find(rank) != std::string_view::npos) return true;
  }
  return false;
}

bool lacks_device_list(const ImportState& porting, const std::vector<FoundLaunch>& programs) {
  constexpr std::string_view k_name = "CUDA_VISIBLE_DEVICES";
  if (vendor_of_target(porting) != model::GpuVendor::amd &&
      porting.to.gpu_request.style != model::GpuOptionStyle::none)
    return false;
  if (porting.text.find(std::string(k_name) + "=") != std::string_view::npos) return false;
  const auto reads_in_task = [&](const std::string& word) { // in a shell of the task
    return word.find(k_name) != std::string::npos &&
           (word.front() == '\'' || word.find("\\$") != std::string::npos);
  };
  return std::none_of(programs.begin(), programs.end(), [&](const FoundLaunch& found) {
    return std::any_of(found.program.source.begin(), found.program.source.end(), reads_in_task);
  });
}

void refuse_other_gpus(ImportState& porting, const std::vector<FoundLaunch>& programs,
                       const FoundLaunch& main, unsigned gpus) {
  const auto seen = [gpus](const FoundLaunch& program) {
    const auto listed = listed_gpus(program);
    return listed == 0 ? gpus : std::min(listed, gpus);
  };
  for (const auto& program : programs) {
    if (program.in_batch || program.is_helper || gpus == 0) continue;
    const bool hides = hides_gpus(program);
    if (!hides && (gpus == 1 ||
                   (seen(program) == seen(main) && !lists_by_loop(program) && !requests_own_gpus(program))))
      continue;
    return porting.error(
        {program.begin, program.end - program.begin}, "port/gpus",
        fmt::format("'{}' sees {} of its node, but programs of the script for {} see all GPUs of "
                    "the job",
                    shown_command(program), hides ? "no GPU" : "other GPUs than the others", porting.to.id),
        "use a separate job for each program that sees other GPUs");
  }
}

void limit_batch_gpus(ImportState& porting, TextCuts& cuts, diag::TextRange command, bool is_first) {
  if (porting.batch_gpus == 0) return;
  using enum model::GpuVendor;
  const auto name = model::visible_devices_variable(vendor_of_target(porting) == amd ? amd : nvidia);
  const auto text = short_line(porting.text.substr(command.offset, command.length));
  std::vector<std::string> devices;
  for (unsigned i = 0; i < porting.batch_gpus; ++i) devices.push_back(std::to_string(i));
  const auto setting = name + "=" + util::join(devices, ",");
  if (!is_first)
    return porting.warn(
        command, "port/gpus",
        fmt::format("'{}' sees all GPUs of its node on {}, which the batch script gets", text, porting.to.id),
        fmt::format("use export {} before it in the script", setting));
  cuts.insert(command.offset, setting + " ");
  porting.note(command, "port/gpus",
               fmt::format("{} is set for '{}', because the batch script sees all GPUs of its node on {}",
                           name, text, porting.to.id),
               "add --gpus-per-node N to hpcml gen to use more of them");
}

} // namespace hpcml::import_script
