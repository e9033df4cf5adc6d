#!/bin/bash
#SBATCH --extra=2:4
