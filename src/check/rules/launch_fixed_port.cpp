// SPDX-License-Identifier: MIT
// Ports written as numbers.
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <unordered_map>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/port_owner.hpp"
#include "check/rendezvous_argument.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_fixed_port {

/// A port that differs between the jobs of a node.
constexpr std::string_view k_job_port = "$((15000 + SLURM_JOB_ID % 17000))";

/// Below 1024 only root may listen.
bool is_port(std::string_view text) {
  return text.size() > 3 && text.size() < 6 && text >= (text.size() == 4 ? "1024" : "10000") &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

/// Where each number of the script that may be a port is, found once.
class Numbers {
public:
  explicit Numbers(std::string_view text) : x_text(text) {}
  const std::vector<std::size_t>& places_of(std::string_view number) {
    static const std::vector<std::size_t> k_nowhere;
    if (!x_read) read();
    const auto found = x_places.find(number); // no entry for a text that may be gone before the next question
    return found == x_places.end() ? k_nowhere : found->second;
  }

private:
  void read() {
    x_read = true;
    const auto is_digit = [&](std::size_t i) {
      return i < x_text.size() && std::isdigit(static_cast<unsigned char>(x_text[i])) != 0;
    };
    for (std::size_t at = 0; at < x_text.size(); ++at) {
      const auto begin = at;
      while (is_digit(at)) ++at;
      if (at - begin > 3 && at - begin < 6) x_places[x_text.substr(begin, at - begin)].push_back(begin);
    }
  }

  std::string_view x_text;
  bool x_read = false;
  std::unordered_map<std::string_view, std::vector<std::size_t>> x_places;
};

/// Of nodes that no site describes: those of most clusters have no more.
constexpr long k_usual_gpus_per_node = 8;

bool takes_all_gpus(const LintContext& subject, const model::NodeType& node) {
  const bool whole = node.gpu && node.gpu->per_node > 0 && !subject.fits[0].slice;
  return whole && subject.demands[0].gpus_on_node >= node.gpu->per_node;
}

bool takes_all_cpus(const LintContext& subject, const model::NodeType& node) {
  const auto& demand = subject.demands[0];
  const long threads = demand.threads_per_core == 1 ? 1 : static_cast<long>(node.cpu.threads_per_core);
  return node.cpu.cores > 0 && demand.cpus_per_node >= static_cast<long>(node.cpu.cores) * threads;
}

/// Whether the job takes all GPUs or all CPUs of each node that it may get, so that no other job with ranks
/// finds room; where the site chooses the nodes, both of one kind, which then is the kind that it gets.
bool fills_nodes(const LintContext& subject) {
  if (!subject.site) return shape_of_job(subject).gpus_per_node.value_or(0) >= k_usual_gpus_per_node;
  if (subject.demands.size() != 1 || subject.fits.size() != 1) return false;
  const auto& nodes = subject.fits[0].nodes;
  if (!nodes.empty())
    return std::all_of(nodes.begin(), nodes.end(), [&](const model::NodeType* node) {
      return takes_all_gpus(subject, *node) || takes_all_cpus(subject, *node);
    });
  if (!subject.demands[0].partitions.empty()) return false;
  const auto& kinds = subject.site->node_types;
  return std::any_of(kinds.begin(), kinds.end(), [&](const model::NodeType& node) {
    return takes_all_gpus(subject, node) && takes_all_cpus(subject, node);
  });
}

/// Whether other jobs can run on the same nodes; nothing where that is not known. Who takes all memory of
/// them leaves none for others.
std::optional<bool> is_shared(const LintContext& subject) {
  if (subject.requests.size() != 1) return std::nullopt;
  if (subject.requests[0].sharing == slurm::NodeSharing::exclusive || subject.requests[0].text("mem") == "0")
    return false;
  if (fills_nodes(subject)) return false;
  if (subject.header.directives.empty() || subject.fits.size() != 1 || subject.fits[0].partitions.size() != 1)
    return std::nullopt;
  return !subject.fits[0].partitions[0]->exclusive && !subject.fits[0].facts.whole_nodes;
}

/// The number is once only: what replaces it cannot disagree with another place.
std::vector<Edit> from_job_id(const LintContext& subject, Numbers& numbers, diag::TextRange place,
                              const std::string& port) {
  if (subject.requests.size() != 1 || numbers.places_of(port).size() != 1) return {};
  const auto line = line_at(subject.text, place.offset);
  const auto before = subject.text.substr(line.offset, place.offset - line.offset);
  // In single quotes it would stay unchanged.
  if (std::count(before.begin(), before.end(), '\'') % 2 != 0) return {};
  return replace_end(subject, place, port, std::string(k_job_port));
}

/// Whether the number there is a port's by the words before it: "PORT=6000", "--rdzv_endpoint $H:6000". A
/// default, "${PORT:-6000}", is none that the script gives.
bool is_given_as_port(std::string_view text, std::size_t at, std::size_t length) {
  const auto is_part = [&](std::size_t i) {
    return i < text.size() && ((std::isalnum(static_cast<unsigned char>(text[i])) != 0) || text[i] == '.');
  };
  if (at == 0 || is_part(at - 1) || is_part(at + length) || text[at - 1] == '-') return false;
  const auto line = line_at(text, at);
  const auto before = util::to_lower(text.substr(line.offset, at - line.offset));
  if (before.find('#') != std::string::npos) return false;
  const auto endpoint = before.rfind("endpoint");
  auto name = before.rfind("port");
  // "export" and "report" name none.
  if (name != std::string::npos && name > 0 &&
      std::isalpha(static_cast<unsigned char>(before[name - 1])) != 0 &&
      !std::string_view(before).substr(0, name).ends_with("master"))
    name = std::string::npos;
  if (name == std::string::npos && endpoint == std::string::npos) return false;
  const auto word = endpoint == std::string::npos || (name != std::string::npos && name > endpoint)
                        ? name + 4
                        : endpoint + 8;
  // Between the option and the number is its value's beginning only, no other option.
  const auto between = util::trim(std::string_view(before).substr(word));
  return between.find(" -") == std::string_view::npos && between.find(';') == std::string_view::npos &&
         (between.find(' ') == std::string_view::npos || between.find(':') != std::string_view::npos);
}

/// Where the script gives the number: here, or in the assignment that it comes from; nothing where it is a
/// default that others override.
std::optional<diag::TextRange> written_at(const LintContext& subject, Numbers& numbers,
                                          const std::string& port, diag::TextRange place) {
  const auto text = subject.text;
  if (place.offset + place.length <= text.size()) {
    auto written = text.substr(place.offset, place.length);
    while (!written.empty() && (written.back() == '"' || written.back() == '\'')) written.remove_suffix(1);
    if (written.ends_with(port))
      return written.size() == place.length
                 ? place
                 : diag::TextRange{place.offset + written.size() - port.size(), port.size()};
  }
  for (const auto at : numbers.places_of(port))
    if (is_given_as_port(text, at, port.size())) return diag::TextRange{at, port.size()};
  return std::nullopt;
}

/// `foreign`: the port may be that of a host that is not the job's.
void add(const LintContext& subject, Numbers& numbers, const std::string& port, diag::TextRange seen_at,
         bool foreign, RuleMatches& hits) {
  if (!is_port(port) || port == "0") return;
  const auto written = written_at(subject, numbers, port, seen_at);
  if (!written) return;
  const auto place = *written;
  if (subject.site && subject.site->network.master.port &&
      std::to_string(*subject.site->network.master.port) == port)
    return;
  const auto shared = is_shared(subject);
  add_match(hits, {place,
                   fmt::format("port {} is the same for every job{}", port,
                               shared.value_or(false)
                                   ? ", and jobs share nodes here, so the second one on a node cannot start"
                                   : ", so two of them on one node collide"),
                   fmt::format("set it from the job id: MASTER_PORT={}", k_job_port),
                   foreign || is_used_elsewhere(subject, place) ? std::vector<Edit>()
                                                                : from_job_id(subject, numbers, place, port),
                   shared.value_or(false) ? std::nullopt : std::optional(diag::Severity::note)});
}

/// The word with the port of a head node of Ray, and the port; nothing if the launch starts none, or if the
/// port is not given.
std::optional<std::pair<diag::TextRange, std::string>> find_ray_port(const Launch& launch) {
  const auto& link = launch.last();
  const auto& words = link.operands;
  if (link.program != "ray" || words.empty() || words[0].text() != "start" || !has_word(words, "--head"))
    return std::nullopt;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto text = words[i].text();
    if (text.starts_with("--port=")) return std::pair(words[i].place, text.substr(7));
    if (text == "--port" && i + 1 < words.size()) return std::pair(words[i + 1].place, words[i + 1].text());
  }
  return std::nullopt;
}

void add_ray_port(const LintContext& subject, Numbers& numbers, const Launch& launch, RuleMatches& hits) {
  const auto ray = find_ray_port(launch);
  if (!ray) return;
  const auto count = hits.size();
  add(subject, numbers, ray->second, ray->first, false, hits);
  if (hits.size() > count)
    hits.back().hint = fmt::format("set it from the job id: ray start --head --port={}", k_job_port);
}

/// True if the launch's program does not read MASTER_PORT: a launcher that sets it for its ranks from an
/// option, or to 29500.
bool overrides_port(const Launch& launch) {
  static constexpr std::array<std::string_view, 3> k_launchers = {"accelerate", "deepspeed", "torchrun"};
  const auto* agent = launch.agent();
  return agent && util::contains(k_launchers, std::string_view(agent->program)) && agent->complete &&
         !agent->find("launcher"); // srun or MPI starts the ranks then
}

/// True if the value is unknown, or all programs that see it set the variable again.
bool is_unusable(const LintContext& subject, const EffectiveEnvVariable& seen) {
  if (!seen.value->known()) return true;
  const auto ignores = [&](const Launch& launch) {
    const auto* value = launch.variable(seen.name);
    return !value || value->place.offset != seen.value->place.offset || is_utility(launch) ||
           overrides_port(launch);
  };
  // The launch that shows the variable decides nearly always, and is asked before all others.
  return ignores(*seen.launch) && std::all_of(subject.launches.begin(), subject.launches.end(), ignores);
}

