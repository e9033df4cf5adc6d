#!/bin/bash
srun ./a
