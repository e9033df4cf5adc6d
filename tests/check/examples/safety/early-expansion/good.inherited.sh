#!/bin/bash
sbatch <<EOF
#!/bin/bash
#SBATCH --time=10
export PATH=/opt/bin:$PATH
export WANDB_API_KEY="$WANDB_API_KEY"
python train.py
EOF
