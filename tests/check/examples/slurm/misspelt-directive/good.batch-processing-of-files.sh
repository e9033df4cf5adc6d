#!/bin/bash
#BATCH processing - of files
srun true
