// SPDX-License-Identifier: MIT
// What is read as one version holds for all versions that a reading says it holds for.
#include <catch2/catch.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/slurm/job_request.hpp"
#include "core/slurm/job_size.hpp"
#include "core/slurm/possible.hpp"
#include "live_cases.hpp"
#include "mutations.hpp"

using namespace hpcml;
using slurm::Version;

namespace {

std::string text_of(const std::vector<slurm::GresItem>& items) {
  std::string text;
  for (const auto& item : items) text += fmt::format(" {}:{}:{}", item.name, item.type, item.count);
  return text;
}

std::string text_of(const slurm::JobOptions& r) {
  std::string text;
  for (const auto& [option, setting] : r.settings)
    text += fmt::format("{}={} from {} at {}+{} off {}\n", option, setting.value.value_or("(none)"),
                        static_cast<int>(setting.source), setting.place.offset, setting.place.length,
                        setting.off);
  for (const auto& [option, count] : r.counts) text += fmt::format("count {} {}\n", option, count);
  for (const auto& [option, memory] : r.memory_mb) text += fmt::format("memory {} {}\n", option, memory);
  for (const auto& [option, items] : r.gres) text += fmt::format("gres {}{}\n", option, text_of(items));
  for (const auto& [option, limit] : r.times)
    text += fmt::format("time {} {} {}\n", option, limit.minutes.value_or(0), limit.seconds);
  if (r.nodes) text += fmt::format("nodes {} {} {}\n", r.nodes->min, r.nodes->max, r.nodes->is_list);
  if (r.tres_per_task)
    text += fmt::format("per task{} {}\n", text_of(r.tres_per_task->items), r.tres_per_task->cpus_count);
  if (r.signal)
    text += fmt::format("signal {} {} {} {}\n", r.signal->signal, r.signal->seconds, r.signal->to_batch_shell,
                        r.signal->at_reservation);
  for (const auto& dependency : r.dependencies.list)
    text += fmt::format("after {} {} {} {}\n", dependency.type, dependency.job, dependency.delay,
                        r.dependencies.any);
  return text + fmt::format("{} {} {} {} {}\n", fmt::join(r.mail_types, ","), fmt::join(r.features, ","),
                            static_cast<int>(r.sharing), r.requeue, r.overcommit);
}

std::string text_of(const slurm::JobSize& s) {
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {}\n", s.min_nodes, s.max_nodes,
                     s.nodes_given, s.tasks, s.tasks_known, s.tasks_per_node, s.cpus_per_task, s.cpus,
                     s.cpus_per_node, s.gpus, s.gpus_per_node, s.gpus_per_task, s.threads_per_core,
                     s.cores_per_socket, s.sockets_per_node);
}

/// All that is read of a script, and each refusal's code and place (its words name the version).
std::string reading(const std::string& script, const slurm::SbatchInvocation& invocation,
                    slurm::ComparisonTrackingVersion version) {
  slurm::LocatedFindings findings("case.sh", script);
  std::string text;
  for (const auto& settings :
       slurm::read_settings(slurm::read_header(script, version, findings), invocation, version, findings)) {
    const auto request = slurm::make_request(settings, version, findings);
    const auto size = slurm::size_job(request, version, slurm::listed_nodes(request));
    slurm::check_possible(request, size, version, findings);
    text += text_of(request) + text_of(size);
  }
  for (const auto& finding : findings.list())
    text += fmt::format("{} {}:{}+{}\n", finding.code, finding.location.line, finding.location.column,
                        finding.location.length);
  return text;
}

/// The least version that the reading as `own` holds for, where it holds for all that it says.
Version check_span(const agree::Case& item, Version own) {
  const slurm::SbatchInvocation invocation{item.arguments, item.environment};
  slurm::VersionSpan span;
  const auto read = reading(item.script, invocation, {own, &span});
  INFO(item.id << " as " << name_of(own) << " holds from " << name_of(span.first) << " to "
               << name_of(span.last) << "\n"
               << item.script);
  REQUIRE((span.first <= own && own <= span.last));
  for (auto j = static_cast<std::size_t>(span.first); j <= static_cast<std::size_t>(span.last); ++j) {
    INFO("read as " << slurm::k_version_names[j]);
    REQUIRE(read == reading(item.script, invocation, static_cast<Version>(j)));
  }
  return span.first;
}

} // namespace

TEST_CASE("A reading holds for every version of the span that it names") {
  std::vector<agree::Case> cases;
  for (const char* name : {"cases.json", "found_cases.json"}) {
    const auto list = agree::read_cases(std::string(HPCML_SOURCE_DIR "/tests/slurm_versions/") + name);
    REQUIRE(list);
    cases.insert(cases.end(), list->begin(), list->end());
  }
  REQUIRE(cases.size() > 1000);
  for (agree::Mutator mutator(cases, 2026); cases.size() < 4000;) cases.push_back(mutator.next());
  std::size_t spans = 0;
  for (const auto& item : cases)
    for (std::size_t i = 0; i < slurm::k_version_names.size(); ++i)
      spans += check_span(item, static_cast<Version>(i)) == static_cast<Version>(i) ? 1 : 0;
  // The point of it: few readings do for ten versions.
  CHECK(spans < 4 * cases.size());
}

TEST_CASE("Each comparison narrows the span to the versions that answer alike") {
  const auto span_of = [](Version own, auto ask) {
    slurm::VersionSpan span;
    ask(slurm::ComparisonTrackingVersion(own, &span));
    return std::pair(span.first, span.last);
  };
  const auto all = std::pair(slurm::k_oldest_version, slurm::k_newest_version);
  CHECK(span_of(Version::v22_05, [](auto) {}) == all);
  CHECK(span_of(Version::v22_05, [](auto v) { CHECK_FALSE(v >= Version::v23_02); }) ==
        std::pair(Version::v20_11, Version::v22_05));
  CHECK(span_of(Version::v23_02, [](auto v) { CHECK(v >= Version::v23_02); }) ==
        std::pair(Version::v23_02, Version::v26_05));
  CHECK(span_of(Version::v22_05, [](auto v) { CHECK(v < Version::v23_02); }) ==
        std::pair(Version::v20_11, Version::v22_05));
  CHECK(span_of(Version::v22_05, [](auto v) { CHECK(v <= Version::v23_02); }) ==
        std::pair(Version::v20_11, Version::v23_02));
  CHECK(span_of(Version::v24_05, [](auto v) { CHECK(v > Version::v23_02); }) ==
        std::pair(Version::v23_11, Version::v26_05));
  CHECK(span_of(Version::v26_05, [](auto v) { CHECK(v <= Version::v26_05); }) == all);
  CHECK(span_of(Version::v22_05, [](auto v) { CHECK(v == Version::v22_05); }) ==
        std::pair(Version::v22_05, Version::v22_05));
  CHECK(span_of(Version::v22_05, [](auto v) { CHECK(v != Version::v21_08); }) ==
        std::pair(Version::v22_05, Version::v26_05));
  CHECK(span_of(Version::v22_05, [](auto v) { CHECK(v.is_in("-21.08,22.05-23.02")); }) ==
        std::pair(Version::v20_11, Version::v23_02));
  CHECK(span_of(Version::v22_05, [](auto v) { CHECK_FALSE(v.is_in("-21.08,23.02-")); }) ==
        std::pair(Version::v22_05, Version::v22_05));
}
