// SPDX-License-Identifier: MIT
#include "chain/programs.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "model/launcher.hpp"
#include "util/text.hpp"

namespace hpcml::chain {
namespace {

constexpr std::string_view k_container_values =
    " -B --bind -W --workdir -H --home --env --env-file --pwd --overlay -o --network --security --scratch -S "
    "--fakeroot-uid --app --dns --hostname --mount --cwd "
    "--contain-uid --fusemount --apply-cgroups --add-caps --drop-caps ";
constexpr std::string_view k_torchrun_values =
    " --nnodes --nproc-per-node --nproc_per_node --rdzv-backend --rdzv_backend --rdzv-endpoint "
    "--rdzv_endpoint --rdzv-id --rdzv_id --rdzv-conf --rdzv_conf "
    "--max-restarts --max_restarts --monitor-interval --monitor_interval --start-method --start_method "
    "--role --log-dir --log_dir -r --redirects -t --tee "
    "--local-ranks-filter --local_ranks_filter --node-rank --node_rank --master-addr --master_addr "
    "--master-port --master_port --local-addr --local_addr "
    "--logs-specs --logs_specs --numa-binding --numa_binding --signals-to-handle --signals_to_handle "
    "--event-log-handler --event_log_handler ";
constexpr std::string_view k_torchrun_flags =
    " --standalone -m --module --no-python --no_python --run-path --run_path --use-env --use_env -h --help "
    "--virtual-local-rank --virtual_local_rank --duplicate-stdout-filters --duplicate-stderr-filters ";
constexpr std::string_view k_accelerate_values =
    " --config_file --config-file --num_processes --num-processes --num_machines --num-machines "
    "--machine_rank --machine-rank --main_process_ip --main-process-ip "
    "--main_process_port --main-process-port --mixed_precision --mixed-precision "
    "--num_cpu_threads_per_process --num-cpu-threads-per-process --rdzv_backend "
    "--rdzv-backend --rdzv_conf --rdzv-conf --gpu_ids --gpu-ids --dynamo_backend --dynamo_mode "
    "--max_restarts --monitor_interval --role -t --tee -r --same_network_conf "
    "--main_training_function --vm --env "
    "--deepspeed_config_file --zero_stage --zero3_init_flag --zero3_save_16bit_model "
    "--offload_optimizer_device --offload_param_device --offload_optimizer_nvme_path "
    "--offload_param_nvme_path --gradient_accumulation_steps --gradient_clipping "
    "--deepspeed_hostfile --deepspeed_multinode_launcher --deepspeed_exclusion_filter "
    "--deepspeed_inclusion_filter --deepspeed_moe_layer_cls_names "
    "--fsdp_version --fsdp_offload_params --fsdp_min_num_params --fsdp_sharding_strategy "
    "--fsdp_reshard_after_forward --fsdp_auto_wrap_policy --fsdp_transformer_layer_cls_to_wrap "
    "--fsdp_backward_prefetch_policy --fsdp_backward_prefetch --fsdp_state_dict_type "
    "--fsdp_forward_prefetch --fsdp_use_orig_params --fsdp_cpu_ram_efficient_loading "
    "--fsdp_sync_module_states --fsdp_activation_checkpointing "
    "--megatron_lm_tp_degree --megatron_lm_pp_degree --megatron_lm_num_micro_batches "
    "--megatron_lm_sequence_parallelism --megatron_lm_recompute_activations "
    "--megatron_lm_use_distributed_optimizer --megatron_lm_gradient_clipping "
    "--fp8_backend --fp8_margin --fp8_interval --fp8_format --fp8_amax_history_len "
    "--fp8_amax_compute_algo --fp8_override_linear_precision --fp8_opt_level "
    "--aws_access_key_id --aws_secret_access_key --mpirun_hostfile --mpirun_ccl --log_dir --rdzv_id ";
constexpr std::string_view k_accelerate_flags =
    " -h --help -q --quiet --cpu --multi_gpu --multi-gpu --tpu --ipex --enable_cpu_affinity "
    "--dynamo_use_fullgraph --dynamo_use_dynamic --dynamo_use_regional_compilation --use_deepspeed "
    "--use_fsdp --use_megatron_lm --use_xpu --same_network --same-network -m --module --no_python "
    "--no-python --tpu_cluster --no_tpu_cluster --tpu_use_sudo --downcast_bf16 "
    "--fp8_use_autocast_during_eval --debug ";
constexpr std::string_view k_deepspeed_values =
    " -H --hostfile -i --include -e --exclude --num_nodes --num_gpus --master_addr --master_port --node_rank "
    "--launcher --launcher_args --ssh_port --bind_core_list "
    "--min_elastic_nodes --max_elastic_nodes --module_name --autotuning --venv_script "
    "--num_accelerators --enable_each_rank_log --comment --account ";
constexpr std::string_view k_deepspeed_flags =
    " -h --help --module --no_python --no_local_rank --no_ssh --no_ssh_check --force_multi --save_pid "
    "--elastic_training --bind_cores_to_rank ";
constexpr std::string_view k_hpcml_values =
    " --sites-dir --site --profile-hash --partition --node-type --qos --gpu-type --gpus-per-node --bind "
    "--bind-check --cpus-per-task --threads-per-core --spill "
    "--rank-order --gpus-per-task --gpu-visibility --backend --nproc-per-node --nproc_per_node --master-port "
    "--master_port --grace --address-of ";
constexpr std::string_view k_mpi_values =
    " -n -np --np -N -c -ppn --ppn -host --host -H -hostfile --hostfile -machinefile --machinefile -f "
    "-map-by --map-by -bind-to --bind-to -rank-by --rank-by -x -npernode "
    "--npernode -npersocket --npersocket -wdir --wdir -mca --mca -env -genv -o -d --depth --cpu-bind "
    "--mem-bind ";

constexpr std::string_view k_oci_values =
    " -v --volume -e --env --env-file -w --workdir --name --net --network --gpus --device --mount --shm-size "
    "--ipc -u --user --entrypoint --ulimit ";
constexpr std::array<Wrapper, 32> k_wrappers = {{
    {"singularity", k_container_values, "", 1, " exec run shell "},
    {"apptainer", k_container_values, "", 1, " exec run shell "},
    {"singularity_wrapper", k_container_values, "", 0, " exec run "},
    {"shifter", " --image -V --volume --module --env --env-file --entrypoint --workdir -w ", "", 0},
    {"docker", k_oci_values, "", 1, " run exec "},
    {"podman", k_oci_values, "", 1, " run exec "},
    {"sarus", " --mount --device --workdir -w --entrypoint --env -e ", "", 1, " run "},
    {"ch-run", " -b --bind -c --cd -g --gid -m --mount -u --uid -s --storage ", "", 1},
    {"podman-hpc", " -v --volume -e --env -w --workdir --name --net --network ", "", 1, " run exec "},
    {"torchrun", k_torchrun_values, "", 0, "", "", k_torchrun_flags, "PET_", true},
    {"accelerate", k_accelerate_values, "", 0, " launch ", "", k_accelerate_flags},
    {"deepspeed", k_deepspeed_values, "", 0, "", "", k_deepspeed_flags, "", true},
    {"composer",
     " -n --nproc --stdout --stderr --world_size --base_rank --node_rank --master_addr --master_port ", "",
     0},
    {"colossalai",
     " -H --host --hostfile --include --exclude --num_nodes --nproc_per_node --master_addr --master_port "
     "--extra_launch_args --ssh-port ",
     "", 0, " run "},
    {"tune", k_torchrun_values, "", 0, " run ", "", "", "PET_", true},
    {"fabric",
     " --accelerator --strategy --devices --num-nodes --node-rank --main-address --main-port --precision ",
     "", 0, " run "},
    {"mpirun", k_mpi_values, "", 0},
    {"mpiexec", k_mpi_values, "", 0},
    {"ibrun", " -n -o ", "", 0},
    {"jsrun", " -n --nrs -a --tasks_per_rs -c --cpu_per_rs -g --gpu_per_rs -r --rs_per_host -d -b --bind -l ",
     "", 0},
    {"aprun", " -n -N -d -S -cc -m -B -j -L ", "", 0},
    {"horovodrun",
     " -np --num-proc -p --ssh-port -i --ssh-identity-file --network-interface --network-interfaces "
     "--start-timeout -H --hosts -hostfile --hostfile --min-np --max-np --log-level --mpi-args "
     "--config-file ",
     "", 0},
    {"python", " -W -X -Q ", "", 0},
    {"hpcml", k_hpcml_values, "", 0, " launch "},
    {"nsys",
     " -o --output -t --trace -s --sample -c --capture-range --stats -f --force-overwrite -w --show-output ",
     "", 0, " profile launch "},
    {"ncu", " -o --export -k --kernel-name --set --section --target-processes ", "", 0},
    {"uv", " --with --with-requirements --python -p --project --directory --extra --group --env-file ", "", 0,
     " run "},
    {"poetry", " -C --directory -P --project ", "", 0, " run "},
    {"pixi", " -e --environment --manifest-path ", "", 0, " run "},
    {"conda", " -n --name -p --prefix --cwd ", "", 0, " run "},
    {"micromamba", " -n --name -p --prefix --cwd ", "", 0, " run "},
}};

} // namespace

const Wrapper* find_wrapper(std::string_view program) {
  const auto find = [](std::string_view name) -> const Wrapper* {
    const auto* found =
        std::find_if(k_wrappers.begin(), k_wrappers.end(), [&](const Wrapper& w) { return w.name == name; });
    return found == k_wrappers.end() ? nullptr : found;
  };
  if (const auto* known = find(program)) return known;
  // A site's own: "bede-mpirun" has mpirun's options.
  return model::starts_tasks(program) ? find(program.substr(program.find('-') + 1)) : nullptr;
}

bool has_subcommand_in_name(const Wrapper& wrapper, std::string_view program) {
  const auto& name = wrapper.name;
  return program.size() > name.size() && util::starts_with(program, name) && program[name.size()] == '-' &&
         wrapper.subcommands.find(" " + std::string(program.substr(name.size() + 1)) + " ") !=
             std::string_view::npos;
}

std::string_view usual_name(std::string_view program) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> c_names = {
      {{"orterun", "mpirun"}, {"prterun", "mpirun"}, {"prun", "mpirun"}}};
  const auto* found =
      std::find_if(c_names.begin(), c_names.end(), [&](const auto& row) { return row.first == program; });
  if (found != c_names.end()) return found->second;
  // Debian and MPICH put the implementation behind a dot.
  const auto dot = program.find('.');
  if (const auto base = program.substr(0, dot);
      dot != std::string_view::npos && (base == "mpirun" || base == "mpiexec"))
    return base == "mpirun" ? "mpirun" : "mpiexec";
  const auto* wrapper = std::find_if(k_wrappers.begin(), k_wrappers.end(), [&](const Wrapper& one) {
    return !one.subcommands.empty() && has_subcommand_in_name(one, program);
  });
  return wrapper == k_wrappers.end() ? std::string_view() : wrapper->name;
}

