#!/bin/bash
export MYSQL_PASSWORD=$(cat ~/.mysql_password)
