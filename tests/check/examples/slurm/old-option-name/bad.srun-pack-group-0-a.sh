#!/bin/bash
srun --pack-group=0 a
