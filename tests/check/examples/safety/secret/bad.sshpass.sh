#!/bin/bash
sshpass -p hunter2xyz scp out.tar node:
