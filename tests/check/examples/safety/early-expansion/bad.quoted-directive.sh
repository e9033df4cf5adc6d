#!/bin/bash
NAME=run1
sbatch <<'EOF'
#!/bin/bash
#SBATCH --job-name=$NAME
python train.py
EOF
