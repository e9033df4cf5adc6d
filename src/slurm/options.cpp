// SPDX-License-Identifier: MIT
// The table of options, measured by running each version's own commands.
#include "slurm/options.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace hpcml::slurm {
namespace {

/// Per program: the letter if there is one, then "=" (a value is required), "?" (it may have one) or "." (it
/// has none), each with the versions for which that holds ("?[25.11-]") where those are not all; empty where
/// the program has no such option. Then the variable that sbatch reads, with its versions if not all, and whether
/// a component of a heterogeneous job starts without the option.
struct Row {
  std::string_view name;
  std::string_view sbatch;
  std::string_view srun;
  std::string_view salloc;
  std::string_view variable;
  bool per_component = false;
};

constexpr Row k_rows[] = {
    // clang-format off
    {"accel-bind", "", "=", "", ""},
    {"account", "A=", "A=", "A=", "SBATCH_ACCOUNT"},
    {"acctg-freq", "=", "=", "=", "SBATCH_ACCTG_FREQ"},
    {"array", "a=", "", "", "SBATCH_ARRAY_INX"},
    {"async", "", ".[26.05-]", "", ""},
    {"autocomplete", "=[23.02-]", "=[23.02-]", "=[23.02-]", ""},
    {"batch", "=", "", "", "SBATCH_BATCH", true},
    {"bb", "=", "=", "=", "", true},
    {"bbf", "=", "=", "=", "", true},
    {"bcast", "", "?", "", ""},
    {"bcast-exclude", "", "=[21.08-]", "", ""},
    {"begin", "b=", "b=", "b=", ""},
    {"bell", "", "", ".", ""},
    {"chdir", "D=", "D=", "D=", ""},
    {"cluster-constraint", "=", "=", "=", "SBATCH_CLUSTER_CONSTRAINT", true},
    {"clusters", "M=", "M=", "M=", "SBATCH_CLUSTERS"},
    {"comment", "=", "=", "=", ""},
    {"compress", "", "?", "", ""},
    {"consolidate-segments", ".[25.11-]", ".[25.11-]", ".[25.11-]", ""},
    {"constraint", "C=", "C=", "C=", "SBATCH_CONSTRAINT", true},
    {"container", "=[21.08-]", "=[21.08-]", "=[21.08-]", "SBATCH_CONTAINER", true},
    {"container-id", "=[23.02-]", "=[23.02-]", "=[23.02-]", "SBATCH_CONTAINER_ID"},
    {"container-type", "=[26.05-]", "=[26.05-]", "=[26.05-]", ""},
    {"context", "=[21.08-]", "=[21.08-]", "=[21.08-]", ""},
    {"contiguous", ".", ".", ".", "", true},
    {"core-spec", "S=", "S=", "S=", "SBATCH_CORE_SPEC", true},
    {"cores-per-socket", "=", "=", "=", "", true},
    {"cpu-bind", "", "=", "", ""},
    {"cpu-freq", "=", "=", "=", "SBATCH_CPU_FREQ_REQ"},
    {"cpus-per-gpu", "=", "=", "=", "SBATCH_CPUS_PER_GPU", true},
    {"cpus-per-task", "c=", "c=", "c=", "", true},
    {"deadline", "=", "=", "=", ""},
    {"debugger-test", "", ".", "", ""},
    {"delay-boot", "=", "=", "=", "SBATCH_DELAY_BOOT"},
    {"dependency", "d=", "d=", "d=", ""},
    {"disable-status", "", "X.", "", ""},
    {"distribution", "m=", "m=", "m=", "SBATCH_DISTRIBUTION", true},
    {"epilog", "", "=", "", ""},
    {"error", "e=", "e=", "", "SBATCH_ERROR[22.05-]"},
    {"exact", "", ".", "", ""},
    {"exclude", "x=", "x=", "x=", ""},
    {"exclusive", "?", "?", "?", "SBATCH_EXCLUSIVE", true},
    {"export", "=", "=", "", "SBATCH_EXPORT"},
    {"export-file", "=[-23.02,24.05-]", "", "", ""},
    {"external", ".[25.05-]", "", "", ""},
    {"external-launcher", "", ".[23.11-23.11]?[24.05-]", "", ""},
    {"extra", "=[23.02-]", "=[23.02-]", "=[23.02-]", ""},
    {"extra-node-info", "B=", "B=", "B=", "", true},
    {"get-user-env", "?[-24.11].[25.05-]", "", "?[-24.05]", "SBATCH_GET_USER_ENV"},
    {"gid", "=", "=[-22.05]", "=[-22.05]", ""},
    {"gpu-bind", "=", "=", "=", "SBATCH_GPU_BIND", true},
    {"gpu-freq", "=", "=", "=", "SBATCH_GPU_FREQ", true},
    {"gpus", "G=", "G=", "G=", "SBATCH_GPUS", true},
    {"gpus-per-node", "=", "=", "=", "SBATCH_GPUS_PER_NODE", true},
    {"gpus-per-socket", "=", "=", "=", "SBATCH_GPUS_PER_SOCKET", true},
    {"gpus-per-task", "=", "=", "=", "SBATCH_GPUS_PER_TASK", true},
    {"gres", "=", "=", "=", "SBATCH_GRES", true},
    {"gres-flags", "=", "=", "=", "SBATCH_GRES_FLAGS", true},
    {"help", "h.", "h.", "h.", ""},
    {"het-group", "", "=", "", ""},
    {"hint", "=", "=", "=", "SBATCH_HINT"},
    {"hold", "H.", "H.", "H.", ""},
    {"ignore-pbs", ".", "", "", "SBATCH_IGNORE_PBS"},
    {"ignore-signals", "", "=[26.05-]", "", ""},
    {"immediate", "", "I?", "I?", ""},
    {"input", "i=", "i=", "", "SBATCH_INPUT[22.05-]"},
    {"interactive", "", ".", "", ""},
    {"job-name", "J=", "J=", "J=", "SBATCH_JOB_NAME"},
    {"jobid", "", "=", "", ""},
    {"kill-command", "", "", "K?", ""},
    {"kill-on-bad-exit", "", "K?", "", ""},
    {"kill-on-invalid-dep", "=", "", "", ""},
    {"label", "", "l.", "", ""},
    {"licenses", "L=", "L=", "L=", "", true},
    {"mail-type", "=", "=", "=", ""},
    {"mail-user", "=", "=", "=", ""},
    {"mcs-label", "=", "=", "=", ""},
    {"mem", "=", "=", "=", "SBATCH_MEM_PER_NODE"},
    {"mem-bind", "=", "=", "=", "SBATCH_MEM_BIND"},
    {"mem-per-cpu", "=", "=", "=", "SBATCH_MEM_PER_CPU"},
    {"mem-per-gpu", "=", "=", "=", "SBATCH_MEM_PER_GPU", true},
    {"mem-update", "=[26.05-]", "=[26.05-]", "=[26.05-]", ""},
    {"mincpus", "=", "=", "=", "", true},
    {"mpi", "", "=", "", ""},
    {"msg-timeout", "", "=", "", ""},
    {"multi-prog", "", ".", "", ""},
    {"network", "=", "=", "=", "SBATCH_NETWORK"},
    {"nice", "?", "?", "?", ""},
    {"no-allocate", "", "Z.", "", ""},
    {"no-bell", "", "", ".", ""},
    {"no-kill", "k?", "k?", "k?", "SBATCH_NO_KILL"},
    {"no-requeue", ".", "", "", "SBATCH_NO_REQUEUE"},
    {"no-shell", "", "", ".", ""},
    {"nodefile", "F=", "F=", "F=", "", true},
    {"nodelist", "w=", "w=", "w=", "", true},
    {"nodes", "N=", "N=", "N=", "", true},
    {"ntasks", "n=", "n=", "n=", "", true},
    {"ntasks-per-core", "=", "=", "=", "", true},
    {"ntasks-per-gpu", "=", "=", "=", "", true},
    {"ntasks-per-node", "=", "=", "=", "", true},
    {"ntasks-per-socket", "=", "=", "=", "", true},
    {"ntasks-per-tres", "=", "=", "=", "", true},
    {"oom-kill-step", "?[24.11-]", "?[24.11-]", "?[24.11-]", ""},
    {"open-mode", "=", "=", "", "SBATCH_OPEN_MODE"},
    {"output", "o=", "o=", "", "SBATCH_OUTPUT[22.05-]"},
    {"overcommit", "O.", "O.", "O.", "SBATCH_OVERCOMMIT", true},
    {"overlap", "", ".[-21.08]?[22.05-]", "", ""},
    {"oversubscribe", "s.", "s.", "s.", "", true},
    {"parsable", ".", ".[26.05-]", "", ""},
    {"partition", "p=", "p=", "p=", "SBATCH_PARTITION"},
    {"power", "=[-23.11]", "=[-23.11]", "=[-23.11]", "SBATCH_POWER", true},
    {"prefer", "=[22.05-]", "=[22.05-]", "=[22.05-]", "", true},
    {"preserve-env", "", "E.", "", ""},
    {"priority", "=", "=", "=", ""},
    {"profile", "=", "=", "=", "SBATCH_PROFILE"},
    {"prolog", "", "=", "", ""},
    {"propagate", "?", "?", "", ""},
    {"pty", "", ".[-22.05]?[23.02-]", "", ""},
    {"qos", "q=", "q=", "q=", "SBATCH_QOS"},
    {"quiet", "Q.", "Q.", "Q.", ""},
    {"quit-on-interrupt", "", ".", "", ""},
    {"reboot", ".", ".", ".", ""},
    {"relative", "", "r=", "", ""},
    {"requeue", ".[-25.05]?[25.11-]", "", "", "SBATCH_REQUEUE"},
    {"reservation", "=", "=", "=", "SBATCH_RESERVATION"},
    {"resources", "=[25.11-]", "=[25.11-]", "=[25.11-]", ""},
    {"resv-ports", "?[24.05-]", "?", "?[24.05-]", "", true},
    {"segment", "=[24.05-]", "=[24.05-]", "=[24.05-]", "", true},
    {"send-libs", "", "?[21.08-]", "", ""},
    {"signal", "=", "=", "=", "SBATCH_SIGNAL"},
    {"slurmd-debug", "", "=", "", ""},
    {"sockets-per-node", "=", "=", "=", "", true},
    {"spread-job", ".", ".", ".", "SBATCH_SPREAD_JOB", true},
    {"spread-segments", ".[25.11-]", ".[25.11-]", ".[25.11-]", ""},
    {"stepmgr", ".[24.05-]", ".[24.05-]", ".[24.05-]", ""},
    {"switches", "=", "=", "=", "SBATCH_REQ_SWITCH", true},
    {"task-epilog", "", "=", "", ""},
    {"task-prolog", "", "=", "", ""},
    {"test-only", ".", ".", "", ""},
    {"thread-spec", "=", "=", "=", "SBATCH_THREAD_SPEC", true},
    {"threads", "", "T=", "", ""},
    {"threads-per-core", "=", "=", "=", "SBATCH_THREADS_PER_CORE[21.08-]", true},
    {"time", "t=", "t=", "t=", "SBATCH_TIMELIMIT"},
    {"time-min", "=", "=", "=", ""},
    {"tmp", "=", "=", "=", "", true},
    {"treewidth", "", "=[23.11-]", "", ""},
    {"tres-bind", "=[23.11-]", "=[23.11-]", "=[23.11-]", "SBATCH_TRES_BIND", true},
    {"tres-per-task", "=[23.02-]", "=[23.02-]", "=[23.02-]", "SBATCH_TRES_PER_TASK", true},
    {"uid", "=", "=[-22.05]", "=[-22.05]", ""},
    {"unbuffered", "", "u.", "", ""},
    {"usage", ".", ".", ".", ""},
    {"use-min-nodes", ".", ".", ".", "SBATCH_USE_MIN_NODES", true},
    {"verbose", "v.", "v.", "v.", "SBATCH_DEBUG"},
    {"version", "V.", "V.", "V.", ""},
    {"wait", "W.", "W=", "", "SBATCH_WAIT"},
    {"wait-all-nodes", "=", "", "=", "SBATCH_WAIT_ALL_NODES"},
    {"wait-for-children", "", ".[25.05-]", "", ""},
    {"wckey", "=", "=", "=", "SBATCH_WCKEY"},
    {"whole", "", ".", "", ""},
    {"wrap", "=", "", "", ""},
    {"x11", "", "?", "?", ""},
    // clang-format on
};

/// Older spellings that are still taken.
constexpr std::pair<std::string_view, std::string_view> k_other_names[] = {
    {"tasks-per-node", "ntasks-per-node"},
    {"cluster", "clusters"},
    {"cpu_bind", "cpu-bind"},
    {"pack-group", "het-group"}};

std::string_view use(const Row& row, Program program) {
  return program == Program::sbatch ? row.sbatch : program == Program::srun ? row.srun : row.salloc;
}

bool is_mark(char c) { return c == '=' || c == '?' || c == '.'; }

char letter_of(std::string_view use) { return use.empty() || is_mark(use.front()) ? '\0' : use.front(); }

struct Kind {
  char mark = '\0';
  std::string_view range;
};

std::vector<Kind> kinds_of(std::string_view use) {
  if (letter_of(use) != '\0') use.remove_prefix(1);
  std::vector<Kind> kinds;
  while (!use.empty()) {
    Kind kind{use.front(), {}};
    use.remove_prefix(1);
    if (!use.empty() && use.front() == '[') {
      kind.range = use.substr(1, use.find(']') - 1);
      use.remove_prefix(kind.range.size() + 2);
    }
    kinds.push_back(kind);
  }
  return kinds;
}

/// How the program takes the option in this version, in its newest form without one.
std::optional<Argument> argument_of(const Row& row, Program program, std::optional<Version> version) {
  std::optional<Argument> argument;
  for (const auto& kind : kinds_of(use(row, program)))
    if (!version || is_in_range(kind.range, *version))
      argument = kind.mark == '=' ? Argument::required : kind.mark == '?' ? Argument::optional : Argument::none;
  return argument;
}

const Row* row_named(std::string_view name) {
  const auto* row = std::find_if(std::begin(k_rows), std::end(k_rows), [&](const Row& r) { return r.name == name; });
  return row == std::end(k_rows) ? nullptr : row;
}

} // namespace

