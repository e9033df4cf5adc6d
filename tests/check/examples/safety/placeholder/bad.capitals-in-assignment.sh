#!/bin/bash
#SBATCH --nodes=1
IMAGE=TODO_YOUR_IMAGE_DIR/torch.sif
srun apptainer exec --nv "$IMAGE" python train.py
