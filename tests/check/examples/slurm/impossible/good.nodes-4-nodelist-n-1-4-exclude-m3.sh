#!/bin/bash
#SBATCH --nodes=4 --nodelist=n[1-4] --exclude=m3
