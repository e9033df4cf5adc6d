#!/bin/bash
singularity exec -B img.sqsh:/data:image-src=/ x.sif python t.py
