#!/bin/bash
. activate x
