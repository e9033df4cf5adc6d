#!/bin/bash
srun --array=0-3 ./a
