// SPDX-License-Identifier: MIT
// Environment, caches, containers and Python of a profile.
#include <algorithm>
#include <fmt/format.h>

#include "core/config/member_factory.hpp"
#include "core/config/site_parts.hpp"
#include "core/util/text.hpp"

namespace hpcml::config {

void check_activation(ObjectReader& container, const model::ContainerRule& rule, const model::Site& site) {
  const auto name = rule.enter.starts_with("$") ? rule.enter.substr(1) : std::string();
  const auto sets = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& variable) { return variable.name == name; });
  };
  const bool cached = std::any_of(site.caches.begin(), site.caches.end(),
                                  [&](const auto& cache) { return cache.variables.contains(name); });
  if (name.empty() || (!sets(site.env) && !cached && !site.openmp.contains(name))) return;
  container.report_value(
      "enter",
      fmt::format("{}.enter runs the value of ${} as a command, but the profile itself sets this variable",
                  container.path(), name),
      "use a variable that only the image sets, or \"enter\": \"source /ABSOLUTE/PATH\"");
}

namespace {

void check_cache(ObjectReader& object, model::CacheRule& rule) {
  for (const auto& [name, below] : rule.variables) {
    const auto parts = util::split(below, '/');
    if (below.starts_with("/") || std::find(parts.begin(), parts.end(), "..") != parts.end())
      object.report_value(
          "variables",
          fmt::format("{}.variables.{} is \"{}\", which is not below the directory of the cache",
                      object.path(), name, below),
          "use a path inside the directory, such as cache, or an empty text for the directory itself");
  }
}

/// Engines that are not program before the command but options of Slurm have their own rules.
void check_container(ObjectReader& object, model::ContainerRule& rule) {
  const auto name = model::word_of(rule.engine);
  const bool by_slurm = model::row_of(rule.engine).by_slurm;
  if (!rule.prefix.empty() && rule.prefix != name)
    object.report_value("prefix",
                        fmt::format("{}.prefix is \"{}\", but can only be the engine \"{}\"", object.path(),
                                    rule.prefix, name),
                        fmt::format("use \"{}\", or remove prefix", name));
  if (by_slurm && rule.options.empty())
    object.report_value(
        "engine",
        fmt::format("the engine {} starts images by options of Slurm, but {}.options has none", name,
                    object.path()),
        "use for example \"options\": [\"--environment={image}\"]");
  if (!rule.bind_option.empty() && rule.bind_option.find("{binds}") == std::string::npos)
    object.report_value("bind_option",
                        fmt::format("{}.bind_option is \"{}\", which lacks {{binds}} for the bind mounts",
                                    object.path(), rule.bind_option),
                        "use for example --container-mounts={binds}");
  if (!is_pattern(object, "images", rule.images)) rule.images.clear();
  if (!rule.image_variable.empty() && by_slurm)
    object.report_value(
        "image_variable",
        fmt::format("{}.image_variable has no effect: the engine {} starts images by options of Slurm",
                    object.path(), name),
        "remove image_variable");
}

std::vector<std::string> image_builders() { return {"cotainr", "easybuild"}; }

} // namespace

template <> const ObjectSchema<model::EnvRule>& schema_of() {
  using T = model::EnvRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::name>("name", TextRule::variable, "The variable.").must("set the variable's name"),
      M::yes_no<&T::expression>("expression", "The value may name variables of the job: $SCRATCH/x."),
      M::special({.key = "value",
                  .kind = MemberKind::text,
                  .about = "Its value, used literally unless it is an expression.",
                  .why = "set the variable's value"},
                 [](ObjectReader& object, const MemberSchema& schema, T& rule) {
                   const auto kind = rule.expression ? TextRule::expression : TextRule::line;
                   rule.value = object.text(schema.key, kind).value_or("");
                 }),
      M::word<&T::scope>("scope", "Where it is set."),
      M::object<&T::when>("when"),
  });
  static constexpr ObjectSchema<T> k_schema{
      "env", "A variable that the site requires. An expression may name variables of the job.", k_members};
  return k_schema;
}

template <> const ObjectSchema<model::CacheRule>& schema_of() {
  using T = model::CacheRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::name>("name", TextRule::name, "Name of the directory.")
          .must("set a name for the directory"),
      M::text<&T::base>("base", TextRule::expression, "Node-local directory in which it is made.")
          .must("set the node-local directory in which it is made"),
      M::text_map<&T::variables>("variables", TextRule::variable, TextRule::word,
                                 "Variables that name it, with the path below it."),
      M::object<&T::when>("when"),
  });
  static constexpr ObjectSchema<T> k_schema{
      "cache", "A directory on node-local storage, one per node and job.", k_members, &check_cache};
  return k_schema;
}

template <> const ObjectSchema<model::ConflictRule>& schema_of() {
  using T = model::ConflictRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::texts<&T::settings>("settings", TextRule::line, "NAME or NAME=VALUE: not all of them together.")
          .must("set NAME or NAME=VALUE of settings that must not be combined"),
      M::text<&T::why>("why", TextRule::line, "What happens.").must("set what happens if they are combined"),
      M::object<&T::when>("when"),
  });
  static constexpr ObjectSchema<T> k_schema{"conflict", "Variables that must not be combined.", k_members};
  return k_schema;
}