OptionMatch find_option(Program program, std::string_view name, std::optional<Version> version) {
  if (name.empty()) return {};
  std::vector<const Row*> matches;
  const auto exists = [&](const Row& row) { return argument_of(row, program, version).has_value(); };
  const auto to_match = [&](const Row& row) {
    return OptionMatch{Option{std::string(row.name), *argument_of(row, program, version)}, {}};
  };
  const auto add = [&](const Row& row) {
    if (exists(row) && std::find(matches.begin(), matches.end(), &row) == matches.end()) matches.push_back(&row);
  };
  for (const auto& [other, full] : k_other_names) {
    if (name == other && exists(*row_named(full))) return to_match(*row_named(full));
    if (util::starts_with(other, name)) add(*row_named(full));
  }
  for (const auto& row : k_rows) {
    if (row.name == name && exists(row)) return to_match(row);
    if (util::starts_with(row.name, name)) add(row);
  }
  if (matches.size() == 1) return to_match(*matches.front());
  OptionMatch result;
  for (const auto* row : matches) result.candidates.emplace_back(row->name);
  return result;
}

std::optional<Option> find_option(Program program, char letter, std::optional<Version> version) {
  for (const auto& row : k_rows)
    if (letter != '\0' && letter_of(use(row, program)) == letter)
      if (const auto argument = argument_of(row, program, version))
        return Option{std::string(row.name), *argument};
  return std::nullopt;
}

