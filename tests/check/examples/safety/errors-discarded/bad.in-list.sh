#!/bin/bash
srun singularity exec image.sif ./run.sh 2>/dev/null && tee my.log