template <> const ObjectSchema<model::ModuleRule>& schema_of() {
  using T = model::ModuleRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::texts<&T::load>(
          "load", TextRule::word,
          "Modules that these jobs load; a module directory as use:/path. Modules that users may "
          "load are not listed.")
          .must("set a list of modules"),
      M::object<&T::when>("when"),
  });
  static constexpr ObjectSchema<T> k_schema{"modules", "Modules of some jobs.", k_members};
  return k_schema;
}

template <> const ObjectSchema<model::ContainerBind>& schema_of() {
  using T = model::ContainerBind;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::source>("path", TextRule::expression, "On the host.").must("set the path on the host"),
      M::text<&T::target>("target", TextRule::expression, "Inside; absent: the same."),
      M::yes_no<&T::optional>("optional", "Omitted if the node does not have it."),
  });
  static constexpr ObjectSchema<T> k_schema{"bind", "A directory or file that images see.", k_members};
  return k_schema;
}

template <> const ObjectSchema<model::SquashfsRule>& schema_of() {
  using T = model::SquashfsRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::at>("at", TextRule::expression,
                      "Where it is mounted [default: its own path without the suffix]."),
      M::texts<&T::options>("options", TextRule::launcher_argument, "Options of mksquashfs, one word each."),
  });
  static constexpr ObjectSchema<T> k_schema{
      "squashfs", "An environment in one squashfs file can be mounted with the image.", k_members,
      [](ObjectReader&, T& rule) { rule.known = true; }};
  return k_schema;
}

template <> const ObjectSchema<model::ContainerRule>& schema_of() {
  using T = model::ContainerRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::word<&T::engine>("engine", "What runs them: a program before the command, or options of Slurm.")
          .must(model::NameListText<model::k_engine_names>::text),
      M::text<&T::images>("images", TextRule::line,
                          "The rule is for images of this form, a regular expression: .*\\.toml. Without it, "
                          "for all others."),
      M::text<&T::image_variable>("image_variable", TextRule::variable,
                                  "The image is named by its module, which is loaded and gives the image's "
                                  "path in this variable: SIF."),
      M::text_map<&T::env>("env", TextRule::variable, TextRule::line, "Variables of jobs in these images."),
      M::yes_no<&T::shows_scratch>("shows_scratch", "Images see storage.scratch without a bind."),
      M::object<&T::squashfs>("squashfs"),
      M::word<&T::gpu_flag>("gpu_flag", "What gives it the GPUs."),
      M::either<&T::options_on_srun>("on", &sbatch_or_srun, "Where the options below are given."),
      M::texts<&T::options>(
          "options", TextRule::option,
          "Options that name the image as {image}: --image={image}, --environment={image}."),
      M::text<&T::bind_option>("bind_option", TextRule::option,
                               "The option for binds, as {binds}: --container-mounts={binds}."),
      M::text<&T::prefix>("prefix", TextRule::name, "Program before the command: shifter."),
      M::objects<&T::binds>("binds", "What is bound into every image."),
      M::texts<&T::modules>("modules", TextRule::word,
                            "Modules to load first; a module directory as use:/path."),
      M::text<&T::enter>("enter", TextRule::activation,
                         "What activates the image's own environment inside it."),
      M::object<&T::when>("when"),
  });
  static constexpr ObjectSchema<T> k_schema{"container", "How images run.", k_members, &check_container};
  return k_schema;
}

template <> const ObjectSchema<model::ImageBuild>& schema_of() {
  using T = model::ImageBuild;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text_of<&T::tool>("tool", &image_builders,
                           "What builds it: cotainr, or easybuild for an image that a module gives.")
          .must("set cotainr or easybuild"),
      M::text<&T::base_image>("base_image", TextRule::word, "The image that cotainr starts from."),
      M::text<&T::rocm>("rocm", TextRule::name, "The ROCm inside the base image: 5.5.3."),
      M::text<&T::cuda>("cuda", TextRule::name, "The CUDA inside the base image: 12.6."),
  });
  static constexpr ObjectSchema<T> k_schema{"image_build", "How an image with a user's packages is built.",
                                            k_members, [](ObjectReader& object, T& image) {
                                              if (image.tool == "cotainr")
                                                object.require("base_image",
                                                               "set the image that cotainr starts from");
                                            }};
  return k_schema;
}

template <> const ObjectSchema<model::PythonPackageRule>& schema_of() {
  using T = model::PythonPackageRule;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::word<&T::kind>("kind",
                        "How jobs get Python. module: modules provide it with its packages; venv: python "
                        "-m venv makes environments; uv: uv makes them; conda: conda does; wheelhouse: "
                        "virtualenv makes them from wheels that the site keeps; container: an image "
                        "has it.")
          .must("set venv, conda, wheelhouse, uv, module or container"),
      M::texts<&T::modules>("modules", TextRule::word, "Modules to load first."),
      M::text<&T::conda_env>("conda_env", TextRule::word,
                             "An environment that the site provides for all users."),
      M::text<&T::where>("where", TextRule::expression, "Where environments are stored."),
      M::text<&T::list_wheels>("list_wheels", TextRule::name,
                               "The program that lists the wheels which the site keeps: avail_wheels."),
      M::object<&T::image>("image", "With kind container."),
      M::texts<&T::packages>("packages", TextRule::requirement,
                             "What a new environment gets when the request names nothing."),
      M::object<&T::when>("when"),
  });
  static constexpr ObjectSchema<T> k_schema{"python", "A Python environment.", k_members};
  return k_schema;
}

} // namespace hpcml::config
