#!/bin/bash
# run conda init once on the login node
conda info
