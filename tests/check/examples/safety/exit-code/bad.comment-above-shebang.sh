# Trains on two nodes.
#!/bin/bash
#SBATCH --nodes=2
srun --kill-on-bad-exit=1 python train.py
echo "======"
echo "exit code: $?"
