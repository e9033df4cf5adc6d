#!/bin/bash
srun --container-image=x.sqsh ./a
