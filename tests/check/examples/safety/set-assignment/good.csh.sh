#!/bin/csh
set name=value
