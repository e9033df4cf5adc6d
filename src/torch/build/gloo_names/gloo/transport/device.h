// SPDX-License-Identifier: MIT
// See gloo/names.h.
#pragma once
#include "gloo/names.h"
