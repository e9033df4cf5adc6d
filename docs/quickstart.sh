#!/usr/bin/env bash
# The main job from end to end on a bare Debian 12 machine (root or sudo): bash docs/quickstart.sh
# Builds hpcml, prints the script for two LUMI nodes, rehearses it on a real Slurm shaped like LUMI on this machine,
# and trains with `hpcml launch` without Slurm.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$repo"
# shellcheck source=docs/setup.sh
. docs/setup.sh
started=$SECONDS
say "this takes about 5 minutes on 2 cores the first time, 1 minute when hpcml is built already"

install_packages "${core_packages[@]}" "${slurm_packages[@]}" "${torch_packages[@]}" "${data_packages[@]}"
torch_folder=$(active_torch)
say "building (LibTorch: ${torch_folder:-Debian\'s libtorch-dev})"
configure_and_build release hpcml hpcml-torch train_ddp
export PATH=$repo/build/release/bin:$PATH

work=$(mktemp -d "${TMPDIR:-/tmp}/hpcml-quickstart.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

say "1. the script for two LUMI nodes: hpcml gen --site lumi --nodes 2 --gpus-per-node 8 --account project_1 --time 10 -- train_ddp"
hpcml gen --site lumi --nodes 2 --gpus-per-node 8 --account project_1 --time 10 \
  -o job.sh -- "$repo/build/release/bin/train_ddp" || die "hpcml gen failed; the message above says why"
cat job.sh

say "2. the rehearsal: hpcml emulate job.sh"
hpcml emulate job.sh || die "the rehearsal failed; the job's output is above"

say "3. the same program without Slurm: hpcml launch --nproc-per-node 2 -- train_ddp"
hpcml launch --nproc-per-node 2 -- "$repo/build/release/bin/train_ddp" || die "the training failed; the message above says which rank and why"

say "done in $(((SECONDS - started) / 60)) min $(((SECONDS - started) % 60)) s. On LUMI: copy build/release/bin/hpcml there and submit the script that it prints."
