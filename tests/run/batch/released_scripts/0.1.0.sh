#!/bin/bash
#SBATCH --job-name=train
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
#SBATCH --time=12:00:00
#SBATCH --output=%x-%j.out
#SBATCH --signal=B:USR1@600
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --no-kill
# Written by hpcml 0.1.0 for site generic (profile 3fb4d77c08f81857):
#   hpcml gen --site generic --nodes 2 --spare-nodes 1 --gpus-per-node 0 --time 12:00:00 --save-before 10m
#       --requeue --requeue-on node,preempted --checkpoint-dir checkpoints --log-dir logs
#       --hpcml-path /opt/hpcml/bin/hpcml -- python train.py
set -euo pipefail
HPCML=/opt/hpcml/bin/hpcml
if [[ -x $HPCML-$(uname -m) ]]; then HPCML+=-$(uname -m); fi
"$HPCML" --version > /dev/null || echo "hpcml: $HOSTNAME ($(uname -m)) needs another build: --hpcml-path" >&2
# hpcml checks the job's nodes, and runs the rest of this script: 2 of 3 nodes run the program.
# It asks the ranks to save (SIGUSR1) 00:10:00 before the time limit, and requeues the job at most 3 times.
# It also requeues the job if the run ends by: node, preempted.
[[ ${HPCML_BATCH-} == "${SLURM_JOB_ID:?}" ]] || exec "$HPCML" internal batch --secret --save-before 00:10:00 \
  --save-signal USR1 --max-requeues 3 --requeue-on node,preempted --checkpoint-dir checkpoints \
  --log-dir logs --program-nodes 2 -- bash "$0" "$@"

srun --nodes=2 --nodelist="$HPCML_RUN_NODES" --ntasks=2 --ntasks-per-node=1 --cpu-bind=none \
  --kill-on-bad-exit=1 \
  "$HPCML" launch --site generic --profile-hash 3fb4d77c08f81857 --gpus-per-node 0 --nproc-per-node 1 \
  --bind apply --gpus-per-task 0 --backend gloo --log-dir logs -- \
  python train.py
