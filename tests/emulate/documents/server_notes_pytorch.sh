# shellcheck shell=bash disable=all
# Typed on the login node: server_notes_pytorch.md
submit pytorch-multi-cpu.sh; cat cpu-1.out
options="--time=5 --mem=1G --ntasks=2"
FIRST=127.0.0.1 srun $options --nodes=1 python3 checkpoint.py > one
srun $options --nodes=2 --ntasks-per-node=1 bash -c 'FIRST=$(scontrol show hostnames | head -1) python3 checkpoint.py' > two
sort one | sed 's/^/one node: /'; sort two | sed 's/^/two nodes: /'
