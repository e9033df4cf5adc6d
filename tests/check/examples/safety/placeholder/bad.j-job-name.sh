#!/bin/bash
#SBATCH -J JOB_NAME
