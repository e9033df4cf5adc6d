#!/bin/bash
singularity exec -B $P:/work x.sif python t.py
