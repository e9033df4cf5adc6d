#!/bin/bash
<<<<<<< HEAD
#SBATCH --nodes=1
=======
#SBATCH --nodes=2
>>>>>>> main
srun true
