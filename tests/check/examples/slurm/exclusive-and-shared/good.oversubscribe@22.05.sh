#!/bin/bash
#SBATCH --oversubscribe
