#!/bin/bash
module load anaconda
source activate /scratch/env
