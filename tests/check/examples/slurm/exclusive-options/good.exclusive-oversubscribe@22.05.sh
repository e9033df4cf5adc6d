#!/bin/bash
#SBATCH --exclusive --oversubscribe