std::vector<std::string> option_names(Program program, std::optional<Version> version) {
  std::vector<std::string> names;
  for (const auto& row : k_rows)
    if (argument_of(row, program, version)) names.emplace_back(row.name);
  return names;
}

std::string_view versions_of(Program program, std::string_view name) {
  const auto* row = row_named(name);
  if (!row) return {};
  const auto kinds = kinds_of(use(*row, program));
  return kinds.size() == 1 ? kinds.front().range : std::string_view();
}

bool is_option(Program program, std::string_view name) {
  const auto* row = row_named(name);
  return row && !use(*row, program).empty();
}

std::vector<OptionVariable> option_variables(Version version) {
  std::vector<OptionVariable> variables;
  for (const auto& row : k_rows) {
    const auto name = row.variable.substr(0, row.variable.find('['));
    const auto range = name.size() == row.variable.size()
                           ? std::string_view()
                           : row.variable.substr(name.size() + 1, row.variable.size() - name.size() - 2);
    if (!name.empty() && is_in_range(range, version)) variables.push_back({name, row.name});
  }
  variables.push_back({"SLURM_HINT", "hint"}); // the only one that sbatch reads of srun's
  return variables;
}

bool is_per_component(std::string_view name) {
  const auto* row = row_named(name);
  return row && row->per_component;
}

} // namespace hpcml::slurm
