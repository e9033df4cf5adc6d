#!/bin/bash
singularity exec --bind=/a,/b:/b:rw x.sif python t.py
