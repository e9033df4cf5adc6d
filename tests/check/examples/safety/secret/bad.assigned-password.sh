#!/bin/bash
export MYSQL_PASSWORD=hunter2xyz
