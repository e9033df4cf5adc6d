// SPDX-License-Identifier: MIT
// The table of options, measured by running each version's own commands.
#include "slurm/options.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace hpcml::slurm {
namespace {

/// Per program: the letter if there is one, then "=" (a value is required), "?" (it may have one) or "." (it
/// has none); empty where the program has no such option.
struct Row {
  std::string_view name;
  std::string_view sbatch;
  std::string_view srun;
};

constexpr Row k_rows[] = {
    // clang-format off
    {"accel-bind", "", "="}, {"account", "A=", "A="}, {"acctg-freq", "=", "="}, {"array", "a=", ""},
    {"async", "", "."}, {"autocomplete", "=", "="}, {"batch", "=", ""}, {"bb", "=", "="}, {"bbf", "=", "="},
    {"bcast", "", "?"}, {"bcast-exclude", "", "="}, {"begin", "b=", "b="}, {"chdir", "D=", "D="},
    {"cluster-constraint", "=", "="}, {"clusters", "M=", "M="}, {"comment", "=", "="}, {"compress", "", "?"},
    {"consolidate-segments", ".", "."}, {"constraint", "C=", "C="}, {"container", "=", "="},
    {"container-id", "=", "="}, {"container-type", "=", "="}, {"context", "=", "="}, {"contiguous", ".", "."},
    {"core-spec", "S=", "S="}, {"cores-per-socket", "=", "="}, {"cpu-bind", "", "="}, {"cpu-freq", "=", "="},
    {"cpus-per-gpu", "=", "="}, {"cpus-per-task", "c=", "c="}, {"deadline", "=", "="},
    {"debugger-test", "", "."}, {"delay-boot", "=", "="}, {"dependency", "d=", "d="},
    {"disable-status", "", "X."}, {"distribution", "m=", "m="}, {"epilog", "", "="}, {"error", "e=", "e="},
    {"exact", "", "."}, {"exclude", "x=", "x="}, {"exclusive", "?", "?"}, {"export", "=", "="},
    {"export-file", "=", ""}, {"external", ".", ""}, {"external-launcher", "", "?"}, {"extra", "=", "="},
    {"extra-node-info", "B=", "B="}, {"get-user-env", "?", ""}, {"gid", "=", "="}, {"gpu-bind", "=", "="},
    {"gpu-freq", "=", "="}, {"gpus", "G=", "G="}, {"gpus-per-node", "=", "="}, {"gpus-per-socket", "=", "="},
    {"gpus-per-task", "=", "="}, {"gres", "=", "="}, {"gres-flags", "=", "="}, {"help", "h.", "h."},
    {"het-group", "", "="}, {"hint", "=", "="}, {"hold", "H.", "H."}, {"ignore-pbs", ".", ""},
    {"ignore-signals", "", "="}, {"immediate", "", "I?"}, {"input", "i=", "i="}, {"interactive", "", "."},
    {"job-name", "J=", "J="}, {"jobid", "", "="}, {"kill-on-bad-exit", "", "K?"},
    {"kill-on-invalid-dep", "=", ""}, {"label", "", "l."}, {"licenses", "L=", "L="}, {"mail-type", "=", "="},
    {"mail-user", "=", "="}, {"mcs-label", "=", "="}, {"mem", "=", "="}, {"mem-bind", "=", "="},
    {"mem-per-cpu", "=", "="}, {"mem-per-gpu", "=", "="}, {"mem-update", "=", "="}, {"mincpus", "=", "="},
    {"mpi", "", "="}, {"msg-timeout", "", "="}, {"multi-prog", "", "."}, {"network", "=", "="},
    {"nice", "?", "?"}, {"no-allocate", "", "Z."}, {"no-kill", "k?", "k?"}, {"no-requeue", ".", ""},
    {"nodefile", "F=", "F="}, {"nodelist", "w=", "w="}, {"nodes", "N=", "N="}, {"ntasks", "n=", "n="},
    {"ntasks-per-core", "=", "="}, {"ntasks-per-gpu", "=", "="}, {"ntasks-per-node", "=", "="},
    {"ntasks-per-socket", "=", "="}, {"ntasks-per-tres", "=", "="}, {"oom-kill-step", "?", "?"},
    {"open-mode", "=", "="}, {"output", "o=", "o="}, {"overcommit", "O.", "O."}, {"overlap", "", "?"},
    {"oversubscribe", "s.", "s."}, {"parsable", ".", "."}, {"partition", "p=", "p="}, {"power", "=", "="},
    {"prefer", "=", "="}, {"preserve-env", "", "E."}, {"priority", "=", "="}, {"profile", "=", "="},
    {"prolog", "", "="}, {"propagate", "?", "?"}, {"pty", "", "?"}, {"qos", "q=", "q="},
    {"quiet", "Q.", "Q."}, {"quit-on-interrupt", "", "."}, {"reboot", ".", "."}, {"relative", "", "r="},
    {"requeue", "?", ""}, {"reservation", "=", "="}, {"resources", "=", "="}, {"resv-ports", "?", "?"},
    {"segment", "=", "="}, {"send-libs", "", "?"}, {"signal", "=", "="}, {"slurmd-debug", "", "="},
    {"sockets-per-node", "=", "="}, {"spread-job", ".", "."}, {"spread-segments", ".", "."},
    {"stepmgr", ".", "."}, {"switches", "=", "="}, {"task-epilog", "", "="}, {"task-prolog", "", "="},
    {"test-only", ".", "."}, {"thread-spec", "=", "="}, {"threads", "", "T="}, {"threads-per-core", "=", "="},
    {"time", "t=", "t="}, {"time-min", "=", "="}, {"tmp", "=", "="}, {"treewidth", "", "="},
    {"tres-bind", "=", "="}, {"tres-per-task", "=", "="}, {"uid", "=", "="}, {"unbuffered", "", "u."},
    {"usage", ".", "."}, {"use-min-nodes", ".", "."}, {"verbose", "v.", "v."}, {"version", "V.", "V."},
    {"wait", "W.", "W="}, {"wait-all-nodes", "=", ""}, {"wait-for-children", "", "."}, {"wckey", "=", "="},
    {"whole", "", "."}, {"wrap", "=", ""}, {"x11", "", "?"},
    // clang-format on
};

/// Older spellings that are still taken.
constexpr std::pair<std::string_view, std::string_view> k_other_names[] = {
    {"tasks-per-node", "ntasks-per-node"},
    {"cluster", "clusters"},
    {"cpu_bind", "cpu-bind"},
    {"pack-group", "het-group"}};

std::string_view use(const Row& row, Program program) {
  return program == Program::sbatch ? row.sbatch : row.srun;
}

Option to_option(const Row& row, Program program) {
  const char mark = use(row, program).back();
  return {std::string(row.name), mark == '='   ? Argument::required
                                 : mark == '?' ? Argument::optional
                                               : Argument::none};
}

} // namespace

OptionMatch find_option(Program program, std::string_view name) {
  if (name.empty()) return {};
  std::vector<const Row*> matches;
  const auto add = [&](const Row& row) {
    if (!use(row, program).empty() && std::find(matches.begin(), matches.end(), &row) == matches.end())
      matches.push_back(&row);
  };
  const auto named = [](std::string_view full) {
    return std::find_if(std::begin(k_rows), std::end(k_rows),
                        [&](const Row& row) { return row.name == full; });
  };
  for (const auto& [other, full] : k_other_names) {
    if (name == other && !use(*named(full), program).empty()) return {to_option(*named(full), program), {}};
    if (util::starts_with(other, name)) add(*named(full));
  }
  for (const auto& row : k_rows) {
    if (row.name == name && !use(row, program).empty()) return {to_option(row, program), {}};
    if (util::starts_with(row.name, name)) add(row);
  }
  if (matches.size() == 1) return {to_option(*matches.front(), program), {}};
  OptionMatch result;
  for (const auto* row : matches) result.candidates.emplace_back(row->name);
  return result;
}

std::optional<Option> find_option(Program program, char letter) {
  for (const auto& row : k_rows)
    if (const auto taken = use(row, program); taken.size() == 2 && taken.front() == letter)
      return to_option(row, program);
  return std::nullopt;
}

std::vector<std::string> option_names(Program program) {
  std::vector<std::string> names;
  for (const auto& row : k_rows)
    if (!use(row, program).empty()) names.emplace_back(row.name);
  return names;
}

} // namespace hpcml::slurm
