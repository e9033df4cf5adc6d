#!/usr/bin/env bash
# Whether two builds of the program say the same, byte for byte: gen, gen --explain, check --site and affinity over all sites.
#   bash tests/compare_binaries.sh OLD NEW [SCRIPTS_FOLDER] [ANSWERS_FOLDER]
# SCRIPTS_FOLDER: batch scripts to check for each site (default: the examples of the rules). ANSWERS_FOLDER: where both answers stay.
#   HPCML_COMPARE_MAP=FILE  a sed script (-E) for the answers of both, for example of names that changed
# Exit code 0 where they are the same; else 1, after a list of what differs.
set -euo pipefail
old=$(realpath "$1") new=$(realpath "$2") scripts=${3:+$(realpath "$3")} keep=${4:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config LC_ALL=C
mkdir -p "$work/home" "$work/old" "$work/new" "$work/scripts"
hpcml=$work/bin/hpcml # both at one path: scripts name the program that wrote them
mkdir -p "$work/bin"

# Requests that touch what sites have rules for; each with the usual account and time, and without.
requests=(
  "" "--gpus-per-node 1" "--gpus-per-node 0" "--gpus-per-node 3" "--gpus-per-node 64" "--nodes 2" "--nodes 3 --gpus-per-node 1"
  "--nodes 100000" "--time 30d" "--time 1m" "--time 2h --nodes 16" "--mem 100G --gpus-per-node 1" "--mem 1000000G" "--mem 4"
  "--cpus-per-task 2" "--cpus-per-task 512" "--tasks-per-node 2 --gpus-per-node 2" "--tasks-per-node 3 --gpus-per-task 2"
  "--gpu-type a100" "--gpu-type h100 --gpus-per-node 2" "--gpu-type nonsense" "--qos nonsense" "--partition nonsense"
  "--array 1-50000" "--sbatch=--constraint=gpu" "--sbatch=--exclusive" "--launcher torchrun --nodes 2"
  "--container image.sif" "--cpus-per-task 4 --mem 16G --tasks-per-node 1" "--signal USR1@60 --requeue"
)

names() { # the partitions or QoS of a profile: names SITE partitions|qos
  "$hpcml" sites show "$1" --format json 2>/dev/null |
    python3 -c 'import json,sys; print(*[e["name"] for e in json.load(sys.stdin).get(sys.argv[1], []) if "name" in e])' "$2" 2>/dev/null || true
}

ask() { # one call: ask FILE ARGUMENTS...
  local file=$1 code=0
  shift
  { printf '$ hpcml %s\n' "$*"; "$hpcml" "$@" </dev/null 2>&1 || code=$?; printf '[%d]\n' "$code"; } >>"$file"
}

answer() { # all answers of one build: answer PROGRAM FOLDER
  cp "$1" "$hpcml"
  local site request partition qos
  for site in $sites; do
    local all=("${requests[@]}")
    for partition in $(names "$site" partitions); do
      all+=("--partition $partition" "--partition $partition --gpus-per-node 0" "--partition $partition --nodes 4 --time 3d"
        "--partition $partition --gpus-per-node 2 --cpus-per-task 40 --mem 200G")
    done
    for qos in $(names "$site" qos); do all+=("--qos $qos" "--qos $qos --nodes 8 --time 2d"); done
    for request in "${all[@]}"; do
      # shellcheck disable=SC2086
      ask "$2/gen.$site" gen --site "$site" --account project_465000001 --time 1h $request -- python train.py
    done
    for request in "${requests[@]}"; do
      # shellcheck disable=SC2086
      ask "$2/bare.$site" gen --site "$site" $request -- python train.py
      # shellcheck disable=SC2086
      ask "$2/explain.$site" gen --explain --site "$site" --account project_465000001 --time 1h $request -- python train.py
    done
    ask "$2/affinity.$site" affinity --site "$site"
    ask "$2/check.$site" check --site "$site" "${files[@]}"
  done
}

cp "$new" "$hpcml"
sites=$("$hpcml" sites list | awk 'NR > 1 {print $1}')
if [ -n "$scripts" ]; then
  mapfile -t files < <(find "$scripts" -type f | sort)
else
  "$hpcml" rules --format json | python3 -c '
import json, pathlib, sys
for rule in json.load(sys.stdin):
    for kind in ("bad", "good"):
        for example in rule[kind]:
            pathlib.Path(sys.argv[1], rule["id"].replace("/", "_") + "." + kind + ".sh").write_text(example["script"])' "$work/scripts"
  mapfile -t files < <(find "$work/scripts" "$(dirname "$0")/check/examples" -type f | sort)
fi
answer "$old" "$work/old"
answer "$new" "$work/new"
if [ -n "${HPCML_COMPARE_MAP:-}" ]; then find "$work/old" "$work/new" -type f -exec sed -E -i -f "$HPCML_COMPARE_MAP" {} +; fi
if [ -n "$keep" ]; then mkdir -p "$keep" && cp -r "$work/old" "$work/new" "$keep"; fi
calls=$(cat "$work"/new/* | grep -c '^\$ hpcml' || true)
if diff -ru "$work/old" "$work/new"; then
  echo "the same: $calls calls at $(wc -w <<<"$sites") sites, ${#files[@]} scripts each"
else
  echo "different: see above; $calls calls at $(wc -w <<<"$sites") sites, ${#files[@]} scripts each" >&2
  exit 1
fi
