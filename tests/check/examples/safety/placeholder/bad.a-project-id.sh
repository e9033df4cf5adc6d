#!/bin/bash
#SBATCH -A PROJECT_ID
