#!/bin/bash
tr '\0' '\n' < list
