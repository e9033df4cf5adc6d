#!/bin/bash
srun ./a |& tee log
