#!/bin/bash
#SBATCH --open-mode=truncate --requeue
