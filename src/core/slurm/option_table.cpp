// SPDX-License-Identifier: MIT
// The table of options, measured by running each version's own commands.
#include "core/slurm/option_table.hpp"

#include <algorithm>
#include <iterator>

namespace hpcml::slurm {
namespace {

using Kind = ValueKind;

constexpr OptionRow k_rows[] = {
    // clang-format off
    {"accel-bind", Kind::text, "", "=", "", ""},
    {"account", Kind::text, "A=", "A=", "A=", "SBATCH_ACCOUNT"},
    {"acctg-freq", Kind::acctg_freq, "=", "=", "=", "SBATCH_ACCTG_FREQ"},
    {"array", Kind::array, "a=", "", "", "SBATCH_ARRAY_INX"},
    {"async", Kind::text, "", ".[26.05-]", "", ""},
    {"autocomplete", Kind::text, "=[23.02-]", "=[23.02-]", "=[23.02-]", ""},
    {"batch", Kind::text, "=", "", "", "SBATCH_BATCH"},
    {"bb", Kind::text, "=", "=", "=", "SBATCH_BURST_BUFFER", true},
    {"bbf", Kind::text, "=", "=", "=", ""},
    {"bcast", Kind::text, "", "?", "", ""},
    {"bcast-exclude", Kind::text, "", "=[21.08-]", "", ""},
    {"begin", Kind::moment, "b=", "b=", "b=", ""},
    {"bell", Kind::text, "", "", ".", ""},
    {"chdir", Kind::text, "D=", "D=", "D=", ""},
    {"cluster-constraint", Kind::text, "=", "=", "=", "SBATCH_CLUSTER_CONSTRAINT"},
    {"clusters", Kind::text, "M=", "M=", "M=", "SBATCH_CLUSTERS"},
    {"comment", Kind::text, "=", "=", "=", ""},
    {"compress", Kind::text, "", "?", "", ""},
    {"consolidate-segments", Kind::text, ".[25.11-]", ".[25.11-]", ".[25.11-]",
     "SBATCH_CONSOLIDATE_SEGMENTS[25.11-]", true},
    {"constraint", Kind::features, "C=", "C=", "C=", "SBATCH_CONSTRAINT", true},
    {"container", Kind::text, "=[21.08-]", "=[21.08-]", "=[21.08-]", "SBATCH_CONTAINER[21.08-]"},
    {"container-id", Kind::text, "=[23.02-]", "=[23.02-]", "=[23.02-]", "SBATCH_CONTAINER_ID[23.02-]"},
    {"container-type", Kind::text, "=[26.05-]", "=[26.05-]", "=[26.05-]", "SBATCH_CONTAINER_TYPE[26.05-]"},
    {"context", Kind::text, "=[21.08-]", "=[21.08-]", "=[21.08-]", ""},
    {"contiguous", Kind::text, ".", ".", ".", "", true},
    {"core-spec", Kind::count_or_zero, "S=", "S=", "S=", "SBATCH_CORE_SPEC", true},
    {"cores-per-socket", Kind::count, "=", "=", "=", "", true},
    {"cpu-bind", Kind::text, "", "=", "", ""},
    {"cpu-freq", Kind::cpu_freq, "=", "=", "=", "SBATCH_CPU_FREQ_REQ", true},
    {"cpus-per-gpu", Kind::count, "=", "=", "=", "SBATCH_CPUS_PER_GPU", true},
    {"cpus-per-task", Kind::count, "c=", "c=", "c=", "", true},
    {"deadline", Kind::moment, "=", "=", "=", ""},
    {"debugger-test", Kind::text, "", ".", "", ""},
    {"delay-boot", Kind::time, "=", "=", "=", "SBATCH_DELAY_BOOT"},
    {"dependency", Kind::dependency, "d=", "d=", "d=", ""},
    {"disable-status", Kind::text, "", "X.", "", ""},
    {"distribution", Kind::distribution, "m=", "m=", "m=", "SBATCH_DISTRIBUTION", true},
    {"epilog", Kind::text, "", "=", "", ""},
    {"error", Kind::text, "e=", "e=", "", "SBATCH_ERROR[22.05-]"},
    {"exact", Kind::text, "", ".", "", ""},
    {"exclude", Kind::text, "x=", "x=", "x=", ""},
    {"exclusive", Kind::exclusive, "?", "?", "?", "SBATCH_EXCLUSIVE", true},
    {"export", Kind::text, "=", "=", "", "SBATCH_EXPORT"},
    {"export-file", Kind::text, "=[-23.02,24.05-]", "", "", ""},
    {"external", Kind::text, ".[25.05-]", "", "", "", true},
    {"external-launcher", Kind::text, "", ".[23.11-23.11]?[24.05-]", "", ""},
    {"extra", Kind::text, "=[23.02-]", "=[23.02-]", "=[23.02-]", ""},
    {"extra-node-info", Kind::geometry, "B=", "B=", "B=", "", true},
    {"get-user-env", Kind::get_user_env, "?[-24.11].[25.05-]", "", "?[-24.05]", "SBATCH_GET_USER_ENV"},
    {"gid", Kind::user, "=", "=[-22.05]", "=[-22.05]", ""},
    {"gpu-bind", Kind::gpu_bind, "=", "=", "=", "SBATCH_GPU_BIND", true},
    {"gpu-freq", Kind::gpu_freq, "=", "=", "=", "SBATCH_GPU_FREQ", true},
    {"gpus", Kind::gpus, "G=", "G=", "G=", "SBATCH_GPUS", true},
    {"gpus-per-node", Kind::gpus, "=", "=", "=", "SBATCH_GPUS_PER_NODE", true},
    {"gpus-per-socket", Kind::gpus, "=", "=", "=", "SBATCH_GPUS_PER_SOCKET", true},
    {"gpus-per-task", Kind::gpus_per_task, "=", "=", "=", "SBATCH_GPUS_PER_TASK", true},
    {"gres", Kind::gres, "=", "=", "=", "SBATCH_GRES", true},
    {"gres-flags", Kind::gres_flags, "=", "=", "=", "SBATCH_GRES_FLAGS", true},
    {"help", Kind::text, "h.", "h.", "h.", ""},
    {"het-group", Kind::text, "", "=", "", ""},
    {"hint", Kind::hint, "=", "=", "=", "SBATCH_HINT"},
    {"hold", Kind::text, "H.", "H.", "H.", ""},
    {"ignore-pbs", Kind::text, ".", "", "", "SBATCH_IGNORE_PBS"},
    {"ignore-signals", Kind::text, "", "=[26.05-]", "", ""},
    {"immediate", Kind::text, "", "I?", "I?", ""},
    {"input", Kind::text, "i=", "i=", "", "SBATCH_INPUT[22.05-]"},
    {"interactive", Kind::text, "", ".", "", ""},
    {"job-name", Kind::text, "J=", "J=", "J=", "SBATCH_JOB_NAME"},
    {"jobid", Kind::text, "", "=", "", ""},
    {"kill-command", Kind::text, "", "", "K?", ""},
    {"kill-on-bad-exit", Kind::text, "", "K?", "", ""},
    {"kill-on-invalid-dep", Kind::yes_no, "=", "", "", ""},
    {"label", Kind::text, "", "l.", "", ""},
    {"licenses", Kind::text, "L=", "L=", "L=", "", true},
    {"mail-type", Kind::mail_type, "=", "=", "=", "", true},
    {"mail-user", Kind::text, "=", "=", "=", "", true},
    {"mcs-label", Kind::text, "=", "=", "=", ""},
    {"mem", Kind::memory, "=", "=", "=", "SBATCH_MEM_PER_NODE"},
    {"mem-bind", Kind::mem_bind, "=", "=", "=", "SBATCH_MEM_BIND", true},
    {"mem-per-cpu", Kind::memory, "=", "=", "=", "SBATCH_MEM_PER_CPU", true},
    {"mem-per-gpu", Kind::memory, "=", "=", "=", "SBATCH_MEM_PER_GPU", true},
    {"mem-update", Kind::mem_update, "=[26.05-]", "=[26.05-]", "=[26.05-]", ""},
    {"mincpus", Kind::count, "=", "=", "=", "", true},
    {"mpi", Kind::text, "", "=", "", ""},
    {"msg-timeout", Kind::text, "", "=", "", ""},
    {"multi-prog", Kind::text, "", ".", "", ""},
    {"network", Kind::text, "=", "=", "=", "SBATCH_NETWORK", true},
    {"nice", Kind::nice, "?", "?", "?", ""},
    {"no-allocate", Kind::text, "", "Z.", "", ""},
    {"no-bell", Kind::text, "", "", ".", ""},
    {"no-kill", Kind::no_kill, "k?", "k?", "k?", "SBATCH_NO_KILL"},
    {"no-requeue", Kind::text, ".", "", "", "SBATCH_NO_REQUEUE"},
    {"no-shell", Kind::text, "", "", ".", ""},
    {"nodefile", Kind::text, "F=", "F=", "F=", "", true},
    {"nodelist", Kind::text, "w=", "w=", "w=", "", true},
    {"nodes", Kind::node_count, "N=", "N=", "N=", "", true},
    {"ntasks", Kind::count, "n=", "n=", "n=", "", true},
    {"ntasks-per-core", Kind::count, "=", "=", "=", "", true},
    {"ntasks-per-gpu", Kind::count, "=", "=", "=", "", true},
    {"ntasks-per-node", Kind::count, "=", "=", "=", "", true},
    {"ntasks-per-socket", Kind::count, "=", "=", "=", "", true},
    {"ntasks-per-tres", Kind::count, "=", "=", "=", "", true},
    {"oom-kill-step", Kind::oom_kill_step, "?[24.11-]", "?[24.11-]", "?[24.11-]", ""},
    {"open-mode", Kind::open_mode, "=", "=", "", "SBATCH_OPEN_MODE"},
    {"output", Kind::text, "o=", "o=", "", "SBATCH_OUTPUT[22.05-]"},
    {"overcommit", Kind::text, "O.", "O.", "O.", "SBATCH_OVERCOMMIT", true},
    {"overlap", Kind::text, "", ".[-21.08]?[22.05-]", "", ""},
    {"oversubscribe", Kind::text, "s.", "s.", "s.", "", true},
    {"parsable", Kind::text, ".", ".[26.05-]", "", ""},
    {"partition", Kind::text, "p=", "p=", "p=", "SBATCH_PARTITION", true},
    {"power", Kind::text, "=[-23.11]", "=[-23.11]", "=[-23.11]", "SBATCH_POWER", true},
    {"prefer", Kind::features, "=[22.05-]", "=[22.05-]", "=[22.05-]", ""},
    {"preserve-env", Kind::text, "", "E.", "", ""},
    {"priority", Kind::priority, "=", "=", "=", ""},
    {"profile", Kind::profile, "=", "=", "=", "SBATCH_PROFILE"},
    {"prolog", Kind::text, "", "=", "", ""},
    {"propagate", Kind::propagate, "?", "?", "", ""},
    {"pty", Kind::text, "", ".[-22.05]?[23.02-]", "", ""},
    {"qos", Kind::text, "q=", "q=", "q=", "SBATCH_QOS"},
    {"quiet", Kind::text, "Q.", "Q.", "Q.", ""},
    {"quit-on-interrupt", Kind::text, "", ".", "", ""},
    {"reboot", Kind::text, ".", ".", ".", ""},
    {"relative", Kind::text, "", "r=", "", ""},
    {"requeue", Kind::requeue, ".[-25.05]?[25.11-]", "", "", "SBATCH_REQUEUE"},
    {"reservation", Kind::text, "=", "=", "=", "SBATCH_RESERVATION"},
    {"resources", Kind::text, "=[25.11-]", "=[25.11-]", "=[25.11-]", "", true},
    {"resv-ports", Kind::count_or_zero, "?[24.05-]", "?", "?[24.05-]", "", true},
    {"segment", Kind::small_count, "=[24.05-]", "=[24.05-]", "=[24.05-]",
     "SBATCH_SEGMENT_SIZE[25.05-]", true},
    {"send-libs", Kind::text, "", "?[21.08-]", "", ""},
    {"signal", Kind::signal, "=", "=", "=", "SBATCH_SIGNAL"},
    {"slurmd-debug", Kind::text, "", "=", "", ""},
    {"sockets-per-node", Kind::count, "=", "=", "=", "", true},
    {"spread-job", Kind::text, ".", ".", ".", "SBATCH_SPREAD_JOB", true},
    {"spread-segments", Kind::text, ".[25.11-]", ".[25.11-]", ".[25.11-]",
     "SBATCH_SPREAD_SEGMENTS[25.11-]", true},
    {"stepmgr", Kind::text, ".[24.05-]", ".[24.05-]", ".[24.05-]", ""},
    {"switches", Kind::switches, "=", "=", "=", "SBATCH_REQ_SWITCH", true},
    {"task-epilog", Kind::text, "", "=", "", ""},
    {"task-prolog", Kind::text, "", "=", "", ""},
    {"test-only", Kind::text, ".", ".", "", ""},
    {"thread-spec", Kind::count, "=", "=", "=", "SBATCH_THREAD_SPEC", true},
    {"threads", Kind::text, "", "T=", "", ""},
    {"threads-per-core", Kind::count, "=", "=", "=", "SBATCH_THREADS_PER_CORE[21.08-]", true},
    {"time", Kind::time, "t=", "t=", "t=", "SBATCH_TIMELIMIT"},
    {"time-min", Kind::time, "=", "=", "=", ""},
    {"tmp", Kind::memory, "=", "=", "=", "", true},
    {"treewidth", Kind::text, "", "=[23.11-]", "", ""},
    {"tres-bind", Kind::tres_bind, "=[23.11-]", "=[23.11-]", "=[23.11-]", "SBATCH_TRES_BIND[23.11-]", true},
    {"tres-per-task", Kind::tres_per_task, "=[23.02-]", "=[23.02-]", "=[23.02-]",
     "SBATCH_TRES_PER_TASK[23.02-]", true},
    {"uid", Kind::user, "=", "=[-22.05]", "=[-22.05]", ""},
    {"unbuffered", Kind::text, "", "u.", "", ""},
    {"usage", Kind::text, ".", ".", ".", ""},
    {"use-min-nodes", Kind::text, ".", ".", ".", "SBATCH_USE_MIN_NODES", true},
    {"verbose", Kind::text, "v.", "v.", "v.", "SBATCH_DEBUG"},
    {"version", Kind::text, "V.", "V.", "V.", ""},
    {"wait", Kind::text, "W.", "W=", "", "SBATCH_WAIT"},
    {"wait-all-nodes", Kind::zero_or_one, "=", "", "=", "SBATCH_WAIT_ALL_NODES"},
    {"wait-for-children", Kind::text, "", ".[25.05-]", "", ""},
    {"wckey", Kind::wckey, "=", "=", "=", "SBATCH_WCKEY"},
    {"whole", Kind::text, "", ".", "", ""},
    {"wrap", Kind::text, "=", "", "", ""},
    {"x11", Kind::text, "", "?", "?", ""},
    // clang-format on
};

constexpr bool is_mark(char c) { return c == '=' || c == '?' || c == '.'; }

constexpr ProgramOption read_use(std::string_view text) {
  ProgramOption use;
  if (!text.empty() && !is_mark(text.front())) {
    use.letter = text.front();
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    const char mark = text.front();
    text.remove_prefix(1);
    std::string_view range;
    if (!text.empty() && text.front() == '[') {
      range = text.substr(1, text.find(']') - 1);
      text.remove_prefix(range.size() + 2);
    }
    for (std::size_t i = 0; i < use.arguments.size(); ++i)
      if (is_in_range(range, static_cast<Version>(i)))
        use.arguments[i] = mark == '='   ? TakesValue::required
                           : mark == '?' ? TakesValue::optional
                                         : TakesValue::none;
  }
  return use;
}

constexpr std::size_t k_count = std::size(k_rows);
/// By the numbers of Program.
using Uses = std::array<ProgramOption, 3>;
static_assert(static_cast<int>(Program::sbatch) == 0 && static_cast<int>(Program::srun) == 1 &&
              static_cast<int>(Program::salloc) == 2);

constexpr std::array<Uses, k_count> read_uses() {
  std::array<Uses, k_count> all;
  for (std::size_t i = 0; i < k_count; ++i)
    all[i] = {read_use(k_rows[i].sbatch), read_use(k_rows[i].srun), read_use(k_rows[i].salloc)};
  return all;
}
constexpr auto k_uses = read_uses();
static_assert(std::is_sorted(std::begin(k_rows), std::end(k_rows),
                             [](const OptionRow& a, const OptionRow& b) { return a.name < b.name; }),
              "names are searched by halves");

} // namespace

std::span<const OptionRow> option_rows() { return k_rows; }

const ProgramOption& use_of(const OptionRow& row, Program program) {
  return k_uses[static_cast<std::size_t>(&row - k_rows)][static_cast<std::size_t>(program)];
}

} // namespace hpcml::slurm
