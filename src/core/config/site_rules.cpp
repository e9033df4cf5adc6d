// SPDX-License-Identifier: MIT
// What a site does with requests: flag rules, GPU requests, launchers, conditions.
#include <fmt/format.h>

#include "core/config/member_factory.hpp"
#include "core/config/site_parts.hpp"
#include "core/model/launcher_rows.hpp"
#include "core/model/pattern.hpp"

namespace hpcml::config {

bool is_pattern(ObjectReader& object, std::string_view key, const std::string& pattern) {
  if (!object.tries_patterns()) return true;
  const auto checked = model::check_pattern(pattern);
  if (!checked) object.report_value(key, checked.error().what, checked.error().hint);
  return checked.ok();
}

namespace {

constexpr std::string_view k_with = "With these launchers: ";
constexpr std::string_view k_stop = ".";

/// A GPU's type is not an option that only srun takes, or that a site advises against.
std::vector<std::string> gpu_type_policies() {
  return {"optional", "required", "recommended", "forbidden", "ignored"};
}

void read_gpu_type(ObjectReader& object, const MemberSchema& schema, model::GpuRequestRule& rule) {
  const auto word = object.choice(schema.key, schema.words());
  if (!word) return;
  rule.accepts_untyped = *word == "recommended";
  rule.type = rule.accepts_untyped ? model::OptionPolicy::required
                                   : model::find_word<model::OptionPolicy>(*word).value_or(rule.type);
}

void check_launcher(ObjectReader& object, model::LauncherRule& rule) {
  if (!rule.name.empty() && !model::starts_tasks(rule.name))
    object.report_value("name",
                        fmt::format("the launcher \"{}\" is not a program that starts tasks", rule.name),
                        "use srun, ibrun, mpirun, mpiexec, or one of these with a prefix (bede-mpirun)");
}

const ObjectSchema<model::ConditionalText>& host_form() {
  using T = model::ConditionalText;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::value>("host", TextRule::line, "Login node: roihu-gpu.csc.fi.")
          .must("set what the entry is about"),
      M::object<&T::when>("when"),
  });
  static constexpr ObjectSchema<T> k_schema{"submit_host", "From where some jobs are submitted.", k_members};
  return k_schema;
}

const ObjectSchema<model::ConditionalText>& command_schema() {
  using T = model::ConditionalText;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::value>("command", TextRule::name, "Command that takes the script: ghbatch.")
          .must("set what the entry is about"),
      M::object<&T::when>("when"),
  });
  static constexpr ObjectSchema<T> k_schema{"submit_command", "What submits some jobs.", k_members};
  return k_schema;
}

} // namespace

template <> const ObjectSchema<model::RuleCondition>& schema_of() {
  using T = model::RuleCondition;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::count<&T::min_nodes>("min_nodes", "From N nodes on."),
      M::count<&T::max_nodes>("max_nodes", "Up to N nodes."),
      M::yes_no<&T::gpus>("gpus", "Jobs with GPUs, or without."),
      M::count<&T::min_gpus>("min_gpus", "From N GPUs in the whole job on."),
      M::count<&T::max_gpus>("max_gpus", "Up to N GPUs in the whole job."),
      M::yes_no<&T::whole_nodes>("whole_nodes", "Jobs that have whole nodes, or that share them."),
      M::texts<&T::partitions>("partitions", TextRule::name, "In these partitions."),
      M::texts<&T::node_types>("node_types", TextRule::name, "On these node types."),
      M::texts<&T::gpu_types>("gpu_types", TextRule::name, "With these GPU types, by Slurm's name."),
      M::texts<&T::launchers>(
          "launchers", TextRule::name,
          model::ConcatenatedText<k_with, model::NameListText<model::k_launcher_names>::text, k_stop>::text),
      M::texts<&T::qos>("qos", TextRule::name, "Under these QoS."),
      M::yes_no<&T::container>("container", "In a container, or without."),
      M::text<&T::image>("image", TextRule::line,
                         "Regular expression (ECMAScript) that the image's whole name must match."),
  });
  static constexpr ObjectSchema<T> k_schema{
      "when",
      "When a rule holds: all conditions that are set must be true. Guide: "
      "docs/guides/site-profiles.md#limit-rules-with-conditions.",
      k_members, [](ObjectReader& object, T& when) {
        if (!is_pattern(object, "image", when.image)) when.image.clear();
      }};
  return k_schema;
}