/// True if the agent listens on its default port: the script sets none, and the agent does not choose a free
/// one.
bool has_default_port(const Launch& launch) {
  const auto* agent = launch.agent();
  if (!agent || !agent->complete || is_standalone(launch, *agent) ||
      (agent->program != "torchrun" && agent->program != "deepspeed"))
    return false;
  using enum model::OptionMeaning;
  return !agent->find_any({port, endpoint, backend, rendezvous, settings, hosts}) &&
         !launch.variable(*agent, port) && !launch.variable(*agent, endpoint);
}

/// Reports a launcher on one node that gets no port.
void add_default_port(const LintContext& subject, const Launch& launch, RuleMatches& hits) {
  if (!has_default_port(launch) || subject.requests.size() != 1 ||
      (subject.header.directives.empty() && !launch.command->parent) || launch.command->context.loop ||
      shape_of(subject, launch).several_nodes)
    return;
  const auto* agent = launch.agent();
  const bool ignored = agent->program == "deepspeed" && launch.variable("MASTER_PORT");
  add_match(hits, {agent->place,
                   fmt::format("port 29500, the default of {}, is the same for every job, so two of them on "
                               "one node collide{}",
                               agent->module.empty() ? agent->program : agent->module,
                               ignored ? "; it does not read MASTER_PORT" : ""),
                   agent->program == "torchrun" ? std::string("add --standalone, which uses a free port")
                                                : fmt::format("add --master_port={}", k_job_port),
                   {},
                   diag::Severity::note});
}

/// Reports ports among the arguments of a program that several tasks or processes run.
void add_program_ports(const LintContext& subject, Numbers& numbers, const Launch& launch,
                       RuleMatches& hits) {
  const auto* python = launch.python();
  if (!python || launch.agent()) return;
  for (const auto& argument : rendezvous_arguments(*python)) {
    // Digits of a host that is not one of the job's are those of a service elsewhere.
    const auto host = shell::known_argument(argument.host, argument.place);
    add(subject, numbers, argument.port, argument.place, names_foreign_host(subject, host, false), hits);
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (!is_shared(subject).value_or(true)) return hits; // no other process listens on these nodes
  Numbers numbers(subject.text);
  for (const auto& seen : seen_variables(subject, {"MASTER_PORT", "JAX_COORDINATOR_PORT"})) {
    if (is_unusable(subject, seen)) continue;
    const auto* address = seen.launch->variable("MASTER_ADDR");
    const bool foreign = address && names_foreign_host(subject, *address, false);
    add(subject, numbers, seen.value->text(), seen.value->place, foreign, hits);
  }
  for (const auto& launch : subject.launches) {
    add_ray_port(subject, numbers, launch, hits);
    add_program_ports(subject, numbers, launch, hits);
    add_default_port(subject, launch, hits);
    const auto* agent = launch.agent();
    if (!agent || agent->find(model::OptionMeaning::alone) || has_rendezvous_service(launch, *agent))
      continue;
    const auto* option = agent->find_any({model::OptionMeaning::port, model::OptionMeaning::endpoint});
    if (!option || !option->value || option->value->pieces.empty() || !option->value->pieces.back().known)
      continue;
    std::string text; // what is known after the last thing that is not
    for (auto at = option->value->pieces.size(); at-- > 0 && option->value->pieces[at].known;)
      text.insert(0, option->value->pieces[at].text);
    const auto colon = text.rfind(':');
    const bool is_endpoint = option == agent->find(model::OptionMeaning::endpoint);
    if (colon == std::string::npos && is_endpoint) continue; // a host alone
    const auto* address = agent->find(model::OptionMeaning::address);
    const bool foreign =
        has_unknown_backend(launch, *agent) ||
        (is_endpoint ? names_foreign_host(subject, *option->value, true)
                     : address && address->value && names_foreign_host(subject, *address->value, false));
    add(subject, numbers, text.substr(colon + 1), option->place, foreign, hits);
  }
  return hits;
}

} // namespace launch_fixed_port

Rule rule_launch_fixed_port() {
  using namespace launch_fixed_port;
  return {
      .id = "launch/fixed-port",
      .severity = diag::Severity::warning,
      .title = "Fixed port number",
      .why =
          "The first rank listens on the port. Two jobs on a node with the same number: the second ends with "
          "\"Address already in use\", or, worse, its ranks join the first one's training. Ports that follow "
          "from the job's id do not collide. The head node of Ray listens on its port in the same way.",
      .link = "https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization",
      .bad = {R"(#!/bin/bash
#SBATCH --ntasks=4
export MASTER_PORT=29500
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks=4
export MASTER_PORT=$((15000 + SLURM_JOB_ID % 17000))
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
