#!/bin/bash
##SBATCH --test-only
