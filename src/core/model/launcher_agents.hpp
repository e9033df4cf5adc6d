// SPDX-License-Identifier: MIT
// The rows of launchers that have many options.
#pragma once

#include <array>

#include "core/model/launcher_row.hpp"

namespace hpcml::model {

namespace rows {

inline constexpr std::string_view k_torchrun_values =
    " --nnodes --nproc-per-node --nproc_per_node --rdzv-backend --rdzv_backend --rdzv-endpoint "
    "--rdzv_endpoint --rdzv-id --rdzv_id --rdzv-conf --rdzv_conf "
    "--max-restarts --max_restarts --monitor-interval --monitor_interval --start-method --start_method "
    "--role --log-dir --log_dir -r --redirects -t --tee "
    "--local-ranks-filter --local_ranks_filter --node-rank --node_rank --master-addr --master_addr "
    "--master-port --master_port --local-addr --local_addr "
    "--logs-specs --logs_specs --numa-binding --numa_binding --signals-to-handle --signals_to_handle "
    "--event-log-handler --event_log_handler ";
inline constexpr auto k_torchrun_options = std::to_array<LauncherOptionRow>({
    {"nnodes", OptionMeaning::nodes},           {"nproc_per_node", OptionMeaning::ranks_per_node},
    {"rdzv_id", OptionMeaning::rendezvous},     {"rdzv_backend", OptionMeaning::backend},
    {"rdzv_endpoint", OptionMeaning::endpoint}, {"rdzv_conf", OptionMeaning::settings},
    {"node_rank", OptionMeaning::node_rank},    {"master_addr", OptionMeaning::address},
    {"master_port", OptionMeaning::port},       {"local_addr", OptionMeaning::rendezvous},
    {"standalone", OptionMeaning::alone},       {"m", OptionMeaning::module},
    {"module", OptionMeaning::module},          {"no_python", OptionMeaning::plain},
    {"use_env", OptionMeaning::local_rank},     {"monitor_interval", OptionMeaning::watching},
    {"start_method", OptionMeaning::watching},  {"role", OptionMeaning::watching},
    {"numa_binding", OptionMeaning::manner},
});
inline constexpr LauncherRow k_torchrun = {
    .words =
        {.name = "torchrun",
         .values = k_torchrun_values,
         .flags =
             " --standalone -m --module --no-python --no_python --run-path --run_path --use-env --use_env "
             "-h --help --virtual-local-rank --virtual_local_rank --duplicate-stdout-filters "
             "--duplicate-stderr-filters ",
         .variables = "PET_",
         .abbreviates = true},
    .ranks = RankStartMethod::agent,
    .modules =
        " torch.distributed.run torch.distributed.launch torch.distributed.elastic.launch torchrun_jsc ",
    .options = k_torchrun_options,
    .of_python = true,
    .alone_without_nodes = true,
    .counts_nodes = true,
    .one_thread = true,
    .local_rank_module = "torch.distributed.launch",
    .number_option = "--node_rank",
    .address_option = "--rdzv_backend=c10d --rdzv_id=$SLURM_JOB_ID --rdzv_endpoint=$MASTER_ADDR:PORT",
    .without_address = "each node looks for the first rank at itself, whatever MASTER_ADDR is",
    // Underscores: torch 1.x knows no other form of these options.
    .script = {.words = {"torchrun", "--nnodes={least_nodes}", "--nproc_per_node={ranks_per_node}",
                         "--rdzv_id=\"$SLURM_JOB_ID\"", "--rdzv_backend=c10d",
                         "--rdzv_endpoint=\"$MASTER_ADDR:$MASTER_PORT\""},
               .plain = "--no_python",
               .module = "-m",
               // It cannot find out itself which node has the store.
               .of_node = "PET_RDZV_CONF=is_host=$([[ {node} == 0 ]] && echo true || echo false)",
               .of_odd_rendezvous = true}};

inline constexpr std::string_view k_accelerate_values =
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
inline constexpr auto k_accelerate_options = std::to_array<LauncherOptionRow>({
    {"num_machines", OptionMeaning::nodes},
    {"num_processes", OptionMeaning::ranks},
    {"machine_rank", OptionMeaning::node_rank},
    {"main_process_ip", OptionMeaning::address},
    {"main_process_port", OptionMeaning::port},
    {"rdzv_backend", OptionMeaning::backend},
    {"rdzv_conf", OptionMeaning::settings},
    {"rdzv_id", OptionMeaning::rendezvous},
    {"config_file", OptionMeaning::config},
    {"deepspeed_hostfile", OptionMeaning::hosts},
    {"mpirun_hostfile", OptionMeaning::hosts},
    {"m", OptionMeaning::module},
    {"module", OptionMeaning::module},
    {"no_python", OptionMeaning::plain},
    {"cpu", OptionMeaning::no_gpus},
    {"same_network", OptionMeaning::usual},
    {"multi_gpu", OptionMeaning::usual},
    {"num_cpu_threads_per_process", OptionMeaning::manner},
    {"monitor_interval", OptionMeaning::watching},
    {"role", OptionMeaning::watching},
});
inline constexpr LauncherRow k_accelerate = {
    .words = {.name = "accelerate",
              .values = k_accelerate_values,
              .subcommands = " launch ",
              .flags =
                  " -h --help -q --quiet --cpu --multi_gpu --multi-gpu --tpu --ipex --enable_cpu_affinity "
                  "--dynamo_use_fullgraph --dynamo_use_dynamic --dynamo_use_regional_compilation "
                  "--use_deepspeed --use_fsdp --use_megatron_lm --use_xpu --same_network --same-network -m "
                  "--module --no_python --no-python --tpu_cluster --no_tpu_cluster --tpu_use_sudo "
                  "--downcast_bf16 --fp8_use_autocast_during_eval --debug "},
    .ranks = RankStartMethod::agent,
    .modules = " accelerate.commands.launch accelerate.launch ",
    .options = k_accelerate_options,
    .of_python = true,
    .alone_without_nodes = true,
    .one_without_ranks = false,
    .reads_config = true,
    .alone_without_gpus = true,
    .config_variable = "ACCELERATE_CONFIG_FILE",
    .has_library = true,
    .number_option = "--machine_rank",
    .address_option = "--main_process_ip $MASTER_ADDR --main_process_port PORT",
    .without_address = "it looks for the first rank at a host called None",
    .script = {.words = {"accelerate", "launch", "--num_machines={nodes}", "--num_processes={ranks}",
                         "--main_process_ip=\"$MASTER_ADDR\"", "--main_process_port=\"$MASTER_PORT\""},
               .plain = "--no_python",
               .module = "--module",
               .several = "--multi_gpu",
               .no_gpus = "--cpu",
               .usual = {"--mixed_precision=no", "--dynamo_backend=no"},
               .configures = {"--config_file", "--config-file", "--use_", "--multi", "--cpu", "--tpu"},
               .of_node = "--machine_rank=\"{node}\"",
               .of_node_at = 2}};

inline constexpr auto k_deepspeed_options = std::to_array<LauncherOptionRow>({
    {"num_nodes", OptionMeaning::nodes},
    {"num_gpus", OptionMeaning::ranks_per_node},
    {"node_rank", OptionMeaning::node_rank},
    {"master_addr", OptionMeaning::address},
    {"master_port", OptionMeaning::port},
    {"hostfile", OptionMeaning::hosts},
    {"H", OptionMeaning::hosts},
    {"no_ssh", OptionMeaning::no_ssh},
    {"launcher", OptionMeaning::no_ssh},
    {"module", OptionMeaning::module},
    {"no_python", OptionMeaning::plain},
    {"no_local_rank", OptionMeaning::local_rank},
    {"no_ssh_check", OptionMeaning::manner},
});
// It reads ranks from the environment, and its own launcher would want ssh: gen starts tasks.
inline constexpr LauncherRow k_deepspeed = {
    .words = {.name = "deepspeed",
              .values = " -H --hostfile -i --include -e --exclude --num_nodes --num_gpus --master_addr "
                        "--master_port --node_rank --launcher --launcher_args --ssh_port --bind_core_list "
                        "--min_elastic_nodes --max_elastic_nodes --module_name --autotuning --venv_script "
                        "--num_accelerators --enable_each_rank_log --comment --account ",
              .flags =
                  " -h --help --module --no_python --no_local_rank --no_ssh --no_ssh_check --force_multi "
                  "--save_pid --elastic_training --bind_cores_to_rank ",
              .abbreviates = true},
    .ranks = RankStartMethod::tasks,
    .modules = " deepspeed.launcher.runner deepspeed ",
    .options = k_deepspeed_options,
    .of_python = true,
    .alone_without_nodes = true,
    .one_without_ranks = false,
    .hosts_file = "/job/hostfile",
    .uses_ssh = true,
    .passes_local_rank = true};

} // namespace rows

} // namespace hpcml::model
