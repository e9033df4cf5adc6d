#!/bin/bash
wget --header="PRIVATE-TOKEN: aB3dE5fG7hI9jK1lM3nO" https://gitlab.x.org/f
