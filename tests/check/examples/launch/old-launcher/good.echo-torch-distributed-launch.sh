#!/bin/bash
echo torch.distributed.launch
