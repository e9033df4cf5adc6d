#!/bin/bash
# nvidia-smi and rocm-smi: list the GPUs that this job holds on this node.
here=${BASH_SOURCE[0]%/*}
# shellcheck source=/dev/null
. "$here/../lib/common.sh"
# The GPUs that this process may open: no driver is behind them, which is another answer than that it may not.
may_open() {
  local device
  for device in "$here"/../dev/gpu*; do
    [[ $(LC_ALL=C && exec 2>&1 3< "$device") == *"not permitted"* ]] || echo "${device##*gpu}"
  done | sort -n
}
# shellcheck disable=SC2154 # the hpcml_gpu_ variables are from site.sh
main() {
  local tool=${0##*/} ids id gpu part shown count=0
  local -A vendor=([nvidia-smi]=nvidia [rocm-smi]=amd)
  if [[ -n ${SLURM_JOB_ID-} && $hpcml_gpu_vendor != "${vendor[$tool]}" ]]; then
    hpcml_fail "$tool" 127 "command not found (the node ${SLURMD_NODENAME-} does not have it)" "$@"
  fi
  if [[ -z ${SLURM_JOB_ID-} ]]; then
    hpcml_fail "$tool" 9 "no GPU here: the login node has none, run it in a job" "$@"
  fi
  if ((hpcml_gpu_in_slurm)); then
    ids=${SLURM_STEP_GPUS-${SLURM_JOB_GPUS-}}
    [[ -z $ids ]] && ids=${ROCR_VISIBLE_DEVICES-${CUDA_VISIBLE_DEVICES-}}
    [[ $ids == *MIG-* ]] && ids='' # not the devices' numbers
    ids=${ids//,/ }
  else
    ids=$(seq 0 $((hpcml_gpu_count - 1)))
  fi
  if ((hpcml_limits_devices)); then ids=$(may_open); fi
  [[ -z $ids ]] && hpcml_fail "$tool" 9 "no devices were found: the job has no GPUs on this node" "$@"
  hpcml_record "$tool" true "$@"
  if [[ " $* " == *" --query-gpu="* && $* != *noheader* ]]; then echo "index, name, memory.total [MiB]"; fi
  for id in $ids; do
    # Where nobody may open the others, those that are left are counted from 0.
    shown=$id
    ((hpcml_limits_devices)) && shown=$((count++))
    if ((${#hpcml_gpu_parts[@]})); then
      read -r gpu part id <<< "${hpcml_gpu_parts[id]}"
      printf 'GPU %s: %s (emulated)\n  MIG %-12s Device %3s: (UUID: %s)\n' "$gpu" "$hpcml_gpu_model" "$part" "${id% *}" "${id#* }"
      continue
    fi
    case " $* " in
      *" --query-gpu="*) echo "$shown, $hpcml_gpu_model, $((hpcml_gpu_gib * 1024)) MiB" ;;
      *) echo "GPU $shown: $hpcml_gpu_model (emulated)" ;;
    esac
  done
}
main "$@"
