#!/bin/bash
module lo cuda
module av
module sw gcc intel
conda env list
