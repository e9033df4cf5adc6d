#!/bin/bash
#SBATCH --comment=don't
