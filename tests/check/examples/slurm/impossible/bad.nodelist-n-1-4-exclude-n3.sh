#!/bin/bash
#SBATCH --nodelist=n[1-4] --exclude=n3
