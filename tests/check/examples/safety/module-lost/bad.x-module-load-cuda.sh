#!/bin/bash
X=$(module load cuda)
srun ./a
