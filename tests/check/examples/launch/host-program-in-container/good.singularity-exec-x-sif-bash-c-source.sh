#!/bin/bash
singularity exec x.sif bash -c 'source ~/.bashrc; module load samtools; samtools x'
