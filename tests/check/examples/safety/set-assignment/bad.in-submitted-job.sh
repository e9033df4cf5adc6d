#!/bin/bash
sbatch <<EOT
#!/bin/sh
set OMP_NUM_THREADS=2
python train.py
EOT
