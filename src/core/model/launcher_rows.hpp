// SPDX-License-Identifier: MIT
// The launchers, a row each.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "core/model/enum_names.hpp"
#include "core/model/launcher_agents.hpp"
#include "core/model/launcher_row.hpp"
#include "core/model/rank_settings.hpp"

namespace hpcml::model {

namespace rows {

inline constexpr auto k_composer_options = std::to_array<LauncherOptionRow>({
    {"n", OptionMeaning::ranks_per_node},
    {"nproc", OptionMeaning::ranks_per_node},
    {"world_size", OptionMeaning::world},
    {"node_rank", OptionMeaning::node_rank},
    {"master_addr", OptionMeaning::address},
    {"master_port", OptionMeaning::port},
});
inline constexpr auto k_colossalai_options = std::to_array<LauncherOptionRow>({
    {"num_nodes", OptionMeaning::nodes},
    {"nproc_per_node", OptionMeaning::ranks_per_node},
    {"master_addr", OptionMeaning::address},
    {"master_port", OptionMeaning::port},
    {"hostfile", OptionMeaning::hosts},
    {"H", OptionMeaning::hosts},
});
inline constexpr auto k_fabric_options = std::to_array<LauncherOptionRow>({
    {"num_nodes", OptionMeaning::nodes},
    {"devices", OptionMeaning::ranks_per_node},
    {"node_rank", OptionMeaning::node_rank},
    {"main_address", OptionMeaning::address},
    {"main_port", OptionMeaning::port},
});

inline constexpr auto k_srun_options = std::to_array<LauncherOptionRow>({
    {"nodes", OptionMeaning::nodes},
    {"ntasks", OptionMeaning::ranks},
    {"ntasks_per_node", OptionMeaning::ranks_per_node},
});
/// Those of Open MPI, of MPICH with its relatives (Intel MPI, MVAPICH) and of Cray's PALS together.
inline constexpr std::string_view k_mpi_values =
    " -n -np --np --n -N -c -ppn --ppn -perhost --perhost -host --host --hosts -hosts -H -hostfile "
    "--hostfile "
    "-machinefile --machinefile -f -map-by --map-by -bind-to --bind-to -rank-by --rank-by -x -npernode "
    "--npernode -npersocket --npersocket -wdir --wdir -wd --wd -envlist --envlist -genvlist -o -d --depth "
    "--cpu-bind --gpu-bind --mem-bind --prefix --tune --am -am --output-filename -output-filename --output "
    "--stdin -stdin --timeout -timeout --path -path -cpus-per-proc --cpus-per-proc -cpus-per-rank "
    "--cpus-per-rank --cpu-set --cpu-list --slot-list --rankfile -rf --personality --pernode-max --env "
    "-launcher -launcher-exec -bootstrap -bootstrap-exec -rmk -iface -configfile -s -outfile-pattern "
    "-errfile-pattern -prepend-pattern -rr-by --rlimits --topology ";
inline constexpr std::string_view k_mpi_pairs =
    " -mca --mca -gmca --gmca -omca --omca --pmixmca --prtemca -env -genv ";
inline constexpr auto k_mpi_options = std::to_array<LauncherOptionRow>({
    {"n", OptionMeaning::ranks},
    {"np", OptionMeaning::ranks},
    {"N", OptionMeaning::ranks_per_node}, // Open MPI's
    {"npernode", OptionMeaning::ranks_per_node},
    {"ppn", OptionMeaning::ranks_per_node},
    {"perhost", OptionMeaning::ranks_per_node},
});
inline constexpr auto k_aprun_options = std::to_array<LauncherOptionRow>({
    {"n", OptionMeaning::ranks},
    {"N", OptionMeaning::ranks_per_node},
});
inline constexpr auto k_ibrun_options = std::to_array<LauncherOptionRow>({
    {"n", OptionMeaning::ranks},
    {"np", OptionMeaning::ranks},
});
inline constexpr auto k_jsrun_options = std::to_array<LauncherOptionRow>({{"n", OptionMeaning::ranks}});
inline constexpr auto k_flux_options = std::to_array<LauncherOptionRow>({
    {"n", OptionMeaning::ranks},
    {"ntasks", OptionMeaning::ranks},
    {"N", OptionMeaning::nodes},
    {"nodes", OptionMeaning::nodes},
});
inline constexpr auto k_horovodrun_options = std::to_array<LauncherOptionRow>({
    {"np", OptionMeaning::ranks},
    {"num_proc", OptionMeaning::ranks},
});

/// The words of `hpcml launch` itself: those that reach the ranks as they were asked for, and the rest.
inline constexpr auto k_requested_values = [] {
  constexpr auto c_size = [] {
    std::size_t size = 0;
    for (const auto& flag : k_rank_flags) size += flag.is_switch() ? 0 : flag.name.size() + 3;
    return size;
  }();
  std::array<char, c_size> text = {};
  auto at = text.begin();
  for (const auto& flag : k_rank_flags) {
    if (flag.is_switch()) continue;
    constexpr std::string_view c_before = " --";
    at = std::copy(c_before.begin(), c_before.end(), at);
    at = std::copy(flag.name.begin(), flag.name.end(), at);
  }
  return text;
}();
inline constexpr std::string_view k_requested_text{k_requested_values.data(), k_requested_values.size()};
inline constexpr std::string_view k_other_values =
    " --sites-dir --site --profile-hash --partition --node-type --qos --gpu-type --gpus-per-node --bind "
    "--cpus-per-task --threads-per-core --idle-cores "
    "--rank-order --gpus-per-task --gpu-visibility --backend --nproc-per-node --nproc_per_node --master-port "
    "--master_port --grace --address-of ";

} // namespace rows

/// The launchers; the first is hpcml's own, which is what a job gets that names none.
inline constexpr auto k_launchers = std::to_array<LauncherRow>({
    {.words = {.name = "hpcml",
               .values = ConcatenatedText<rows::k_requested_text, rows::k_other_values>::text,
               .subcommands = " launch "},
     .ranks = RankStartMethod::launch},
    rows::k_torchrun,
    rows::k_accelerate,
    rows::k_deepspeed,
    {.words = {.name = "srun"}, // its options are Slurm's: src/core/slurm has them
     .starts_tasks = true,
     .ranks = RankStartMethod::tasks,
     .options = rows::k_srun_options},
    {.words = {.name = "ibrun", .values = " -n -np --np -o "},
     .starts_tasks = true,
     .ranks = RankStartMethod::tasks,
     .options = rows::k_ibrun_options,
     .of_some_sites = true},
    {.words = {.name = "mpirun", .values = rows::k_mpi_values, .pairs = rows::k_mpi_pairs},
     .starts_tasks = true,
     .ranks = RankStartMethod::tasks,
     .options = rows::k_mpi_options},
    {.words = {.name = "mpiexec", .values = rows::k_mpi_values, .pairs = rows::k_mpi_pairs},
     .starts_tasks = true,
     .ranks = RankStartMethod::tasks,
     .options = rows::k_mpi_options},
    {.words =
         {.name = "jsrun",
          .values =
              " -n --nrs -a --tasks_per_rs -c --cpu_per_rs -g --gpu_per_rs -r --rs_per_host -d -b --bind "
              "-l "},
     .starts_tasks = true,
     .ranks = RankStartMethod::tasks,
     .options = rows::k_jsrun_options,
     .of_some_sites = true},
    {.words = {.name = "aprun", .values = " -n -N -d -S -cc -m -B -j -L "},
     .starts_tasks = true,
     .ranks = RankStartMethod::tasks,
     .options = rows::k_aprun_options,
     .of_some_sites = true},
    {.words = {.name = "composer",
               .values = " -n --nproc --stdout --stderr --world_size --base_rank --node_rank --master_addr "
                         "--master_port "},
     .modules = " composer composer.cli.launcher ",
     .options = rows::k_composer_options},
    {.words = {.name = "colossalai",
               .values =
                   " -H --host --hostfile --include --exclude --num_nodes --nproc_per_node --master_addr "
                   "--master_port --extra_launch_args --ssh-port ",
               .subcommands = " run "},
     .options = rows::k_colossalai_options},
    {.words = {.name = "tune",
               .values = rows::k_torchrun_values,
               .subcommands = " run ",
               .variables = "PET_",
               .abbreviates = true},
     .options = rows::k_torchrun_options},
    {.words = {.name = "fabric",
               .values =
                   " --accelerator --strategy --devices --num-nodes --node-rank --main-address --main-port "
                   "--precision ",
               .subcommands = " run "},
     .options = rows::k_fabric_options},
    {.words =
         {.name = "flux",
          .values =
              " -n --ntasks -N --nodes -c --cores-per-task -g --gpus-per-task -t --time-limit -q --queue "
              "-B --bank -o --setopt -S --setattr --env --output --error --input --job-name ",
          .subcommands = " run submit "},
     .starts_tasks = true,
     .options = rows::k_flux_options,
     .of_some_sites = true},
    {.words = {.name = "horovodrun",
               .values =
                   " -np --num-proc -p --ssh-port -i --ssh-identity-file --network-interface "
                   "--network-interfaces --start-timeout -H --hosts -hostfile --hostfile --min-np --max-np "
                   "--log-level --mpi-args --config-file "},
     .starts_tasks = true,
     .modules = " horovod.runner ",
     .options = rows::k_horovodrun_options},
});

/// Other names of launchers: what is known of the second holds for the first. One that ends in a dot is a
/// beginning: Debian and MPICH put the implementation after it.
inline constexpr auto k_launcher_aliases = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"orterun", "mpirun"},
    {"prterun", "mpirun"},
    {"prun", "mpirun"},
    {"mpirun.", "mpirun"},
    {"mpiexec.", "mpiexec"},
    {"torchrun_jsc", "torchrun"},
});

/// Those that --launcher takes.
inline constexpr auto k_launcher_names = [] {
  constexpr auto c_count = std::count_if(k_launchers.begin(), k_launchers.end(), [](const LauncherRow& row) {
    return row.ranks != RankStartMethod::nobody;
  });
  std::array<std::string_view, c_count> names = {};
  std::size_t at = 0;
  for (const auto& row : k_launchers)
    if (row.ranks != RankStartMethod::nobody) names[at++] = row.words.name;
  return names;
}();

} // namespace hpcml::model