std::string full_option(const Wrapper& wrapper, std::string_view written) {
  std::string full(written);
  if (!wrapper.abbreviates || written.substr(0, 2) != "--" || written.size() < 3) return full;
  const auto plain = [](std::string name) {
    std::replace(name.begin(), name.end(), '_', '-');
    return name;
  };
  std::string found;
  for (const auto list : {wrapper.values, wrapper.flags})
    for (const auto& name : util::split(std::string(list), ' ')) {
      if (name == written) return full;
      if (!util::starts_with(name, full)) continue;
      if (!found.empty() && plain(found) != plain(name)) return full; // of several: the program refuses it
      found = name;
    }
  return found.empty() ? full : found;
}

Role role_of(std::string_view program) {
  static constexpr std::pair<std::string_view, Role> c_roles[] = {
      {"torchrun", Role::agent},      {"accelerate", Role::agent},  {"deepspeed", Role::agent},
      {"composer", Role::agent},      {"colossalai", Role::agent},  {"tune", Role::agent},
      {"fabric", Role::agent},        {"horovodrun", Role::step},   {"singularity", Role::container},
      {"apptainer", Role::container}, {"shifter", Role::container}, {"podman-hpc", Role::container}};
  const auto* found = std::find_if(std::begin(c_roles), std::end(c_roles),
                                   [&](const auto& row) { return row.first == program; });
  if (found != std::end(c_roles)) return found->second;
  return model::starts_tasks(program) ? Role::step : Role::other;
}

std::string_view launcher_of_module(std::string_view module) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> c_modules = {
      {{"torch.distributed.run", "torchrun"},
       {"torch.distributed.launch", "torchrun"},
       {"torch.distributed.elastic.launch", "torchrun"},
       {"accelerate.commands.launch", "accelerate"},
       {"accelerate.launch", "accelerate"},
       {"deepspeed.launcher.runner", "deepspeed"},
       {"deepspeed", "deepspeed"},
       {"composer", "composer"},
       {"composer.cli.launcher", "composer"},
       {"horovod.runner", "horovodrun"}}};
  const auto* found =
      std::find_if(c_modules.begin(), c_modules.end(), [&](const auto& row) { return row.first == module; });
  return found == c_modules.end() ? std::string_view() : found->second;
}

} // namespace hpcml::chain
