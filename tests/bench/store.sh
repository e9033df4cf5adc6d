#!/usr/bin/env bash
# The store beside torch's own server: bash tests/bench/store.sh [path of hpcml] [python with torch 2.1 or later]
# Rates are compared in one run, in turns; exit code 1 where ours is the slower one. Needs root.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
hpcml=$(realpath -e -- "${1:-$repo/build/release/bin/hpcml}")
python=${2:-$repo/build/venv-torch/bin/python}
work=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || true; rm -rf "$work"' EXIT
"${CXX:-c++}" -std=c++20 -O2 "$repo/tests/bench/store_load.cpp" -o "$work/store_load"
cat > "$work/torch_server.py" <<'PYTHON'
import sys, torch.distributed as dist
store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
print(store.port, flush=True)
sys.stdin.read()
PYTHON

# start NAME: its port in $work/NAME.port
start() {
  mkfifo "$work/$1.stop" "$work/$1.port"
  if [ "$1" = ours ]; then "$hpcml" internal store-serve --listen 127.0.0.1 > "$work/$1.port" & else
    # It asks for the name of every client, one after the other: without name servers it does not wait for the answers.
    unshare -m sh -c 'mount --bind /dev/null /etc/resolv.conf; exec "$@"' - "$python" "$work/torch_server.py" \
      < "$work/$1.stop" > "$work/$1.port" 2>/dev/null &
    exec 9> "$work/$1.stop"
  fi
  server="$server $!"
  read -r port < "$work/$1.port"
}
start ours; ours=$port ours_pid=$!
start torch; torch=$port torch_pid=$!

# Processor time of a server so far, in ticks of 10 ms: its rate alone would measure how busy the machine is, too.
ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }

# load NAME PORT PID CLIENTS
load() {
  local before kind rate
  before=$(ticks "$3")
  "$work/store_load" "$2" "$4" 1 > "$work/rates"
  while read -r kind rate; do echo "$1 $4 $kind $rate"; done < "$work/rates"
  echo "$1 $4 cost $(awk -v ticks=$(($(ticks "$3") - before)) '{ sum += $2 } END { printf "%.2f", ticks * 10000 / sum }' "$work/rates")"
}

for clients in 64 1000; do
  for _ in 1 2 3; do
    load torch "$torch" "$torch_pid" "$clients"
    load ours "$ours" "$ours_pid" "$clients"
  done
done | awk '
  { key = $2 " " $3; name = $1 " " key
    if (!(name in best) || ($3 == "cost" ? $4 < best[name] : $4 > best[name])) best[name] = $4
    if (!(key in seen)) { seen[key]; order[++n] = key } }
  END {
    for (i = 1; i <= n; ++i) {
      split(order[i], part, " "); t = best["torch " order[i]]; o = best["ours " order[i]]
      if (part[2] == "cost") { printf "%5d clients: %.2f us of processor an operation, torch %.2f: %.2f times\n", part[1], o, t, t / o; continue }
      slow = slow || o < t
      printf "%5d clients, %-4s  ours %8d a second, torch %8d: %.2f times\n", part[1], part[2], o, t, o / t
    }
    exit slow
  }'
