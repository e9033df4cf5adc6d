// SPDX-License-Identifier: MIT
// The schema of a whole profile: what other files say in parts, and what is by itself.
#include <chrono>
#include <fmt/format.h>

#include "core/config/member_factory.hpp"
#include "core/config/site_parts.hpp"
#include "core/util/text.hpp"

namespace hpcml::config {

bool is_date(std::string_view text) {
  const auto part = [&](std::size_t at, std::size_t size) {
    return text.size() == 10 ? util::parse_unsigned(text.substr(at, size)) : std::nullopt;
  };
  const auto year = part(0, 4), month = part(5, 2), day = part(8, 2);
  return year && month && day && text[4] == '-' && text[7] == '-' &&
         std::chrono::year_month_day(std::chrono::year(static_cast<int>(*year)),
                                     std::chrono::month(static_cast<unsigned>(*month)),
                                     std::chrono::day(static_cast<unsigned>(*day)))
             .ok();
}

namespace {

using model::Site;

// Places of a site's values in its parts.
std::string& interactive_program(Site& site) { return site.interactive.program; }
std::map<std::string, std::string>& interactive_options(Site& site) { return site.interactive.options; }
std::vector<std::string>& interactive_implied(Site& site) { return site.interactive.implied; }

std::vector<std::string> constraint_operators() { return {"&", "|"}; }

/// A day.
template <class T, auto M> constexpr Member<T> date(std::string_view key, std::string_view about) {
  return MemberFactory<T>::special({.key = key, .kind = MemberKind::text, .about = about, .pattern = k_day},
                                   [](ObjectReader& object, const MemberSchema& schema, T& into) {
                                     std::invoke(M, into) = object.text(schema.key).value_or("");
                                     const auto& text = std::invoke(M, into);
                                     if (!text.empty() && !is_date(text))
                                       object.report_value(schema.key, k_date_fault);
                                   });
}

/// A member that others read: the layers of a profile.
void leave_site(ObjectReader& object, const MemberSchema& schema, Site&) { object.raw(schema.key); }

void check_text(ObjectReader& object, const MemberSchema& schema, Site&) { object.text(schema.key); }

void check_flag(ObjectReader& object, const MemberSchema& schema, Site&) { object.flag(schema.key); }

/// An older or newer schema of profiles has another number.
void check_form_version(ObjectReader& object, const MemberSchema& schema, Site&) {
  const auto* version = object.raw(schema.key);
  if (version && !(version->is(JsonKind::integer) && version->integer == schema.least))
    object.report_value(
        schema.key,
        fmt::format("the profile must have \"schema\": {}, the only version that this hpcml reads",
                    schema.least),
        fmt::format("set \"schema\": {}, or use the hpcml for which the profile was written", schema.least));
}

const ObjectSchema<Site>& state_schema() {
  using M = MemberFactory<Site>;
  static constexpr auto k_members = std::to_array<Member<Site>>({
      M::word<&Site::state>("is", "Whether the cluster runs jobs.").must("production, early or retired"),
      date<Site, &Site::retired_on>("retired_on", "Since when not."),
      date<Site, &Site::until>("until", "The last day that is announced."),
      M::text<&Site::successor>("successor", TextRule::name, "The id of the site that took over."),
  });
  static constexpr ObjectSchema<Site> k_schema{
      "state", "Whether the cluster is in operation.", k_members,
      [](ObjectReader& object, Site& site) { site.state_origin = object.origin("is"); }};
  return k_schema;
}

const ObjectSchema<Site>& undescribed_names_schema() {
  using M = MemberFactory<Site>;
  static constexpr auto k_members = std::to_array<Member<Site>>({
      M::texts<&Site::other_partitions>(
          "of_partitions", TextRule::line,
          "Partitions that exist, without further facts. An asterisk: groups have partitions "
          "with names like this one."),
      M::texts<&Site::other_qos>("of_qos", TextRule::line, "The same for QoS."),
  });
  static constexpr ObjectSchema<Site> k_schema{
      "undescribed_names",
      "Names that the site has in addition to those that the profile describes: CPU partitions, special QoS.",
      k_members};
  return k_schema;
}

const ObjectSchema<Site>& constraints_schema() {
  using M = MemberFactory<Site>;
  static constexpr auto k_members = std::to_array<Member<Site>>({
      M::texts<&Site::constraints>("values", TextRule::line,
                                   "Features that jobs may ask for with --constraint."),
      M::special({.key = "operators",
                  .kind = MemberKind::texts,
                  .about = "How they may be combined.",
                  .words = &constraint_operators},
                 [](ObjectReader& object, const MemberSchema& schema, Site& site) {
                   site.constraint_operators = object.texts(schema.key);
                   for (const auto& sign : site.constraint_operators)
                     if (sign != "&" && sign != "|")
                       object.report_value(
                           "operators",
                           fmt::format("constraints.operators has \"{}\", which does not combine features",
                                       sign),
                           "use one of: &, |");
                 }),
  });
  static constexpr ObjectSchema<Site> k_schema{"constraints", "What --constraint takes.", k_members};
  return k_schema;
}

void check_interactive(ObjectReader& root, const Site& site) {
  const auto& program = site.interactive.program;
  const bool of_slurm = program == "salloc" || program == "srun";
  if (of_slurm == site.interactive.options.empty()) return;
  root.report_value(
      of_slurm ? "interactive_options" : "interactive",
      of_slurm
          ? fmt::format(
                "interactive_options has no effect: \"interactive\" is {}, which accepts Slurm's options",
                program)
          : fmt::format(
                "\"interactive\" is \"{}\", neither salloc nor srun, but interactive_options is missing",
                program),
      of_slurm ? "remove interactive_options"
               : "add the program's options, for example \"interactive_options\": {\"nodes\": \"-N\", "
                 "\"time\": \"-t\"}");
}

void finish_site(ObjectReader& root, Site& site) {
  if (site.name.empty()) site.name = site.id;
  site.openmp_origin = root.origin("openmp");
  check_interactive(root, site);
  auto containers = root.items("containers");
  for (std::size_t i = 0; i < containers.size() && i < site.containers.size(); ++i)
    check_activation(containers[i], site.containers[i], site);
}

void read_sources(ObjectReader& root, const MemberSchema& schema, Site& site) {
  root.each_member(schema.key, [&](const std::string& id, ObjectReader& object) {
    auto source = read_object<model::SourceDocument>(object);
    source.id = id;
    root.know_source(id, source.url, source.checked);
    site.sources.push_back(std::move(source));
  });
}

void read_flags(ObjectReader& root, const MemberSchema& schema, Site& site) {
  std::map<std::string, std::optional<model::SbatchOptionRule>> flags;
  root.each_member(schema.key, [&](const std::string& name, ObjectReader& object) {
    add_rule(flags[name], read_object<model::SbatchOptionRule>(object));
  });
  for (auto& [name, rule] : flags)
    if (rule) site.flags[name] = std::move(*rule);
}

void read_always(ObjectReader& root, const MemberSchema& schema, Site& site) {
  root.each_or_text(
      schema.key, schema.rule,
      [&](const std::string& option, const model::Origin& origin) {
        site.common_options.push_back({option, origin});
      },
      [&](ObjectReader& object) {
        auto rule = read_object<model::SiteAddedJobOption>(object);
        if (!rule.value.empty()) site.common_options.push_back(std::move(rule));
      });
}

void read_gpu_request(ObjectReader& root, const MemberSchema& schema, Site& site) {
  std::optional<model::GpuRequestRule> first;
  root.each_or_one(
      schema.key, [&](ObjectReader& object) { add_rule(first, read_object<model::GpuRequestRule>(object)); });
  if (first) site.gpu_request = std::move(*first);
}

/// What a profile is, and the layers below it. Sources come first: each origin names one.
constexpr auto identity_members() {
  using M = MemberFactory<Site>;
  return std::to_array<Member<Site>>({
      M::special({.key = "sources",
                  .kind = MemberKind::object_map,
                  .about = "Where values come from.",
                  .key_rule = TextRule::name,
                  .schema = &M::any_schema<model::SourceDocument>},
                 &read_sources),
      M::special({.key = "$schema", .kind = MemberKind::text, .about = "For editors."}, &check_text),
      M::special({.key = "schema",
                  .kind = MemberKind::number,
                  .about = "The version of this form.",
                  .least = 1,
                  .most = 1},
                 &check_form_version),
      M::text<&Site::id>("id", TextRule::name, "The name for --site; the file is called ID.json.")
          .must("set the name for --site; the file is called ID.json"),
      M::text<&Site::name>("name", TextRule::line, "The cluster's name in messages."),
      M::special({.key = "extends",
                  .kind = MemberKind::texts,
                  .about = "Ids of profiles whose values apply here unless this one overrides them: objects "
                           "merge, lists are replaced, null removes.",
                  .rule = TextRule::name},
                 &leave_site),
      M::special({.key = "abstract", .kind = MemberKind::yes_no, .about = "A layer for others, not a site."},
                 &check_flag),
      M::part<&state_schema>("state"),
      M::object<&Site::detect>("detect"),
      M::word<&Site::login_arch>("login_arch", "Architecture of the login nodes."),
      M::object<&Site::submit>("submit"),
      M::word<&Site::scheduler>("scheduler", "What runs the jobs; none: one machine without a scheduler, "
                                             "where hpcml launch starts the ranks."),
      M::text<&Site::slurm_version>("slurm_version", TextRule::name, "Slurm's version."),
  });
}

/// What requests look like.
constexpr auto request_members() {
  using M = MemberFactory<Site>;
  return std::to_array<Member<Site>>({
      M::special({.key = "flags",
                  .kind = MemberKind::object_map,
                  .about = "sbatch's options by their long name without dashes: one rule, or several of "
                           "which the first that holds is used.",
                  .key_rule = TextRule::name,
                  .schema = &M::any_schema<model::SbatchOptionRule>},
                 &read_flags),
      M::special({.key = "common_options",
                  .kind = MemberKind::objects_or_texts,
                  .about = "Options of every job.",
                  .rule = TextRule::option,
                  .schema = &M::any_schema<model::SiteAddedJobOption>},
                 &read_always),
      M::text<&Site::shebang>("shebang", TextRule::shebang, "The script's first line."),
      M::special(
          {.key = "gpu_request",
           .kind = MemberKind::object_or_list,
           .about = "How GPUs are asked for: one rule, or several of which the first that holds is used.",
           .schema = &M::any_schema<model::GpuRequestRule>},
          &read_gpu_request),
      M::object<&Site::gpu_visibility>("gpu_visibility"),
      M::part<&undescribed_names_schema>("undescribed_names"),
      M::part<&constraints_schema>("constraints"),
      M::word<&Site::binding>("binding", "masks: srun binds with CPU masks where the step owns its nodes; "
                                         "launch: hpcml launch binds."),
      M::objects<&Site::launchers>("launchers", "Programs that start the tasks."),
      M::text<&interactive_program>("interactive", TextRule::name,
                                    "The program that begins an interactive job: salloc, srun, or one of the "
                                    "site's own with interactive_options."),
      M::text_map<&interactive_options>("interactive_options", TextRule::name, TextRule::option,
                                        "sbatch's options by their long name without dashes, and what that "
                                        "program calls them: -N."),
      M::texts<&interactive_implied>("interactive_implies", TextRule::name,
                                     "sbatch's options, without dashes, whose meaning every job of that "
                                     "program has: exclusive."),
      M::text<&Site::signal_for_preemption>("signal_for_preemption", TextRule::name,
                                            "The signal that jobs get before they are preempted."),
  });
}

/// Nodes, queues, and what is on them.
constexpr auto machine_members() {
  using M = MemberFactory<Site>;
  return std::to_array<Member<Site>>({
      M::objects<&Site::node_types>("node_types", "Types of nodes."),
      M::objects<&Site::partitions>("partitions", "Partitions."),
      M::objects<&Site::qos>("qos", "Qualities of service."),
      M::object<&Site::network>("network"),
      M::objects<&Site::env>("env", "Variables that the site requires."),
      M::objects<&Site::conflicts>("conflicts", "Variables that must not be combined."),
      M::objects<&Site::caches>(
          "caches",
          "Caches that must be on node-local storage: one directory per node and job, removed at the end."),
      M::text_map<&Site::openmp>("openmp", TextRule::variable, TextRule::line,
                                 "Variables that are set together with OMP_NUM_THREADS."),
      M::word<&Site::modules_reset>("modules_reset", "What comes before the first module."),
      M::objects<&Site::modules>("modules",
                                 "Modules of every job, before those of Python, containers and the request."),
      M::objects<&Site::containers>("containers", "How images run: the first rule that holds is used."),
      M::objects<&Site::python>("python", "Python environments, the recommended one first."),
      M::texts<&Site::libtorch_modules>("libtorch_modules", TextRule::word,
                                        "Modules that a program with LibTorch needs."),
      M::texts<&Site::libtorch_link_directories>(
          "libtorch_link_directories", TextRule::expression,
          "Directories that linking a program with LibTorch needs in addition to LibTorch's own: "
          "$EBROOTCUDA/extras/CUPTI/lib64."),
      M::object<&Site::storage>("storage"),
      M::object<&Site::policies>("policies"),
      M::texts<&Site::unknown>(
          "unknown", TextRule::line,
          "What no source gives: keys as in \"slurm_version\", \"network.interfaces\", "
          "\"node_types[].memory\" (of all or some node types) and "
          "\"node_types[ID].cpu.sockets\" (of one). A remark is in parentheses, and a part "
          "of a key is after a colon: \"env: NCCL settings\". Other facts are sentences."),
  });
}

} // namespace

template <> const ObjectSchema<model::SourceDocument>& schema_of() {
  using T = model::SourceDocument;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::url>("url", TextRule::line, "Where it can be read.")
          .must("set where the source can be read"),
      date<T, &T::checked>("checked", "The day on which it was read.")
          .must("set the day on which the source was read, YYYY-MM-DD"),
  });
  static constexpr ObjectSchema<T> k_schema{"source_document", "A document that values come from.",
                                            k_members};
  return k_schema;
}

