#!/bin/bash
apptainer exec --nv x.sif bash -c "ml cuda && torchrun --standalone t.py"
