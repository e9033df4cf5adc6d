// SPDX-License-Identifier: MIT
// The plan as JSON, each value with its origin.
#include <nlohmann/json.hpp>

#include "generate/render/interactive.hpp"
#include "generate/render/render_script.hpp"
#include "generate/render/sections.hpp"

namespace hpcml::render {

namespace {

using Json = nlohmann::ordered_json;

Json origin_json(const model::Origin& origin) {
  static const char* const k_kinds[] = {"rule", "site", "config", "job_file", "environment", "flag"};
  Json json{{"kind", k_kinds[static_cast<int>(origin.kind)]}, {"by", origin.by}};
  if (!origin.source.empty()) json["source"] = origin.source.text();
  if (!origin.checked.empty()) json["checked"] = origin.checked.text();
  for (const auto& replaced : origin.superseded)
    json["superseded"].push_back(
        {{"value", replaced.value}, {"source", replaced.source}, {"why", replaced.why}});
  return json;
}

Json sourced_json(const model::Sourced<std::string>& value) {
  return {{"value", value.value}, {"origin", origin_json(value.origin)}};
}

template <class E> Json sourced_json(const model::Sourced<E>& choice) {
  return sourced_json(model::Sourced<std::string>{model::word_of(choice.value), choice.origin});
}

Json directives_json(const model::Plan& plan) {
  Json list = Json::array();
  for (const auto& directive : plan.directives) {
    Json json{{"name", directive.name}};
    json["value"] = directive.value ? Json(*directive.value) : Json();
    json["origin"] = origin_json(directive.origin);
    list.push_back(json);
  }
  return list;
}

Json layout_json(const model::PlannedLayout& layout) {
  return {{"nodes", layout.nodes},
          {"spare_nodes", layout.spare_nodes},
          {"ranks_per_node", layout.ranks_per_node},
          {"world_size", layout.world_size()},
          {"tasks_per_node", layout.tasks_per_node},
          {"gpus_per_node", layout.gpus_per_node},
          {"gpus_per_rank", layout.gpus_per_rank},
          {"cpus_per_rank", layout.cpus_per_rank > 0 ? Json(layout.cpus_per_rank) : Json()},
          {"threads_per_core", layout.threads_per_core}};
}

Json binding_json(const model::PlannedBinding& binding) {
  Json json{{"binder", model::word_of(binding.binder)},
            {"why", binding.why},
            {"origin", origin_json(binding.origin)},
            {"ranks", Json::array()}};
  if (binding.idle_cores.value != model::IdleCorePolicy::none)
    json["idle_cores"] = sourced_json(binding.idle_cores);
  if (binding.order.value.kind != model::GpuOrderKind::gpu)
    json["rank_order"] = {{"value", binding.order.value.text()},
                          {"origin", origin_json(binding.order.origin)}};
  for (const auto& rank : binding.ranks) {
    Json entry{{"local_rank", rank.local_rank},
               {"gpus", rank.gpus},
               {"cpus", rank.cpus.to_list()},
               {"mask", rank.cpus.to_mask()}};
    if (!rank.nic.empty()) entry["nic"] = rank.nic;
    if (!rank.why.empty()) entry["why"] = rank.why;
    json["ranks"].push_back(entry);
  }
  return json;
}

Json environment_json(const model::Plan& plan) {
  Json list = Json::array();
  for (const auto& variable : plan.env)
    list.push_back({{"name", variable.name},
                    {"value", variable.value},
                    {"expression", variable.expression},
                    {"scope", model::word_of(variable.scope)},
                    {"origin", origin_json(variable.origin)}});
  return list;
}

Json software_json(const model::Plan& plan) {
  Json json{
      {"modules", Json::array()}, {"python", nullptr}, {"container", nullptr}, {"caches", Json::array()}};
  for (const auto& module : plan.modules)
    json["modules"].push_back(
        {{"name", module.name}, {"path", module.is_path}, {"origin", origin_json(module.origin)}});
  if (plan.python.kind != model::PythonEnvironmentKind::none)
    json["python"] = {{"kind", model::word_of(plan.python.kind)},
                      {"where", plan.python.where},
                      {"packages", plan.python.packages},
                      {"origin", origin_json(plan.python.origin)}};
  json["stage"] = nullptr;
  if (plan.stage) {
    json["stage"] = {{"directory", plan.stage->directory}, {"sources", Json::array()}};
    for (const auto& source : plan.stage->sources) json["stage"]["sources"].push_back(sourced_json(source));
  }
  for (const auto& cache : plan.caches)
    json["caches"].push_back({{"name", cache.name},
                              {"base", cache.base},
                              {"variables", cache.variables},
                              {"origin", origin_json(cache.origin)}});
  if (!plan.container) return json;
  const auto& container = *plan.container;
  Json binds = Json::array();
  for (const auto& bind : container.binds)
    binds.push_back({{"source", bind.source},
                     {"target", bind.inside()},
                     {"optional", bind.optional},
                     {"squashed", bind.squashed},
                     {"origin", origin_json(bind.origin)}});
  json["container"] = {{"engine", model::word_of(container.engine)},     {"image", container.image},
                       {"gpu_flag", model::word_of(container.gpu_flag)}, {"binds", binds},
                       {"step_options", container.step_options},         {"enter", container.enter},
                       {"origin", origin_json(container.origin)}};
  return json;
}

/// What --explain prints: each line with its reasons.
Json script_json(const model::Plan& plan) {
  Json list = Json::array();
  for (const auto& line : make_script(plan)) {
    Json entry{{"text", render_line(line)}, {"reasons", Json::array()}};
    for (const auto& reason : reasons_of(line))
      entry["reasons"].push_back({{"about", reason.about}, {"origin", origin_json(reason.origin)}});
    list.push_back(entry);
  }
  return list;
}

} // namespace

std::string render_json(const model::Plan& plan) {
  Json json{{"site", plan.site_id},
            {"profile", plan.site_hash},
            {"partition", plan.partition},
            {"node_type", plan.node_type}};
  json["command"] = plan.command;
  for (const auto& step : plan.steps)
    json["steps"].push_back({{"command", step.command}, {"once", step.once}});
  json["request"] = plan.request_line;
  json["directives"] = directives_json(plan);
  json["layout"] = layout_json(plan.layout);
  if (!plan.components.empty()) json["tasks"] = plan.tasks(); // of all components; the layout is the first's
  for (const auto& component : plan.components)
    json["components"].push_back({{"partition", component.partition},
                                  {"node_type", component.node_type},
                                  {"command", component.command},
                                  {"directives", directives_json(component)},
                                  {"layout", layout_json(component.layout)},
                                  {"binding", binding_json(component.binding)}});
  json["launcher"] = {{"kind", plan.launcher.choice.name()},
                      {"step", plan.launcher.step},
                      {"step_args", plan.launcher.step_args},
                      {"origin", origin_json(plan.launcher.origin)}};
  json["binding"] = binding_json(plan.binding);
  for (const auto& flag : model::k_rank_flags)
    if (const auto value = flag.write(plan.ranks))
      json[util::replace_all(std::string(flag.name), "-", "_")] = {
          {"value", *value}, {"origin", origin_json(*flag.origin(plan.ranks))}};
  if (const auto& saving = plan.saving)
    json["save_before"] = {{"seconds", saving->seconds},
                           {"signal", saving->signal.text()},
                           {"origin", origin_json(saving->requested_by)},
                           {"signal_origin", origin_json(saving->chosen)}};
  if (const auto& requeue = plan.requeue)
    json["requeue"] = {{"by_script", requeue->requeues},
                       {"most", requeue->most},
                       {"requeue_on", requeue->requeue_on.words()},
                       {"checkpoint_dir", requeue->checkpoint_dir},
                       {"origin", origin_json(requeue->origin)}};
  json["gpu_visibility"] = sourced_json(plan.gpu_visibility);
  json["environment"] = environment_json(plan);
  json.update(software_json(plan));
  json["rendezvous"] = {{"interface", plan.rendezvous.interface},
                        {"suffix", plan.rendezvous.suffix},
                        {"interfaces", plan.rendezvous.interfaces},
                        {"origin", origin_json(plan.rendezvous.origin)}};
  json["backend"] = sourced_json(plan.backend);
  json["hpcml_path"] = sourced_json(plan.hpcml_path);
  json["notes"] = Json::array();
  for (const auto& [note, origin] : plan.notes)
    json["notes"].push_back({{"text", note}, {"origin", origin_json(origin)}});
  json["interactive"] = make_interactive(plan).text;
  json["script"] = script_json(plan);
  // The user's text need not be UTF-8; JSON must be.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace hpcml::render