template <> const ObjectSchema<model::DetectionRule>& schema_of() {
  using T = model::DetectionRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text_map<&T::env>("env", TextRule::variable, TextRule::line,
                           "Variables of the login nodes, with a regular expression for the whole value."),
      M::texts<&T::hostnames>("hostnames", TextRule::line,
                              "Regular expressions for the whole host name of login nodes."),
  });
  static constexpr ObjectSchema<T> k_schema{"detect", "How hpcml detects that it runs on this site.",
                                            k_members, [](ObjectReader& object, T& detect) {
                                              for (const auto& [name, pattern] : detect.env)
                                                is_pattern(object, "env", pattern);
                                              for (const auto& pattern : detect.hostnames)
                                                is_pattern(object, "hostnames", pattern);
                                            }};
  return k_schema;
}

template <> const ObjectSchema<Site>& schema_of() {
  static constexpr auto k_members = joined(joined(identity_members(), request_members()), machine_members());
  static constexpr ObjectSchema<Site> k_schema{
      "site",
      "What hpcml knows about a cluster. A value is plain or {\"value\": …, \"source\": …, \"checked\": …, "
      "\"note\": …, \"alternatives\": […]}. What is not known is absent and named in \"unknown\". "
      "Guide: docs/guides/site-profiles.md; all keys: docs/reference/site-profile.md.",
      k_members, &finish_site};
  return k_schema;
}

} // namespace hpcml::config
