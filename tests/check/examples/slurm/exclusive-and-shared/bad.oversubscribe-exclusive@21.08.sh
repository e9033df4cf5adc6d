#!/bin/bash
#SBATCH --oversubscribe --exclusive
