#!/bin/bash
#SBATCH --nodes=1 --nodelist=n[1-4]
