#!/usr/bin/env bash
# Ten thousand ranks meet at the store: bash tests/bench/store_crowd.sh [path of hpcml] [ranks] [namespaces]
# Each rank is a process in one of several network namespaces, with an address of its own. Prints how long the meeting took
# and the memory of the server; exit code 1 where a rank did not meet, or it took longer than 10 s. Needs root.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
hpcml=$(realpath -e -- "${1:-$repo/build/release/bin/hpcml}")
ranks=${2:-10000}
nodes=${3:-4}
if [ -z "${STORE_CROWD_INSIDE:-}" ]; then
  # A network of its own: nothing of it is seen outside or stays.
  STORE_CROWD_INSIDE=1 exec unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" "$hpcml" "$ranks" "$nodes"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CXX:-c++}" -std=c++20 -O2 "$repo/tests/bench/store_crowd.cpp" -o "$work/store_crowd"
mount -t tmpfs none /run
ip link set lo up
ip link add bridge type bridge
ip addr add 10.77.0.1/16 dev bridge
ip link set bridge up
for ((node = 0; node < nodes; ++node)); do
  ip netns add "node$node"
  ip link add "veth$node" type veth peer name eth0 netns "node$node"
  ip link set "veth$node" master bridge up
  ip -n "node$node" addr add "10.77.1.$((node + 1))/16" dev eth0
  ip -n "node$node" link set eth0 up
done
# Neighbours are many fewer than ranks: the tables of the kernel are left as they are.
mkfifo "$work/port"
"$hpcml" internal store-serve --listen 10.77.0.1 --warn-after 600 > "$work/port" 2> "$work/said" &
server=$!
read -r port < "$work/port"
grep -E 'open files' "/proc/$server/limits"
started=$(date +%s.%N)
pids=()
for ((node = 0; node < nodes; ++node)); do
  first=$((ranks * node / nodes)) next=$((ranks * (node + 1) / nodes))
  ip netns exec "node$node" "$work/store_crowd" 10.77.0.1 "$port" "$first" "$((next - first))" "$ranks" &
  pids+=($!)
done
failed=0
for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
took=$(awk -v a="$started" -v b="$(date +%s.%N)" 'BEGIN { printf "%.2f", b - a }')
grep -E 'VmHWM' "/proc/$server/status"
awk '{ printf "server: %.2f s of processor time\n", ($14 + $15) / 100 }' "/proc/$server/stat"
awk '/^TcpExt/ { if (n++) for (i = 2; i <= NF; ++i) { if (name[i] == "ListenOverflows" || name[i] == "ListenDrops") printf "%s %s\n", name[i], $i } else split($0, name) }' /proc/net/netstat
cat "$work/said"
kill "$server"
echo "$ranks ranks in $nodes namespaces met in $took s"
awk -v t="$took" -v f="$failed" 'BEGIN { exit f || t > 10 }'
