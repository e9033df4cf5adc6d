#!/bin/bash
#SBATCH --parsable