template <> const ObjectSchema<model::SbatchOptionRule>& schema_of() {
  using T = model::SbatchOptionRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::word<&T::policy>("policy",
                          "What the site does with the option. discouraged: it is accepted, and the site "
                          "advises against it; srun-only: sbatch rejects it and it is passed to srun."),
      M::text<&T::pattern>("pattern", TextRule::line,
                           "Regular expression (ECMAScript) that the whole value must match."),
      M::text<&T::pattern_hint>("pattern_hint", TextRule::line, "The same in words: project_<number>."),
      M::text<&T::default_value>("default", TextRule::line, "What is used when the request does not set it."),
      M::text<&T::suffix>("suffix", TextRule::word,
                          "What is appended to the value unless it is already part of it: @h100."),
      M::text<&T::why>("why", TextRule::line, "The reason, for messages."),
      M::object<&T::when>("when"),
  });
  static constexpr ObjectSchema<T> k_schema{"flag", "How the site treats one option of sbatch.", k_members,
                                            [](ObjectReader& object, T& rule) {
                                              if (!is_pattern(object, "pattern", rule.pattern))
                                                rule.pattern.clear();
                                            }};
  return k_schema;
}

template <> const ObjectSchema<model::SiteAddedJobOption>& schema_of() {
  using T = model::SiteAddedJobOption;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::value>("option", TextRule::option, "The option: --network=disable_rdzv_get.")
          .must("set the option that every job gets: --network=disable_rdzv_get"),
      M::either<&T::on_srun>("on", &sbatch_or_srun, "Where it is given."),
      M::object<&T::when>("when"),
  });
  static constexpr ObjectSchema<T> k_schema{"common_options", "An option of every job.", k_members};
  return k_schema;
}

template <> const ObjectSchema<model::GpuRequestRule>& schema_of() {
  using T = model::GpuRequestRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::word<&T::style>("style", "The option with which GPUs are requested; none: they come with the node."),
      M::special(
          {.key = "type",
           .kind = MemberKind::text,
           .about = "Whether the GPU's type is named in it. recommended: jobs without it are accepted.",
           .words = &gpu_type_policies},
          &read_gpu_type),
      M::numbers<&T::allowed_counts>(
          "allowed_counts", "GPUs per node that may be asked for; absent: any number that the node has."),
      M::count<&T::multiple_of>(
          "multiple_of",
          "The job's GPUs are a multiple of this, unless they fit one of allowed_counts on one node."),
      M::yes_no<&T::whole_nodes_if_several>("whole_nodes_if_several",
                                            "Jobs on several nodes must take all GPUs of each."),
      M::yes_no<&T::must_request>("must_request", "Jobs without GPUs are rejected."),
      M::object<&T::when>("when"),
  });
  static constexpr ObjectSchema<T> k_schema{"gpu_request", "How GPUs are requested.", k_members};
  return k_schema;
}

template <> const ObjectSchema<model::GpuVisibilityRule>& schema_of() {
  using T = model::GpuVisibilityRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::word<&T::mode>("mode", "What a rank sees: all GPUs of the node, or only its own."),
      M::text<&T::why>("why", TextRule::line, "The reason, for messages."),
  });
  static constexpr ObjectSchema<T> k_schema{"gpu_visibility", "What a rank sees of the node's GPUs.",
                                            k_members};
  return k_schema;
}

template <> const ObjectSchema<model::LauncherRule>& schema_of() {
  using T = model::LauncherRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::name>("name", TextRule::name,
                        "srun, ibrun, mpirun, mpiexec, or one of these with a prefix.")
          .must("set the program that starts the tasks: srun, ibrun, mpirun"),
      M::yes_no<&T::is_default>("default", "The site's own choice."),
      M::texts<&T::args>("args", TextRule::launcher_argument,
                         "Words it always gets. {nodes}, {tasks}, {tasks_per_node}, {gpus_per_node}, "
                         "{gpus_per_task} and {cpus_per_task} are the job's numbers."),
      M::texts<&T::per_node_args>("per_node_args", TextRule::launcher_argument,
                                  "Words it gets where it starts one agent per node (torchrun)."),
      M::text<&T::rank_variable>("rank_variable", TextRule::variable,
                                 "Variable with the rank, where it is not Slurm's."),
      M::text<&T::local_rank_variable>("local_rank_variable", TextRule::variable,
                                       "Variable with the rank on the node."),
      M::text<&T::world_size_variable>("world_size_variable", TextRule::variable,
                                       "Variable with the number of ranks."),
      M::object<&T::when>("when"),
  });
  static constexpr ObjectSchema<T> k_schema{"launcher", "A program that starts the tasks.", k_members,
                                            &check_launcher};
  return k_schema;
}

template <> const ObjectSchema<model::SubmitRule>& schema_of() {
  using T = model::SubmitRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::objects<&T::hosts, &host_form>("hosts", "From where such jobs are submitted."),
      M::objects<&T::commands, &command_schema>("commands", "What submits such jobs, if it is not sbatch."),
      M::texts<&T::require_directories>("require_directories", TextRule::expression,
                                        "Jobs must be submitted from below one of these."),
      M::texts<&T::forbid_directories>("forbid_directories", TextRule::expression,
                                       "Jobs must not be submitted from below these."),
  });
  static constexpr ObjectSchema<T> k_schema{"submit", "How jobs are submitted.", k_members};
  return k_schema;
}

} // namespace hpcml::config
